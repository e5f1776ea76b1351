
>
case0/PlaceholderPlaceholder*
dtype0*
shape:
Z

case0/nodeSoftpluscase0/Placeholder*
T0*&
 _has_manual_control_dependencies(
K
case1/PlaceholderPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
Z

case1/nodeSoftpluscase1/Placeholder*
T0*&
 _has_manual_control_dependencies(
<
case2/PlaceholderPlaceholder*
dtype0*
shape:
Z

case2/nodeSoftpluscase2/Placeholder*
T0*&
 _has_manual_control_dependencies(
>
case3/PlaceholderPlaceholder*
dtype0*
shape:
Z

case3/nodeSoftpluscase3/Placeholder*
T0*&
 _has_manual_control_dependencies("ª