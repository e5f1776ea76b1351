
>
case0/PlaceholderPlaceholder*
dtype0*
shape:
W

case0/nodeRelu6case0/Placeholder*
T0*&
 _has_manual_control_dependencies(
K
case1/PlaceholderPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
W

case1/nodeRelu6case1/Placeholder*
T0*&
 _has_manual_control_dependencies(
<
case2/PlaceholderPlaceholder*
dtype0*
shape:
W

case2/nodeRelu6case2/Placeholder*
T0*&
 _has_manual_control_dependencies(
>
case3/PlaceholderPlaceholder*
dtype0*
shape:
W

case3/nodeRelu6case3/Placeholder*
T0*&
 _has_manual_control_dependencies(
G
case4/PlaceholderPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
W

case4/nodeRelu6case4/Placeholder*
T0*&
 _has_manual_control_dependencies(
<
case5/PlaceholderPlaceholder*
dtype0	*
shape:
W

case5/nodeRelu6case5/Placeholder*
T0	*&
 _has_manual_control_dependencies("ª