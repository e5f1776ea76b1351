
>
case0/PlaceholderPlaceholder*
dtype0*
shape:
@
case0/Placeholder_1Placeholder*
dtype0*
shape:
|

case0/nodeBroadcastGradientArgscase0/Placeholdercase0/Placeholder_1*
T0*&
 _has_manual_control_dependencies(
G
case1/PlaceholderPlaceholder*
dtype0	*
shape:ÿÿÿÿÿÿÿÿÿ
I
case1/Placeholder_1Placeholder*
dtype0	*
shape:ÿÿÿÿÿÿÿÿÿ
|

case1/nodeBroadcastGradientArgscase1/Placeholdercase1/Placeholder_1*
T0	*&
 _has_manual_control_dependencies(
<
case2/PlaceholderPlaceholder*
dtype0*
shape:
>
case2/Placeholder_1Placeholder*
dtype0*
shape:
|

case2/nodeBroadcastGradientArgscase2/Placeholdercase2/Placeholder_1*
T0*&
 _has_manual_control_dependencies(
<
case3/PlaceholderPlaceholder*
dtype0*
shape:
>
case3/Placeholder_1Placeholder*
dtype0*
shape:
|

case3/nodeBroadcastGradientArgscase3/Placeholdercase3/Placeholder_1*
T0*&
 _has_manual_control_dependencies("ª