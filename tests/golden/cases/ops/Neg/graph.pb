
>
case0/PlaceholderPlaceholder*
dtype0*
shape:
U

case0/nodeNegcase0/Placeholder*
T0*&
 _has_manual_control_dependencies(
K
case1/PlaceholderPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
U

case1/nodeNegcase1/Placeholder*
T0*&
 _has_manual_control_dependencies(
<
case2/PlaceholderPlaceholder*
dtype0*
shape:
U

case2/nodeNegcase2/Placeholder*
T0*&
 _has_manual_control_dependencies(
>
case3/PlaceholderPlaceholder*
dtype0*
shape:
U

case3/nodeNegcase3/Placeholder*
T0*&
 _has_manual_control_dependencies(
G
case4/PlaceholderPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
U

case4/nodeNegcase4/Placeholder*
T0*&
 _has_manual_control_dependencies(
<
case5/PlaceholderPlaceholder*
dtype0	*
shape:
U

case5/nodeNegcase5/Placeholder*
T0	*&
 _has_manual_control_dependencies("ª