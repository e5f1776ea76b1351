
>
case0/PlaceholderPlaceholder*
dtype0*
shape:
U

case0/nodeElucase0/Placeholder*
T0*&
 _has_manual_control_dependencies(
K
case1/PlaceholderPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
U

case1/nodeElucase1/Placeholder*
T0*&
 _has_manual_control_dependencies(
<
case2/PlaceholderPlaceholder*
dtype0*
shape:
U

case2/nodeElucase2/Placeholder*
T0*&
 _has_manual_control_dependencies(
>
case3/PlaceholderPlaceholder*
dtype0*
shape:
U

case3/nodeElucase3/Placeholder*
T0*&
 _has_manual_control_dependencies("ª