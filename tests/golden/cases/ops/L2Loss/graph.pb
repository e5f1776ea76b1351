
B
case0/PlaceholderPlaceholder*
dtype0*
shape
:
X

case0/nodeL2Losscase0/Placeholder*
T0*&
 _has_manual_control_dependencies(
G
case1/PlaceholderPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
X

case1/nodeL2Losscase1/Placeholder*
T0*&
 _has_manual_control_dependencies(
<
case2/PlaceholderPlaceholder*
dtype0*
shape:
X

case2/nodeL2Losscase2/Placeholder*
T0*&
 _has_manual_control_dependencies(
B
case3/PlaceholderPlaceholder*
dtype0*
shape
:
X

case3/nodeL2Losscase3/Placeholder*
T0*&
 _has_manual_control_dependencies("ª