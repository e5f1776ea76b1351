"""Functions of Python in graphs: what they compute when a step runs, and gradients that they build."""
from __future__ import annotations

import functools
from typing import Any, Callable, Optional, Sequence, Union

from . import _troupe
from ._adding import named
from ._troupe import Operation, Output
from .building import inside
from .scopes import current_scope
from .types import DTypeLike, ShapeLike, TensorLike


def py_function(function: Callable[..., Any], inputs: Sequence[TensorLike], dtypes: Union[DTypeLike, Sequence[DTypeLike]],
                shapes: Optional[Sequence[ShapeLike]] = None, stateful: bool = True, gradient: Optional[Callable[..., Any]] = None,
                name: Optional[str] = None) -> Any:
    """Returns what `function` returns in each step for the values of `inputs`, which it gets as arrays that it must not change:
    an output of the type `dtypes`, a list of outputs for a list of types, or the operation for an empty list.

    `shapes`: those of the outputs, which are unknown otherwise; values of other shapes are refused. `stateful=False`: the function
    depends on its inputs alone, so equal calls may become one. `gradient(*inputs, *gradients)` gets the inputs and the gradients of the
    outputs of floating and complex types, and returns those of the inputs of such types: a tuple, with None for zeros, or for one input
    its gradient. Without it, no gradient passes the function.

    The function is called in this process, by threads of the runtime that hold the global interpreter lock. What it raises fails the
    step: ValueError and TypeError as InvalidArgumentError, StopIteration as OutOfRangeError, an Error of Troupe as itself."""
    scope = named(current_scope(*inputs), name)
    is_list = isinstance(dtypes, (list, tuple))
    types: list[Any] = list(dtypes) if is_list else [dtypes]  # type: ignore[arg-type]
    outputs = _troupe.py_function(scope, function, list(inputs), types, is_list, stateful, gradient)
    if isinstance(outputs, Operation):
        return outputs
    if shapes is not None:
        if len(shapes) != len(outputs):
            raise ValueError(f"there are {len(shapes)} shapes, but {len(outputs)} outputs")
        outputs = [scope.add("EnsureShape", (output,), {"shape": shape}) for output, shape in zip(outputs, shapes)]
    return outputs if is_list else outputs[0]


def custom_gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a function that builds a part of a graph a gradient of its own, in place of that of its ops:

        @troupe.custom_gradient
        def log1pexp(x):
            e = troupe.ops.exp(x)
            return troupe.ops.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))

    `function` gets outputs, and returns its results (one, or a list) and a function. That one gets the gradients of the results, and
    returns those of the arguments: one, or a list, with None where there is none. Variables that `function` uses and does not get as
    arguments have no gradient through it."""

    @functools.wraps(function)
    def build(*arguments: TensorLike) -> Any:
        scope = current_scope(*arguments)
        xs = [scope.output(argument) for argument in arguments]
        results, gradient = function(*xs)
        is_list = isinstance(results, (list, tuple))
        ys = list(results) if is_list else [results]

        def gradients(*of_results: Output) -> list[Any]:
            built = gradient(*of_results)
            return list(built) if isinstance(built, (list, tuple)) else [built]

        outputs = _troupe.with_gradient(scope, ys, xs, inside(gradients))
        return outputs if is_list else outputs[0]

    return build
