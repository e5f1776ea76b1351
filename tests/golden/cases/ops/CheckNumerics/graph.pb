
>
case0/PlaceholderPlaceholder*
dtype0*
shape:
o

case0/nodeCheckNumericscase0/Placeholder*
T0*&
 _has_manual_control_dependencies(*
messagem
<
case1/PlaceholderPlaceholder*
dtype0*
shape:
o

case1/nodeCheckNumericscase1/Placeholder*
T0*&
 _has_manual_control_dependencies(*
messagem"ª