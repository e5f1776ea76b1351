"""Where new nodes go: the graph in use, and the names, devices and control inputs that nodes get. Each thread, and each task of
asyncio, has a place of its own."""
from __future__ import annotations

import contextlib
import contextvars
from typing import Callable, Iterator, NamedTuple, Optional, Sequence, Union

from ._troupe import DeviceFunction, Graph, NewNode, Operation, Output, Scope, replica_devices

DeviceRequest = Union[str, DeviceFunction, Callable[[NewNode], Optional[str]]]


class _Place(NamedTuple):
    scope: Scope
    devices: tuple[DeviceRequest, ...]  # the requests around, for variables, which have no other scope around them


_scopes: contextvars.ContextVar[tuple[_Place, ...]] = contextvars.ContextVar("troupe_scopes", default=())


def push_scope(scope: Scope, devices: tuple[DeviceRequest, ...] = ()) -> None:
    """New nodes go to this scope, until pop_scope()."""
    _scopes.set(_scopes.get() + (_Place(scope, devices),))


def pop_scope() -> None:
    _scopes.set(_scopes.get()[:-1])


@contextlib.contextmanager
def use_scope(scope: Scope, *devices: DeviceRequest) -> Iterator[Scope]:
    """New nodes go to this scope inside of the `with`. `devices` are requests that it adds to those of the scope in use."""
    places = _scopes.get()
    push_scope(scope, (places[-1].devices if places else ()) + devices)
    try:
        yield scope
    finally:
        pop_scope()


def scope_in_use() -> Optional[Scope]:
    """Returns the scope of the innermost `with`, if there is one."""
    places = _scopes.get()
    return places[-1].scope if places else None


def scope_of_weights(graph: Graph) -> Scope:
    """Returns the scope for the weights of layers: that of the graph, with the devices that the scope in use requests."""
    scope = graph.scope()
    for request in _scopes.get()[-1].devices if _scopes.get() else ():
        scope = scope.with_device(request)
    return scope


def current_scope(*inputs: object) -> Scope:
    """Returns the scope in use, or else that of the graph to which one of the inputs belongs."""
    scope = scope_in_use()
    if scope is not None:
        return scope
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


def device(name_or_function: DeviceRequest) -> contextlib.AbstractContextManager[Scope]:
    """Requests a device for new nodes, such as "/cpu:0", or asks a function for it, which gets each new node with its `name`, `type`,
    `inputs`, `attribute(name)` and the `device` that scopes inside request, and returns a name instead of that, or None to keep it. What
    the name leaves open comes from the scope around. Nodes that are colocated with others are not asked about."""
    return use_scope(current_scope().with_device(name_or_function), name_or_function)


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
    """New nodes run on the device of this one, whatever device() around says."""
    return use_scope(current_scope().colocated_with(output))


def recomputed(segment: str) -> contextlib.AbstractContextManager[Scope]:
    """Gradients compute the results of new nodes again, which takes less memory and more time."""
    return use_scope(current_scope().recomputed(segment))
