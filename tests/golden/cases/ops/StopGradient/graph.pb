
F
case0/PlaceholderPlaceholder*
dtype0*
shape:
^

case0/nodeStopGradientcase0/Placeholder*
T0*&
 _has_manual_control_dependencies(
O
case1/PlaceholderPlaceholder*
dtype0* 
shape:ÿÿÿÿÿÿÿÿÿ
^

case1/nodeStopGradientcase1/Placeholder*
T0*&
 _has_manual_control_dependencies(
<
case2/PlaceholderPlaceholder*
dtype0*
shape:
^

case2/nodeStopGradientcase2/Placeholder*
T0*&
 _has_manual_control_dependencies(
F
case3/PlaceholderPlaceholder*
dtype0*
shape:
^

case3/nodeStopGradientcase3/Placeholder*
T0*&
 _has_manual_control_dependencies(
O
case4/PlaceholderPlaceholder*
dtype0* 
shape:ÿÿÿÿÿÿÿÿÿ
^

case4/nodeStopGradientcase4/Placeholder*
T0*&
 _has_manual_control_dependencies(
<
case5/PlaceholderPlaceholder*
dtype0	*
shape:
^

case5/nodeStopGradientcase5/Placeholder*
T0	*&
 _has_manual_control_dependencies("ª