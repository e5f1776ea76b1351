
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
n

case0/nodeInvGradcase0/Placeholdercase0/Placeholder_1*
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
n

case1/nodeInvGradcase1/Placeholdercase1/Placeholder_1*
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
n

case2/nodeInvGradcase2/Placeholdercase2/Placeholder_1*
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
n

case3/nodeInvGradcase3/Placeholdercase3/Placeholder_1*
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
n

case4/nodeInvGradcase4/Placeholdercase4/Placeholder_1*
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
n

case5/nodeInvGradcase5/Placeholdercase5/Placeholder_1*
T0*&
 _has_manual_control_dependencies("ª