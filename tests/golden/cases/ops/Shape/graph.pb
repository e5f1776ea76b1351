
F
case0/PlaceholderPlaceholder*
dtype0*
shape:
u

case0/nodeShapecase0/Placeholder*
T0*&
 _has_manual_control_dependencies(*
out_type0:íÏ
O
case1/PlaceholderPlaceholder*
dtype0* 
shape:ÿÿÿÿÿÿÿÿÿ
u

case1/nodeShapecase1/Placeholder*
T0*&
 _has_manual_control_dependencies(*
out_type0:íÏ
<
case2/PlaceholderPlaceholder*
dtype0*
shape:
u

case2/nodeShapecase2/Placeholder*
T0*&
 _has_manual_control_dependencies(*
out_type0:íÏ
F
case3/PlaceholderPlaceholder*
dtype0*
shape:
u

case3/nodeShapecase3/Placeholder*
T0*&
 _has_manual_control_dependencies(*
out_type0:íÏ
O
case4/PlaceholderPlaceholder*
dtype0* 
shape:ÿÿÿÿÿÿÿÿÿ
u

case4/nodeShapecase4/Placeholder*
T0*&
 _has_manual_control_dependencies(*
out_type0:íÏ
<
case5/PlaceholderPlaceholder*
dtype0*
shape:
u

case5/nodeShapecase5/Placeholder*
T0*&
 _has_manual_control_dependencies(*
out_type0	:íÐ"ª