
>
case0/PlaceholderPlaceholder*
dtype0*
shape:
\

case0/node
Reciprocalcase0/Placeholder*
T0*&
 _has_manual_control_dependencies(
K
case1/PlaceholderPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
\

case1/node
Reciprocalcase1/Placeholder*
T0*&
 _has_manual_control_dependencies(
<
case2/PlaceholderPlaceholder*
dtype0*
shape:
\

case2/node
Reciprocalcase2/Placeholder*
T0*&
 _has_manual_control_dependencies(
>
case3/PlaceholderPlaceholder*
dtype0*
shape:
\

case3/node
Reciprocalcase3/Placeholder*
T0*&
 _has_manual_control_dependencies(
G
case4/PlaceholderPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
\

case4/node
Reciprocalcase4/Placeholder*
T0*&
 _has_manual_control_dependencies(
<
case5/PlaceholderPlaceholder*
dtype0*
shape:
\

case5/node
Reciprocalcase5/Placeholder*
T0*&
 _has_manual_control_dependencies("ª