
>
case0/PlaceholderPlaceholder*
dtype0
*
shape:
D
case0/Placeholder_1Placeholder*
dtype0
*
shape
:
g

case0/node	LogicalOrcase0/Placeholdercase0/Placeholder_1*&
 _has_manual_control_dependencies("ª