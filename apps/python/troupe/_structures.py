"""How tensors are nested in lists, tuples, named tuples and dictionaries. Functions of C++ get and return flat lists of them, in the
order of the elements, in dictionaries in that of the sorted keys, as in TensorFlow."""
from __future__ import annotations

import copy
from typing import Any, Callable, Iterator, Optional, Sequence

import numpy

from .errors import InvalidArgumentError

_NUMBERS = (bool, int, float, complex, str, bytes, numpy.generic)


def is_named(value: Any) -> bool:
    """Returns whether a value is a named tuple."""
    return isinstance(value, tuple) and hasattr(value, "_fields")


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and not is_named(value)


def _is_number(value: Any) -> bool:
    return all(map(_is_number, value)) if _is_list(value) else isinstance(value, _NUMBERS)


def is_structure(value: Any) -> bool:
    """Returns whether a value is several tensors. A list of numbers, or of lists of them, is one."""
    return isinstance(value, dict) or is_named(value) or _is_list(value) and not _is_number(value)


def listed(results: Any) -> list[Any]:
    """Returns what a function returns as a list: the results that are in a list or a tuple, or the only one."""
    return list(results) if _is_list(results) else [results]


def unlisted(results: list[Any]) -> Any:
    """Returns the only result, or else the list of them."""
    return results[0] if len(results) == 1 else results


def _elements(value: Any) -> list[Any]:
    if not isinstance(value, dict):
        return list(value)
    try:
        return [value[key] for key in sorted(value)]
    except TypeError as error:
        raise TypeError(f"the keys of a dictionary of tensors must have an order, but they are {list(value)}") from error


class Structure:
    """How the tensors of a value are nested. `is_list`: the value is a list or tuple of several tensors, also if these are
    numbers."""

    def __init__(self, like: Any, is_list: bool = False):
        self._like = like
        self._parts = [Structure(part) for part in _elements(like)] if is_list or is_structure(like) else None

    def _fits(self, value: Any) -> bool:
        if isinstance(self._like, dict):
            return isinstance(value, dict) and self._like.keys() == value.keys()
        if is_named(self._like) or is_named(value):
            return type(self._like) is type(value)
        return _is_list(value) and len(value) == len(self._like)

    def _flat(self, value: Any, is_leaf: Callable[[Any], bool]) -> Optional[list[Any]]:
        """Returns None if the value has another structure."""
        if self._parts is None:
            return [value] if is_leaf(value) else None
        if not self._fits(value):
            return None
        flat: list[Any] = []
        for part, element in zip(self._parts, _elements(value)):
            tensors = part._flat(element, is_leaf)
            if tensors is None:
                return None
            flat += tensors
        return flat

    @property
    def is_list(self) -> bool:
        """Whether it is a list or tuple, but no named tuple."""
        return self._parts is not None and _is_list(self._like)

    def flatten(self, value: Any, what: str, of_what: str) -> list[Any]:
        """Returns the tensors of a value that must have this structure. In the error, `what` says what the value is, and `of_what`
        what has this structure."""
        flat = self._flat(value, lambda leaf: not is_structure(leaf))
        if flat is None:
            given = Structure(value, is_list=_is_list(value))
            raise InvalidArgumentError(f"{what} must have the structure of {of_what}, {self}, but they are {given}")
        return flat

    def flatten_shapes(self, shapes: Any, what: str, of_what: str) -> list[Any]:
        """Does the same with shapes in place of tensors."""
        flat = self._flat(shapes, lambda shape: True)
        if flat is None:
            raise InvalidArgumentError(f"{what} must have the structure of {of_what}, {self}, but they are {shapes}")
        return flat

    def tensors(self) -> list[Any]:
        """Returns the tensors of the value of which this is the structure."""
        return [self._like] if self._parts is None else [tensor for part in self._parts for tensor in part.tensors()]

    def rebuilt(self, tensors: Sequence[Any]) -> Any:
        """Returns a value of this structure with other tensors."""
        return self._taken(iter(tensors))

    def _taken(self, tensors: Iterator[Any]) -> Any:
        if self._parts is None:
            return next(tensors)
        elements = [part._taken(tensors) for part in self._parts]
        if isinstance(self._like, dict):
            rebuilt = copy.copy(self._like)
            rebuilt.update(zip(sorted(self._like), elements))
            return rebuilt
        if is_named(self._like):
            return type(self._like)(*elements)
        return elements if isinstance(self._like, list) else tuple(elements)

    def __str__(self) -> str:
        if self._parts is None:
            return "tensor"
        parts = [str(part) for part in self._parts]
        if isinstance(self._like, dict):
            return "{" + ", ".join(f"{key!r}: {part}" for key, part in zip(sorted(self._like), parts)) + "}"
        if is_named(self._like):
            return f"{type(self._like).__name__}({', '.join(map('='.join, zip(self._like._fields, parts)))})"
        if isinstance(self._like, list):
            return f"[{', '.join(parts)}]"
        return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


class Results:
    """The results of functions of which one is computed. All have the structure that those of the first have."""

    def __init__(self) -> None:
        self._first: Optional[tuple[str, Structure]] = None

    def of(self, function: Callable[..., Any], name: str) -> Callable[..., list[Any]]:
        """Returns a function that returns the tensors of the results. `name` stands for it in errors."""

        def build(*arguments: Any) -> list[Any]:
            results = listed(function(*arguments))
            if self._first is None:
                self._first = name, Structure(results, is_list=True)
            first, structure = self._first
            return structure.flatten(results, f"the results of {name}", f"those of {first}")

        return build

    def rebuilt(self, tensors: Sequence[Any]) -> Any:
        """Returns the results with these tensors."""
        assert self._first is not None
        return unlisted(self._first[1].rebuilt(tensors))
