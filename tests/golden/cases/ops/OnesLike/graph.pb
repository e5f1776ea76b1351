
>
case0/PlaceholderPlaceholder*
dtype0*
shape:
Z

case0/nodeOnesLikecase0/Placeholder*
T0*&
 _has_manual_control_dependencies(
G
case1/PlaceholderPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
Z

case1/nodeOnesLikecase1/Placeholder*
T0*&
 _has_manual_control_dependencies(
<
case2/PlaceholderPlaceholder*
dtype0*
shape:
Z

case2/nodeOnesLikecase2/Placeholder*
T0*&
 _has_manual_control_dependencies(
>
case3/PlaceholderPlaceholder*
dtype0*
shape:
Z

case3/nodeOnesLikecase3/Placeholder*
T0*&
 _has_manual_control_dependencies(
G
case4/PlaceholderPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
Z

case4/nodeOnesLikecase4/Placeholder*
T0*&
 _has_manual_control_dependencies(
<
case5/PlaceholderPlaceholder*
dtype0	*
shape:
Z

case5/nodeOnesLikecase5/Placeholder*
T0	*&
 _has_manual_control_dependencies("ª