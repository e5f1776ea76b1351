
B
case0/PlaceholderPlaceholder*
dtype0*
shape
:
D
case0/Placeholder_1Placeholder*
dtype0*
shape
:
„

case0/nodeSoftmaxCrossEntropyWithLogitscase0/Placeholdercase0/Placeholder_1*
T0*&
 _has_manual_control_dependencies(
K
case1/PlaceholderPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
M
case1/Placeholder_1Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
„

case1/nodeSoftmaxCrossEntropyWithLogitscase1/Placeholdercase1/Placeholder_1*
T0*&
 _has_manual_control_dependencies(
<
case2/PlaceholderPlaceholder*
dtype0*
shape:
>
case2/Placeholder_1Placeholder*
dtype0*
shape:
„

case2/nodeSoftmaxCrossEntropyWithLogitscase2/Placeholdercase2/Placeholder_1*
T0*&
 _has_manual_control_dependencies(
B
case3/PlaceholderPlaceholder*
dtype0*
shape
:
D
case3/Placeholder_1Placeholder*
dtype0*
shape
:
„

case3/nodeSoftmaxCrossEntropyWithLogitscase3/Placeholdercase3/Placeholder_1*
T0*&
 _has_manual_control_dependencies(
<
case4/PlaceholderPlaceholder*
dtype0*
shape:
>
case4/Placeholder_1Placeholder*
dtype0*
shape:
„

case4/nodeSoftmaxCrossEntropyWithLogitscase4/Placeholdercase4/Placeholder_1*
T0*&
 _has_manual_control_dependencies("ª