
B
case0/PlaceholderPlaceholder*
dtype0*
shape
:
@
case0/Placeholder_1Placeholder*
dtype0*
shape:
~

case0/nodeBroadcastTocase0/Placeholdercase0/Placeholder_1*

Tidx0*
T0*&
 _has_manual_control_dependencies(
K
case1/PlaceholderPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
I
case1/Placeholder_1Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
~

case1/nodeBroadcastTocase1/Placeholdercase1/Placeholder_1*

Tidx0*
T0*&
 _has_manual_control_dependencies(
<
case2/PlaceholderPlaceholder*
dtype0*
shape:
>
case2/Placeholder_1Placeholder*
dtype0*
shape:
~

case2/nodeBroadcastTocase2/Placeholdercase2/Placeholder_1*

Tidx0*
T0*&
 _has_manual_control_dependencies(
B
case3/PlaceholderPlaceholder*
dtype0*
shape
:
@
case3/Placeholder_1Placeholder*
dtype0*
shape:
~

case3/nodeBroadcastTocase3/Placeholdercase3/Placeholder_1*

Tidx0*
T0*&
 _has_manual_control_dependencies(
K
case4/PlaceholderPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
I
case4/Placeholder_1Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
~

case4/nodeBroadcastTocase4/Placeholdercase4/Placeholder_1*

Tidx0*
T0*&
 _has_manual_control_dependencies(
<
case5/PlaceholderPlaceholder*
dtype0*
shape:
>
case5/Placeholder_1Placeholder*
dtype0*
shape:
~

case5/nodeBroadcastTocase5/Placeholdercase5/Placeholder_1*

Tidx0*
T0*&
 _has_manual_control_dependencies("ª