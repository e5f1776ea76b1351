
>
case0/PlaceholderPlaceholder*
dtype0*
shape:
V

case0/nodeCeilcase0/Placeholder*
T0*&
 _has_manual_control_dependencies(
K
case1/PlaceholderPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
V

case1/nodeCeilcase1/Placeholder*
T0*&
 _has_manual_control_dependencies(
<
case2/PlaceholderPlaceholder*
dtype0*
shape:
V

case2/nodeCeilcase2/Placeholder*
T0*&
 _has_manual_control_dependencies(
>
case3/PlaceholderPlaceholder*
dtype0*
shape:
V

case3/nodeCeilcase3/Placeholder*
T0*&
 _has_manual_control_dependencies("ª