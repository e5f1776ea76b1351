"""Troupe: a distributed dataflow system. A model is a graph of operations on tensors, which sessions run:

    import troupe

    with troupe.Graph() as graph:
        x = troupe.placeholder("float32", [None, 2])
        y = troupe.ops.softmax(x @ [[1.0, 2.0], [3.0, 4.0]])
    with troupe.Session(graph) as session:
        print(session.run(y, {x: [[0.5, 0.1]]}))

docs/python.md is the manual.
"""
from ._loading import load as _load_extension

_load_extension()

from . import data, errors, input_queues, nn, ops, types
from ._graph import add_methods as _add_methods
from ._runtime import default_runtime
from ._troupe import (Callable, Cluster, DType, EventWriter, Graph, Operation, Output, PartialRun, Runtime, Scope, Session,
                      StepDescription, StepProfile, Tensor, __version__, as_dtype)
from .building import (
    assign,
    cond,
    constant,
    dense,
    gradients,
    group,
    initializer,
    placeholder,
    report_uninitialized_variables,
    trainable_variables,
    variable,
    variables,
    while_loop,
)
from .data import Dataset, dataset
from .errors import (
    AbortedError,
    AlreadyExistsError,
    CancelledError,
    Code,
    DataLossError,
    DeadlineExceededError,
    Error,
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    OutOfRangeError,
    PermissionDeniedError,
    ResourceExhaustedError,
    UnavailableError,
    UnimplementedError,
    UnknownError,
)
from .functional import case, foldl, foldr, map_fn, scan, switch_case
from .functions import custom_gradient, py_function
from .model import Model, RowColumn, load, read_variables, write_variables
from .scopes import (colocate_with, control_dependencies, current_graph, device, name_scope, recomputed,
                     replica_device_setter)
from .training import EpochReport, RunFile, TrainingProgress, TrainingResult, evaluate, predict, train

_add_methods()

float16, float32, float64, bfloat16 = DType.float16, DType.float32, DType.float64, DType.bfloat16
int8, int16, int32, int64 = DType.int8, DType.int16, DType.int32, DType.int64
uint8, uint16, uint32, uint64 = DType.uint8, DType.uint16, DType.uint32, DType.uint64
complex64, complex128 = DType.complex64, DType.complex128
string, bool = DType.string, DType.bool  # noqa: A001: as in TensorFlow

__all__ = [
    "AbortedError", "AlreadyExistsError", "as_dtype", "assign", "bfloat16", "Callable", "CancelledError", "case",
    "Cluster", "Code", "colocate_with", "complex128", "complex64", "cond", "constant", "control_dependencies",
    "current_graph", "custom_gradient", "data", "DataLossError", "Dataset", "dataset", "DeadlineExceededError", "default_runtime", "dense",
    "device", "DType", "EpochReport", "Error", "errors", "evaluate", "EventWriter", "FailedPreconditionError", "float16", "float32",
    "float64", "foldl", "foldr", "gradients", "Graph", "group", "initializer", "input_queues", "int16", "int32", "int64", "int8",
    "InternalError", "InvalidArgumentError", "load", "map_fn", "Model", "name_scope", "nn", "NotFoundError", "Operation",
    "ops", "OutOfRangeError", "Output", "PartialRun", "PermissionDeniedError", "placeholder", "predict", "py_function", "read_variables", "recomputed",
    "replica_device_setter", "report_uninitialized_variables", "ResourceExhaustedError", "RowColumn", "RunFile", "Runtime", "scan", "Scope", "Session", "StepDescription", "StepProfile", "string",
    "switch_case", "Tensor", "train", "trainable_variables", "TrainingProgress", "TrainingResult", "types", "uint16",
    "uint32", "uint64", "uint8", "UnavailableError", "UnimplementedError", "UnknownError", "variable", "variables",
    "while_loop", "write_variables",
]
