
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
o

case0/nodeSqrtGradcase0/Placeholdercase0/Placeholder_1*
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
o

case1/nodeSqrtGradcase1/Placeholdercase1/Placeholder_1*
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
o

case2/nodeSqrtGradcase2/Placeholdercase2/Placeholder_1*
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
o

case3/nodeSqrtGradcase3/Placeholdercase3/Placeholder_1*
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
o

case4/nodeSqrtGradcase4/Placeholdercase4/Placeholder_1*
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
o

case5/nodeSqrtGradcase5/Placeholdercase5/Placeholder_1*
T0*&
 _has_manual_control_dependencies("ª