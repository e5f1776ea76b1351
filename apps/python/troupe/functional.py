"""Maps, folds, scans and cases. Functions take slices along the first dimension, in the structure of the elements: one output if a
single tensor is given, else a list, tuple or dictionary of them, which may have others in it. A list that has only numbers is one
tensor."""
from __future__ import annotations

from typing import Any, Callable, Optional, Sequence

from . import _troupe
from ._adding import named
from ._structures import Results, Structure, listed, unlisted
from ._troupe import Output
from .building import inside
from .scopes import current_scope
from .types import TensorLike, Tensors


def map_fn(function: Callable[..., Any], elements: Tensors, parallel_iterations: int = 10, name: Optional[str] = None) -> Any:
    """Returns function(slice) for each slice of the elements, stacked."""
    structure, results = Structure(elements), Results()
    values = structure.tensors()
    build = results.of(lambda slices: function(structure.rebuilt(slices)), "function")
    return results.rebuilt(_troupe.map_fn(named(current_scope(values), name), values, inside(build), parallel_iterations))


def _accumulated(function: Callable[[Any, Any], Any], state: Structure, elements: Structure) -> Callable[..., Any]:
    def build(values: list[Output], slices: list[Output]) -> list[Any]:
        results = listed(function(state.rebuilt(values), elements.rebuilt(slices)))
        return state.flatten(results if state.is_list else unlisted(results), "the results of function", "initial")

    return inside(build)


def _fold(function: Callable[[Any, Any], Any], elements: Tensors, initial: Tensors, from_right: bool) -> Any:
    structure, state = Structure(elements), Structure(initial)
    values, first = structure.tensors(), state.tensors()
    build = _accumulated(function, state, structure)
    return state.rebuilt(_troupe.fold(current_scope(values, first), values, first, build, from_right))


def foldl(function: Callable[[Any, Any], Any], elements: Tensors, initial: Tensors) -> Any:
    """Returns function(... function(function(initial, first slice), second slice) ..., last slice). The function returns the structure
    of `initial`."""
    return _fold(function, elements, initial, False)


def foldr(function: Callable[[Any, Any], Any], elements: Tensors, initial: Tensors) -> Any:
    """Does the same from the last slice to the first."""
    return _fold(function, elements, initial, True)


def scan(function: Callable[[Any, Any], Any], elements: Tensors, initial: Tensors, reverse: bool = False,
         parallel_iterations: int = 10) -> Any:
    """Returns all values that foldl() goes through, stacked."""
    structure, state = Structure(elements), Structure(initial)
    values, first = structure.tensors(), state.tensors()
    build = _accumulated(function, state, structure)
    return state.rebuilt(_troupe.scan(current_scope(values, first), values, first, build, reverse, parallel_iterations))


def case(pairs: Sequence[tuple[TensorLike, Callable[[], Any]]], default: Callable[[], Any]) -> Any:
    """Returns the results of the function beside the first predicate that is true, else those of `default`. All functions return the
    same structure."""
    predicates = [predicate for predicate, _ in pairs]
    results = Results()
    branches = [(predicate, inside(results.of(function, f"function {i}"))) for i, (predicate, function) in enumerate(pairs)]
    return results.rebuilt(_troupe.case_of(current_scope(predicates), branches, inside(results.of(default, "default"))))


def switch_case(index: TensorLike, functions: Sequence[Callable[[], Any]]) -> Any:
    """Returns the results of the function with this index; any other index stands for the last function. All functions return the
    same structure."""
    results = Results()
    branches = [inside(results.of(function, f"function {i}")) for i, function in enumerate(functions)]
    return results.rebuilt(_troupe.switch_case(current_scope(index), index, branches))
