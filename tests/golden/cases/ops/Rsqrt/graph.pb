
>
case0/PlaceholderPlaceholder*
dtype0*
shape:
W

case0/nodeRsqrtcase0/Placeholder*
T0*&
 _has_manual_control_dependencies(
K
case1/PlaceholderPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
W

case1/nodeRsqrtcase1/Placeholder*
T0*&
 _has_manual_control_dependencies(
<
case2/PlaceholderPlaceholder*
dtype0*
shape:
W

case2/nodeRsqrtcase2/Placeholder*
T0*&
 _has_manual_control_dependencies(
>
case3/PlaceholderPlaceholder*
dtype0*
shape:
W

case3/nodeRsqrtcase3/Placeholder*
T0*&
 _has_manual_control_dependencies(
G
case4/PlaceholderPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
W

case4/nodeRsqrtcase4/Placeholder*
T0*&
 _has_manual_control_dependencies(
<
case5/PlaceholderPlaceholder*
dtype0*
shape:
W

case5/nodeRsqrtcase5/Placeholder*
T0*&
 _has_manual_control_dependencies("ª