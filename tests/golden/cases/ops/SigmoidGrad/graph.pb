
B
case0/PlaceholderPlaceholder*
dtype0*
shape
:
D
case0/Placeholder_1Placeholder*
dtype0*
shape
:
r

case0/nodeSigmoidGradcase0/Placeholdercase0/Placeholder_1*
T0*&
 _has_manual_control_dependencies(
G
case1/PlaceholderPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
I
case1/Placeholder_1Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
r

case1/nodeSigmoidGradcase1/Placeholdercase1/Placeholder_1*
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
r

case2/nodeSigmoidGradcase2/Placeholdercase2/Placeholder_1*
T0*&
 _has_manual_control_dependencies(
B
case3/PlaceholderPlaceholder*
dtype0*
shape
:
D
case3/Placeholder_1Placeholder*
dtype0*
shape
:
r

case3/nodeSigmoidGradcase3/Placeholdercase3/Placeholder_1*
T0*&
 _has_manual_control_dependencies(
G
case4/PlaceholderPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
I
case4/Placeholder_1Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
r

case4/nodeSigmoidGradcase4/Placeholdercase4/Placeholder_1*
T0*&
 _has_manual_control_dependencies(
<
case5/PlaceholderPlaceholder*
dtype0*
shape:
>
case5/Placeholder_1Placeholder*
dtype0*
shape:
r

case5/nodeSigmoidGradcase5/Placeholdercase5/Placeholder_1*
T0*&
 _has_manual_control_dependencies("ª