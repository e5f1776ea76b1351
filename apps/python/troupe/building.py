"""Placeholders, constants, variables, gradients, conditionals and loops."""
from __future__ import annotations

from typing import Any, Callable, Optional, Sequence, Union

from . import _troupe
from ._adding import named
from ._structures import Results, Structure, is_named, listed
from ._troupe import Graph, Operation, Output, Scope
from .scopes import current_graph, current_scope, use_scope
from .types import DTypeLike, ShapeLike, TensorLike, Tensors

#: No gradient, a dense one, or rows: (values, indices, dense_shape).
Gradient = Union[None, Output, tuple[Output, Output, Output]]


def placeholder(dtype: DTypeLike, shape: ShapeLike = None, name: Optional[str] = None) -> Output:
    """Returns an output whose value is fed to each step."""
    result: Output = named(current_scope(), name).add("Placeholder", (), {"dtype": dtype, "shape": shape})
    return result


def constant(value: TensorLike, dtype: Optional[DTypeLike] = None, name: Optional[str] = None) -> Output:
    """Returns a constant. Its type is `dtype`, or that of an array; floats of Python are float32, integers int32 if they fit."""
    return named(current_scope(), name).output(value, dtype)


def variable(initial: TensorLike, name: str = "variable", trainable: bool = True, dtype: Optional[DTypeLike] = None) -> Output:
    """Returns a variable. The operation that initializer() returns gives it its first value. Optimizers change it if it is
    trainable."""
    scope = current_scope(initial)
    return _troupe.variable(scope, scope.output(initial, dtype), name, trainable)


def assign(variable: Output, value: TensorLike, name: Optional[str] = None) -> Output:
    """Returns the value of the variable after it was set to `value`."""
    result: Output = named(current_scope(variable), name).add("Assign", (variable, value), {})
    return result


def initializer(variables: Optional[Sequence[Output]] = None) -> Operation:
    """Returns an operation that gives these variables their first values; by default all that were added so far, and then it fills
    tables, too. A second optimizer, for example, adds variables that alone need their first values."""
    return _troupe.initializer(current_scope(variables), None if variables is None else list(variables))


def variables(graph: Optional[Graph] = None) -> list[Output]:
    """Returns the variables of a graph, by default of the one in use."""
    return _troupe.variables(graph or current_graph())


def trainable_variables(graph: Optional[Graph] = None) -> list[Output]:
    """Returns the variables that optimizers change."""
    return _troupe.trainable_variables(graph or current_graph())


def report_uninitialized_variables() -> Output:
    """Returns the names of the variables that have no value yet."""
    return _troupe.report_uninitialized_variables(current_scope())


def group(*operations: Union[Output, Operation], name: Optional[str] = None) -> Operation:
    """Returns an operation that runs after all of these."""
    return named(current_scope(*operations), name).group(list(operations))


def gradients(ys: Union[Output, Sequence[Output]], xs: Union[Output, Sequence[Output]],
              grad_ys: Optional[Sequence[Optional[TensorLike]]] = None) -> list[Gradient]:
    """Returns the derivative of the sum of ys by each x: an output, rows as (values, indices, dense_shape), or None if no y depends
    on the x."""
    return _troupe.gradients(current_scope(ys, xs), ys, xs, grad_ys)


def dense(gradient: Gradient, x: Output) -> Output:
    """Returns a gradient by `x` as a tensor of the shape of `x`, with zeros if there is none."""
    return _troupe.dense(current_scope(x), gradient, x)


def inside(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that builds in the scope which it is given first."""

    def build(scope: Scope, *values: Output) -> Any:
        with use_scope(scope):
            return function(*values)

    return build


def cond(predicate: TensorLike, then: Callable[[], Any], otherwise: Callable[[], Any], name: Optional[str] = None) -> Any:
    """Returns the results of `then` if the predicate is true, and else those of `otherwise`. Only one of them is computed. Each is
    a function that builds its results: one, a list, or a dictionary, in which may be others. Both return the same structure."""
    scope = named(current_scope(predicate), name)
    results = Results()
    outputs = _troupe.cond(scope, predicate, inside(results.of(then, "then")), inside(results.of(otherwise, "otherwise")))
    return results.rebuilt(outputs)


def while_loop(cond: Callable[..., TensorLike], body: Callable[..., Any], loop_vars: Sequence[Tensors],
               shape_invariants: Optional[Sequence[Any]] = None, parallel_iterations: int = 10, name: str = "while") -> Any:
    """Replaces the variables by the results of `body` as long as `cond` is true, and returns their last values, a list, or for a
    named tuple of variables one of these. Both functions take the variables. A variable is a tensor, or a list, tuple or dictionary of
    them; `body` returns the same structure. `shape_invariants`: shapes in this structure, for tensors that change their shapes."""
    if isinstance(loop_vars, dict):
        raise TypeError("loop_vars is a list or a tuple of variables; to have a dictionary as a variable, put it in a list")
    structure = Structure(list(loop_vars), is_list=True)

    def iterate(*values: Output) -> list[Any]:
        results = body(*structure.rebuilt(values))
        is_same = is_named(loop_vars) and type(results) is type(loop_vars)
        return structure.flatten(list(results) if is_same else listed(results), "the results of body", "loop_vars")

    variables = structure.tensors()
    shapes = None if shape_invariants is None else structure.flatten_shapes(list(shape_invariants), "shape_invariants", "loop_vars")
    goes_on = inside(lambda *values: cond(*structure.rebuilt(values)))
    outputs = _troupe.while_loop(current_scope(variables), variables, goes_on, inside(iterate), parallel_iterations, name, shapes)
    results = structure.rebuilt(outputs)
    return type(loop_vars)(*results) if is_named(loop_vars) else results
