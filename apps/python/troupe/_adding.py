"""How the functions of ops add their nodes."""
from __future__ import annotations

from typing import Any, Optional

import numpy

from ._troupe import Output, Scope
from .scopes import current_scope


def named(scope: Scope, name: Optional[str]) -> Scope:
    return scope if name is None else scope.with_name(name)


def add_node(op: str, name: Optional[str], inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    """Returns the only output, a tuple of all, or the operation if it has none."""
    return named(current_scope(*inputs), name).add(op, inputs, attrs)


def add_list(op: str, name: Optional[str], inputs: tuple[Any, ...], attrs: dict[str, Any]) -> list[Output]:
    """Returns all outputs, however many."""
    result = add_node(op, name, inputs, attrs)
    return [result] if isinstance(result, Output) else list(result) if isinstance(result, tuple) else []


def add_all_axes(value: Any) -> Any:
    """Returns all axes of a tensor, for ops that reduce."""
    scope = current_scope(value)
    tensor = scope.output(value)
    if tensor.shape is not None:
        return numpy.arange(len(tensor.shape), dtype=numpy.int32)
    return scope.add("Range", (0, scope.add("Rank", (tensor,), {}), 1), {})
