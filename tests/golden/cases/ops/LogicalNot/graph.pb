
>
case0/PlaceholderPlaceholder*
dtype0
*
shape:
S

case0/node
LogicalNotcase0/Placeholder*&
 _has_manual_control_dependencies("ª