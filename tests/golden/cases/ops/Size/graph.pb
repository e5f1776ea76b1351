
F
case0/PlaceholderPlaceholder*
dtype0*
shape:
f

case0/nodeSizecase0/Placeholder*
T0*&
 _has_manual_control_dependencies(*
out_type0
O
case1/PlaceholderPlaceholder*
dtype0* 
shape:ÿÿÿÿÿÿÿÿÿ
f

case1/nodeSizecase1/Placeholder*
T0*&
 _has_manual_control_dependencies(*
out_type0
<
case2/PlaceholderPlaceholder*
dtype0*
shape:
f

case2/nodeSizecase2/Placeholder*
T0*&
 _has_manual_control_dependencies(*
out_type0
F
case3/PlaceholderPlaceholder*
dtype0*
shape:
f

case3/nodeSizecase3/Placeholder*
T0*&
 _has_manual_control_dependencies(*
out_type0
O
case4/PlaceholderPlaceholder*
dtype0* 
shape:ÿÿÿÿÿÿÿÿÿ
f

case4/nodeSizecase4/Placeholder*
T0*&
 _has_manual_control_dependencies(*
out_type0
<
case5/PlaceholderPlaceholder*
dtype0*
shape:
f

case5/nodeSizecase5/Placeholder*
T0*&
 _has_manual_control_dependencies(*
out_type0	"ª