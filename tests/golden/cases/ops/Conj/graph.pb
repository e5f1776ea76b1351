
>
case0/PlaceholderPlaceholder*
dtype0*
shape:
V

case0/nodeConjcase0/Placeholder*
T0*&
 _has_manual_control_dependencies(
G
case1/PlaceholderPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
V

case1/nodeConjcase1/Placeholder*
T0*&
 _has_manual_control_dependencies("ª