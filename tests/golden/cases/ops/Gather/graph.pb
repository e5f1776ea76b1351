
F
case0/PlaceholderPlaceholder*
dtype0*
shape:
D
case0/Placeholder_1Placeholder*
dtype0*
shape
:
›

case0/nodeGathercase0/Placeholdercase0/Placeholder_1*
Tindices0*
Tparams0*&
 _has_manual_control_dependencies(*
validate_indices(
O
case1/PlaceholderPlaceholder*
dtype0* 
shape:ÿÿÿÿÿÿÿÿÿ
M
case1/Placeholder_1Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
›

case1/nodeGathercase1/Placeholdercase1/Placeholder_1*
Tindices0*
Tparams0*&
 _has_manual_control_dependencies(*
validate_indices(
<
case2/PlaceholderPlaceholder*
dtype0*
shape:
>
case2/Placeholder_1Placeholder*
dtype0*
shape:
›

case2/nodeGathercase2/Placeholdercase2/Placeholder_1*
Tindices0*
Tparams0*&
 _has_manual_control_dependencies(*
validate_indices(
F
case3/PlaceholderPlaceholder*
dtype0*
shape:
D
case3/Placeholder_1Placeholder*
dtype0*
shape
:
›

case3/nodeGathercase3/Placeholdercase3/Placeholder_1*
Tindices0*
Tparams0*&
 _has_manual_control_dependencies(*
validate_indices(
O
case4/PlaceholderPlaceholder*
dtype0* 
shape:ÿÿÿÿÿÿÿÿÿ
M
case4/Placeholder_1Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
›

case4/nodeGathercase4/Placeholdercase4/Placeholder_1*
Tindices0*
Tparams0*&
 _has_manual_control_dependencies(*
validate_indices(
<
case5/PlaceholderPlaceholder*
dtype0*
shape:
>
case5/Placeholder_1Placeholder*
dtype0*
shape:
›

case5/nodeGathercase5/Placeholdercase5/Placeholder_1*
Tindices0*
Tparams0*&
 _has_manual_control_dependencies(*
validate_indices("ª