
>
case0/PlaceholderPlaceholder*
dtype0*
shape:
c

case0/nodeInvertPermutationcase0/Placeholder*
T0*&
 _has_manual_control_dependencies(
G
case1/PlaceholderPlaceholder*
dtype0	*
shape:ÿÿÿÿÿÿÿÿÿ
c

case1/nodeInvertPermutationcase1/Placeholder*
T0	*&
 _has_manual_control_dependencies(
<
case2/PlaceholderPlaceholder*
dtype0*
shape:
c

case2/nodeInvertPermutationcase2/Placeholder*
T0*&
 _has_manual_control_dependencies("ª