
>
case0/PlaceholderPlaceholder*
dtype0*
shape:
W

case0/nodeIsNancase0/Placeholder*
T0*&
 _has_manual_control_dependencies(
G
case1/PlaceholderPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
W

case1/nodeIsNancase1/Placeholder*
T0*&
 _has_manual_control_dependencies(
<
case2/PlaceholderPlaceholder*
dtype0*
shape:
W

case2/nodeIsNancase2/Placeholder*
T0*&
 _has_manual_control_dependencies(
>
case3/PlaceholderPlaceholder*
dtype0*
shape:
W

case3/nodeIsNancase3/Placeholder*
T0*&
 _has_manual_control_dependencies("ª