
F
case0/PlaceholderPlaceholder*
dtype0*
shape:
@
case0/Placeholder_1Placeholder*
dtype0*
shape:
}

case0/node	Transposecase0/Placeholdercase0/Placeholder_1*
Tperm0*
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
}

case1/node	Transposecase1/Placeholdercase1/Placeholder_1*
Tperm0*
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
}

case2/node	Transposecase2/Placeholdercase2/Placeholder_1*
Tperm0*
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
}

case3/node	Transposecase3/Placeholdercase3/Placeholder_1*
Tperm0*
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
}

case4/node	Transposecase4/Placeholdercase4/Placeholder_1*
Tperm0*
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
}

case5/node	Transposecase5/Placeholdercase5/Placeholder_1*
Tperm0*
T0*&
 _has_manual_control_dependencies("ª