
F
case0/PlaceholderPlaceholder*
dtype0*
shape:
V

case0/nodeRankcase0/Placeholder*
T0*&
 _has_manual_control_dependencies(
O
case1/PlaceholderPlaceholder*
dtype0* 
shape:ÿÿÿÿÿÿÿÿÿ
V

case1/nodeRankcase1/Placeholder*
T0*&
 _has_manual_control_dependencies(
<
case2/PlaceholderPlaceholder*
dtype0*
shape:
V

case2/nodeRankcase2/Placeholder*
T0*&
 _has_manual_control_dependencies(
F
case3/PlaceholderPlaceholder*
dtype0*
shape:
V

case3/nodeRankcase3/Placeholder*
T0*&
 _has_manual_control_dependencies(
O
case4/PlaceholderPlaceholder*
dtype0* 
shape:ÿÿÿÿÿÿÿÿÿ
V

case4/nodeRankcase4/Placeholder*
T0*&
 _has_manual_control_dependencies(
<
case5/PlaceholderPlaceholder*
dtype0*
shape:
V

case5/nodeRankcase5/Placeholder*
T0*&
 _has_manual_control_dependencies("ª