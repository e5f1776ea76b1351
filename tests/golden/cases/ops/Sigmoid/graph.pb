
>
case0/PlaceholderPlaceholder*
dtype0*
shape:
Y

case0/nodeSigmoidcase0/Placeholder*
T0*&
 _has_manual_control_dependencies(
K
case1/PlaceholderPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
Y

case1/nodeSigmoidcase1/Placeholder*
T0*&
 _has_manual_control_dependencies(
<
case2/PlaceholderPlaceholder*
dtype0*
shape:
Y

case2/nodeSigmoidcase2/Placeholder*
T0*&
 _has_manual_control_dependencies(
>
case3/PlaceholderPlaceholder*
dtype0*
shape:
Y

case3/nodeSigmoidcase3/Placeholder*
T0*&
 _has_manual_control_dependencies(
G
case4/PlaceholderPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
Y

case4/nodeSigmoidcase4/Placeholder*
T0*&
 _has_manual_control_dependencies(
<
case5/PlaceholderPlaceholder*
dtype0*
shape:
Y

case5/nodeSigmoidcase5/Placeholder*
T0*&
 _has_manual_control_dependencies("ª