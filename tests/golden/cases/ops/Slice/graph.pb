
F
case0/PlaceholderPlaceholder*
dtype0*
shape:
@
case0/Placeholder_1Placeholder*
dtype0*
shape:
@
case0/Placeholder_2Placeholder*
dtype0*
shape:
Ž

case0/nodeSlicecase0/Placeholdercase0/Placeholder_1case0/Placeholder_2*
Index0*
T0*&
 _has_manual_control_dependencies(
O
case1/PlaceholderPlaceholder*
dtype0* 
shape:ÿÿÿÿÿÿÿÿÿ
I
case1/Placeholder_1Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
I
case1/Placeholder_2Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
Ž

case1/nodeSlicecase1/Placeholdercase1/Placeholder_1case1/Placeholder_2*
Index0*
T0*&
 _has_manual_control_dependencies(
<
case2/PlaceholderPlaceholder*
dtype0*
shape:
>
case2/Placeholder_1Placeholder*
dtype0*
shape:
>
case2/Placeholder_2Placeholder*
dtype0*
shape:
Ž

case2/nodeSlicecase2/Placeholdercase2/Placeholder_1case2/Placeholder_2*
Index0*
T0*&
 _has_manual_control_dependencies(
F
case3/PlaceholderPlaceholder*
dtype0*
shape:
@
case3/Placeholder_1Placeholder*
dtype0*
shape:
@
case3/Placeholder_2Placeholder*
dtype0*
shape:
Ž

case3/nodeSlicecase3/Placeholdercase3/Placeholder_1case3/Placeholder_2*
Index0*
T0*&
 _has_manual_control_dependencies(
O
case4/PlaceholderPlaceholder*
dtype0* 
shape:ÿÿÿÿÿÿÿÿÿ
I
case4/Placeholder_1Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
I
case4/Placeholder_2Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
Ž

case4/nodeSlicecase4/Placeholdercase4/Placeholder_1case4/Placeholder_2*
Index0*
T0*&
 _has_manual_control_dependencies(
<
case5/PlaceholderPlaceholder*
dtype0*
shape:
>
case5/Placeholder_1Placeholder*
dtype0*
shape:
>
case5/Placeholder_2Placeholder*
dtype0*
shape:
Ž

case5/nodeSlicecase5/Placeholdercase5/Placeholder_1case5/Placeholder_2*
Index0*
T0*&
 _has_manual_control_dependencies("ª