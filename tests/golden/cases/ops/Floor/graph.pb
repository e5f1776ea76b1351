
>
case0/PlaceholderPlaceholder*
dtype0*
shape:
W

case0/nodeFloorcase0/Placeholder*
T0*&
 _has_manual_control_dependencies(
K
case1/PlaceholderPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
W

case1/nodeFloorcase1/Placeholder*
T0*&
 _has_manual_control_dependencies(
<
case2/PlaceholderPlaceholder*
dtype0*
shape:
W

case2/nodeFloorcase2/Placeholder*
T0*&
 _has_manual_control_dependencies(
>
case3/PlaceholderPlaceholder*
dtype0*
shape:
W

case3/nodeFloorcase3/Placeholder*
T0*&
 _has_manual_control_dependencies("ª