
>
case0/PlaceholderPlaceholder*
dtype0*
shape:
[

case0/node	ZerosLikecase0/Placeholder*
T0*&
 _has_manual_control_dependencies(
G
case1/PlaceholderPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
[

case1/node	ZerosLikecase1/Placeholder*
T0*&
 _has_manual_control_dependencies(
<
case2/PlaceholderPlaceholder*
dtype0*
shape:
[

case2/node	ZerosLikecase2/Placeholder*
T0*&
 _has_manual_control_dependencies(
>
case3/PlaceholderPlaceholder*
dtype0*
shape:
[

case3/node	ZerosLikecase3/Placeholder*
T0*&
 _has_manual_control_dependencies(
G
case4/PlaceholderPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
[

case4/node	ZerosLikecase4/Placeholder*
T0*&
 _has_manual_control_dependencies(
<
case5/PlaceholderPlaceholder*
dtype0	*
shape:
[

case5/node	ZerosLikecase5/Placeholder*
T0	*&
 _has_manual_control_dependencies("ª