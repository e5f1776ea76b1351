"""Maps, folds, scans and cases. Functions take slices along the first dimension, one output if a single tensor is given, else a list
of them, and return one output or a list."""
from __future__ import annotations

from typing import Any, Callable, Optional, Sequence, Union

from . import _troupe
from ._adding import named
from ._troupe import Output
from .building import inside
from .scopes import current_scope
from .types import TensorLike

Tensors = Union[TensorLike, Sequence[TensorLike]]


def _listed(values: Any) -> tuple[list[Any], bool]:
    """Returns a list of tensors, and whether a list was given. A list of numbers is one tensor."""
    several = isinstance(values, (list, tuple)) and any(isinstance(value, Output) for value in values)
    return (list(values), True) if several else ([values], False)


def _unlisted(values: Sequence[Any], is_list: bool) -> Any:
    return list(values) if is_list else values[0]


def map_fn(function: Callable[..., Any], elements: Tensors, parallel_iterations: int = 10, name: Optional[str] = None) -> Any:
    """Returns function(slice) for each slice of the elements, stacked."""
    values, is_list = _listed(elements)
    build = inside(lambda slices: function(_unlisted(slices, is_list)))
    results = _troupe.map_fn(named(current_scope(values), name), values, build, parallel_iterations)
    return results[0] if len(results) == 1 else results


def _accumulated(function: Callable[[Any, Any], Any], state_is_list: bool, is_list: bool) -> Callable[..., Any]:
    return inside(lambda state, slices: function(_unlisted(state, state_is_list), _unlisted(slices, is_list)))


def _fold(function: Callable[[Any, Any], Any], elements: Tensors, initial: Tensors, from_right: bool) -> Any:
    values, is_list = _listed(elements)
    state, state_is_list = _listed(initial)
    build = _accumulated(function, state_is_list, is_list)
    return _unlisted(_troupe.fold(current_scope(values, state), values, state, build, from_right), state_is_list)


def foldl(function: Callable[[Any, Any], Any], elements: Tensors, initial: Tensors) -> Any:
    """Returns function(... function(function(initial, first slice), second slice) ..., last slice)."""
    return _fold(function, elements, initial, False)


def foldr(function: Callable[[Any, Any], Any], elements: Tensors, initial: Tensors) -> Any:
    """Does the same from the last slice to the first."""
    return _fold(function, elements, initial, True)


def scan(function: Callable[[Any, Any], Any], elements: Tensors, initial: Tensors, reverse: bool = False,
         parallel_iterations: int = 10) -> Any:
    """Returns all values that foldl() goes through, stacked."""
    values, is_list = _listed(elements)
    state, state_is_list = _listed(initial)
    build = _accumulated(function, state_is_list, is_list)
    results = _troupe.scan(current_scope(values, state), values, state, build, reverse, parallel_iterations)
    return _unlisted(results, state_is_list)


def case(pairs: Sequence[tuple[TensorLike, Callable[[], Any]]], default: Callable[[], Any]) -> Any:
    """Returns the results of the function beside the first predicate that is true, else those of `default`."""
    predicates = [predicate for predicate, _ in pairs]
    results = _troupe.case_of(current_scope(predicates), [(predicate, inside(function)) for predicate, function in pairs], inside(default))
    return results[0] if len(results) == 1 else results


def switch_case(index: TensorLike, functions: Sequence[Callable[[], Any]]) -> Any:
    """Returns the results of the function with this index; any other index stands for the last function."""
    results = _troupe.switch_case(current_scope(index), index, [inside(function) for function in functions])
    return results[0] if len(results) == 1 else results
