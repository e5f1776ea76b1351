
B
case0/PlaceholderPlaceholder*
dtype0*
shape
:
_

case0/nodeAddNcase0/Placeholder*
N*
T0*&
 _has_manual_control_dependencies(
K
case1/PlaceholderPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
M
case1/Placeholder_1Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
M
case1/Placeholder_2Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
‰

case1/nodeAddNcase1/Placeholdercase1/Placeholder_1case1/Placeholder_2*
N*
T0*&
 _has_manual_control_dependencies(
<
case2/PlaceholderPlaceholder*
dtype0*
shape:
>
case2/Placeholder_1Placeholder*
dtype0*
shape:
t

case2/nodeAddNcase2/Placeholdercase2/Placeholder_1*
N*
T0*&
 _has_manual_control_dependencies(
>
case3/PlaceholderPlaceholder*
dtype0*
shape:
@
case3/Placeholder_1Placeholder*
dtype0*
shape:
t

case3/nodeAddNcase3/Placeholdercase3/Placeholder_1*
N*
T0*&
 _has_manual_control_dependencies(
G
case4/PlaceholderPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
I
case4/Placeholder_1Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
t

case4/nodeAddNcase4/Placeholdercase4/Placeholder_1*
N*
T0*&
 _has_manual_control_dependencies(
<
case5/PlaceholderPlaceholder*
dtype0*
shape:
>
case5/Placeholder_1Placeholder*
dtype0*
shape:
t

case5/nodeAddNcase5/Placeholdercase5/Placeholder_1*
N*
T0*&
 _has_manual_control_dependencies("ª