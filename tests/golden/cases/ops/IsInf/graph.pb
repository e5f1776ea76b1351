
>
case0/PlaceholderPlaceholder*
dtype0*
shape:
W

case0/nodeIsInfcase0/Placeholder*
T0*&
 _has_manual_control_dependencies(
G
case1/PlaceholderPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
W

case1/nodeIsInfcase1/Placeholder*
T0*&
 _has_manual_control_dependencies(
<
case2/PlaceholderPlaceholder*
dtype0*
shape:
W

case2/nodeIsInfcase2/Placeholder*
T0*&
 _has_manual_control_dependencies(
>
case3/PlaceholderPlaceholder*
dtype0*
shape:
W

case3/nodeIsInfcase3/Placeholder*
T0*&
 _has_manual_control_dependencies("ª