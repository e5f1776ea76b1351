"""The methods of graphs, outputs and sessions that are written in Python: `with graph:`, operators, subscripts, restore()."""
from __future__ import annotations

import operator
import os
import re
from typing import Any, Callable, Union

import numpy

from . import ops
from ._troupe import Graph, Output, Session
from .scopes import current_scope, pop_scope, push_scope


def _enter(graph: Graph) -> Graph:
    push_scope(graph.scope())
    return graph


def _exit(graph: Graph, *failure: Any) -> None:
    pop_scope()


def _binary(function: Callable[..., Any]) -> Callable[[Output, Any], Any]:
    return lambda self, other: function(self, other)


def _reversed(function: Callable[..., Any]) -> Callable[[Output, Any], Any]:
    return lambda self, other: function(other, self)


def _divide(x: Any, y: Any) -> Any:
    """Integers become float64 or, if they are small, float32, as in TensorFlow."""
    dtype = (x if isinstance(x, Output) else y).dtype.name
    if "int" in dtype:
        wide = "float32" if dtype in ("int8", "uint8", "int16", "uint16") else "float64"
        x, y = (ops.cast(value, wide) for value in (x, y))
    return ops.real_div(x, y)


def _is_boolean(x: Any, y: Any) -> bool:
    return (x if isinstance(x, Output) else y).dtype.name == "bool"


def _and(x: Any, y: Any) -> Any:
    return (ops.logical_and if _is_boolean(x, y) else ops.bitwise_and)(x, y)


def _or(x: Any, y: Any) -> Any:
    return (ops.logical_or if _is_boolean(x, y) else ops.bitwise_or)(x, y)


def _not(x: Output) -> Any:
    return (ops.logical_not if x.dtype.name == "bool" else ops.invert)(x)


def _matmul(x: Any, y: Any) -> Any:
    dtype = (x if isinstance(x, Output) else y).dtype
    scope = current_scope(x, y)
    x, y = (scope.output(value, dtype) for value in (x, y))
    flat = all(value.shape is None or len(value.shape) == 2 for value in (x, y))
    return (ops.matmul if flat else ops.batch_matmul_v2)(x, y)


def _no_truth(output: Output) -> bool:
    raise TypeError(f"{output!r} has no value while the graph is built: use troupe.cond, or fetch it")


def _no_length(output: Output) -> Any:
    raise TypeError(f"{output!r} cannot be iterated: use troupe.ops.unstack, or fetch it")


def _no_array(output: Output, *arguments: Any, **options: Any) -> Any:
    raise TypeError(f"{output!r} has no value while the graph is built, so it is no array: fetch it by session.run, or use "
                    "troupe.ops.stack to make a tensor of outputs")


def _is_index(part: Any) -> bool:
    if isinstance(part, Output):
        return "int" in part.dtype.name
    try:
        operator.index(part)
    except TypeError:
        return False
    return not isinstance(part, (bool, numpy.bool_))


class _Slices:
    """What a subscript selects, as StridedSlice says it."""

    def __init__(self) -> None:
        self.begin: list[Any] = []
        self.end: list[Any] = []
        self.strides: list[Any] = []
        self.masks: dict[str, Any] = dict.fromkeys(("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"), 0)

    def _mark(self, mask: str) -> None:
        self.masks[mask] |= 1 << len(self.begin)

    def add(self, part: Any) -> None:
        begin, end, stride = 0, 0, 1
        if part is Ellipsis:
            self._mark("ellipsis_mask")
        elif part is None:
            self._mark("new_axis_mask")
        elif isinstance(part, slice):
            begin, end, stride = part.start, part.stop, 1 if part.step is None else part.step
            if begin is None:
                self._mark("begin_mask")
                begin = 0
            if end is None:
                self._mark("end_mask")
                end = 0
        else:
            if not _is_index(part):
                raise TypeError(f"a subscript must be an integer, a slice, None, ... or a tuple of them, not {part!r}: "
                                "use troupe.ops.gather or troupe.ops.where to select by lists or conditions")
            self._mark("shrink_axis_mask")
            begin, end = part, part + 1
        self.begin.append(begin)
        self.end.append(end)
        self.strides.append(stride)

    @staticmethod
    def vector(parts: list[Any]) -> Any:
        if any(isinstance(part, Output) for part in parts):
            return ops.stack([ops.cast(part, "int32") if isinstance(part, Output) else part for part in parts])
        return numpy.array(parts, numpy.int32)


def _subscript(output: Output, key: Any) -> Output:
    slices = _Slices()
    for part in key if isinstance(key, tuple) else (key,):
        slices.add(part)
    vectors = (slices.vector(part) for part in (slices.begin, slices.end, slices.strides))
    return ops.strided_slice(output, *vectors, **slices.masks)


_CHECKPOINT = re.compile(r"\d+-round-\d+")
_restore_from_folder = Session.restore


def _restore(session: Session, folder: Union[str, os.PathLike[str]], name: str = "") -> dict[str, Any]:
    """Sets the variables to those of the newest checkpoint in a folder, of that of this name there, or of the checkpoint whose path,
    as save() returns it, is given in place of the folder."""
    parent, last = os.path.split(os.fsdecode(folder).rstrip("/"))
    is_checkpoint = not name and _CHECKPOINT.fullmatch(last) and not parent.endswith(":")  # s3://BUCKET is no checkpoint
    return _restore_from_folder(session, parent or ".", last) if is_checkpoint else _restore_from_folder(session, folder, name)


_BINARY: dict[str, Callable[..., Any]] = {
    "add": ops.add, "sub": ops.sub, "mul": ops.mul, "truediv": _divide, "floordiv": ops.floor_div, "mod": ops.floor_mod,
    "pow": ops.pow, "matmul": _matmul, "and": _and, "or": _or,
}
_COMPARISONS: dict[str, Callable[..., Any]] = {
    "lt": ops.less, "le": ops.less_equal, "gt": ops.greater, "ge": ops.greater_equal,
}
_OTHERS: dict[str, Any] = {
    "neg": ops.neg, "abs": ops.abs, "invert": _not, "getitem": _subscript, "bool": _no_truth, "iter": _no_length,
}


def add_methods() -> None:
    """Gives the classes of the extension module their methods in Python."""
    setattr(Graph, "__enter__", _enter)
    setattr(Graph, "__exit__", _exit)
    setattr(Output, "__array_ufunc__", None)  # NumPy leaves operators to this class
    setattr(Output, "__array__", _no_array)
    setattr(Session, "restore", _restore)
    for name, function in _BINARY.items():
        setattr(Output, f"__{name}__", _binary(function))
        setattr(Output, f"__r{name}__", _reversed(function))
    for name, function in _COMPARISONS.items():
        setattr(Output, f"__{name}__", _binary(function))
    for name, function in _OTHERS.items():
        setattr(Output, f"__{name}__", function if name in ("getitem", "bool", "iter") else (lambda f: lambda self: f(self))(function))
