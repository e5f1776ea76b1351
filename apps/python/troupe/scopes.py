"""Where new nodes go: the graph in use, and the names, devices and control inputs that nodes get. Each thread, and each task of
asyncio, has a place of its own."""
from __future__ import annotations

import contextlib
import contextvars
from typing import Callable, Iterator, Optional, Sequence, Union

from ._troupe import DeviceFunction, Graph, NewNode, Operation, Output, Scope, replica_devices

_scopes: contextvars.ContextVar[tuple[Scope, ...]] = contextvars.ContextVar("troupe_scopes", default=())


def push_scope(scope: Scope) -> None:
    """New nodes go to this scope, until pop_scope()."""
    _scopes.set(_scopes.get() + (scope,))


def pop_scope() -> None:
    _scopes.set(_scopes.get()[:-1])


@contextlib.contextmanager
def use_scope(scope: Scope) -> Iterator[Scope]:
    """New nodes go to this scope inside of the `with`."""
    push_scope(scope)
    try:
        yield scope
    finally:
        pop_scope()


def current_scope(*inputs: object) -> Scope:
    """Returns the scope in use, or else that of the graph to which one of the inputs belongs."""
    scopes = _scopes.get()
    if scopes:
        return scopes[-1]
    graph = _graph_of(inputs)
    if graph is None:
        raise RuntimeError("there is no graph in use: build inside of `with troupe.Graph():`")
    return graph.scope()


def current_graph() -> Graph:
    """Returns the graph in use."""
    return current_scope().graph


def _graph_of(values: Sequence[object]) -> Optional[Graph]:
    for value in values:
        if isinstance(value, (Output, Operation)):
            return value.graph
        if isinstance(value, (list, tuple)):
            graph = _graph_of(value)
            if graph is not None:
                return graph
    return None


def name_scope(name: str) -> contextlib.AbstractContextManager[Scope]:
    """Puts "name/" in front of the names of new nodes."""
    return use_scope(current_scope().with_prefix(name))


def device(
        name_or_function: Union[str, DeviceFunction, Callable[[NewNode], Optional[str]]]) -> contextlib.AbstractContextManager[Scope]:
    """Requests a device for new nodes, such as "/cpu:0", or asks a function for it, which gets each new node with its `name`, `type`,
    `inputs`, `attribute(name)` and the `device` that scopes inside request, and returns a name instead of that, or None to keep it. What
    the name leaves open comes from the scope around. Nodes that are colocated with others are not asked about."""
    return use_scope(current_scope().with_device(name_or_function))


def replica_device_setter(ps_tasks: int = 0, ps_device: str = "/job:ps", worker_device: str = "/job:worker",
                          ps_ops: Optional[Sequence[str]] = None,
                          ps_strategy: Union[str, Callable[[NewNode], int]] = "in_turn") -> DeviceFunction:
    """Returns a function for device() that puts variables and tables on `ps_tasks` parameter servers, what reads or changes them beside
    them, and everything else on the worker. `ps_strategy`: "in_turn", "by_bytes" (the server with the fewest bytes so far), or a function
    that returns the number of the task for a variable. `ps_ops`: the ops that go to the servers instead of those of variables and tables.
    Without servers everything goes to the worker."""
    return replica_devices(ps_tasks, ps_device, worker_device, ps_ops, ps_strategy)


def control_dependencies(sources: Optional[Sequence[Union[Output, Operation]]]) -> contextlib.AbstractContextManager[Scope]:
    """New nodes run after these. None: after nothing in particular."""
    return use_scope(current_scope().with_control(sources))


def colocate_with(output: Output) -> contextlib.AbstractContextManager[Scope]:
    """New nodes run on the device of this one."""
    return use_scope(current_scope().colocated_with(output))


def recomputed(segment: str) -> contextlib.AbstractContextManager[Scope]:
    """Gradients compute the results of new nodes again, which takes less memory and more time."""
    return use_scope(current_scope().recomputed(segment))
