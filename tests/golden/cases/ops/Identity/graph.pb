
F
case0/PlaceholderPlaceholder*
dtype0*
shape:
Z

case0/nodeIdentitycase0/Placeholder*
T0*&
 _has_manual_control_dependencies(
O
case1/PlaceholderPlaceholder*
dtype0* 
shape:ÿÿÿÿÿÿÿÿÿ
Z

case1/nodeIdentitycase1/Placeholder*
T0*&
 _has_manual_control_dependencies(
<
case2/PlaceholderPlaceholder*
dtype0*
shape:
Z

case2/nodeIdentitycase2/Placeholder*
T0*&
 _has_manual_control_dependencies(
F
case3/PlaceholderPlaceholder*
dtype0*
shape:
Z

case3/nodeIdentitycase3/Placeholder*
T0*&
 _has_manual_control_dependencies(
O
case4/PlaceholderPlaceholder*
dtype0* 
shape:ÿÿÿÿÿÿÿÿÿ
Z

case4/nodeIdentitycase4/Placeholder*
T0*&
 _has_manual_control_dependencies(
<
case5/PlaceholderPlaceholder*
dtype0	*
shape:
Z

case5/nodeIdentitycase5/Placeholder*
T0	*&
 _has_manual_control_dependencies("ª