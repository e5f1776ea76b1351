"""Trained models: those that runs and checkpoints have, and saved models of TensorFlow."""
from __future__ import annotations

import json
import math
import os
from typing import Any, Iterable, Iterator, Mapping, NamedTuple, Optional, Sequence, Union

import numpy

from . import _troupe
from ._troupe import DType

_DEFAULT = "serving_default"
_ROWS = "a list of dictionaries, a dictionary of columns, or a DataFrame"


class ModelTensor(NamedTuple):
    """A tensor that a model takes or yields."""

    dtype: DType
    shape: Optional[tuple[Optional[int], ...]]


class Signature(NamedTuple):
    """A function of a model: its inputs and outputs by name, and what kind of function it is for servers."""

    inputs: dict[str, ModelTensor]
    outputs: dict[str, ModelTensor]
    method: str


class RowColumn(NamedTuple):
    """A column of the table from which a model was trained. `type`: "number", "category", "timestamp" or "text". `values`: those of
    a category that the training has seen; others are unknown ones."""

    type: str
    may_be_missing: bool
    values: list[str]


def _tensors(table: dict[str, tuple[Any, Any]]) -> dict[str, ModelTensor]:
    return {name: ModelTensor(*tensor) for name, tensor in table.items()}


class Model:
    """A trained model. It never changes, and threads may use it at the same time. Calls take arrays by name, or in the order of the
    signature's inputs, and return a dictionary of arrays:

        model = troupe.load("runs/digits/001")
        classes = model(image=images)["class"]
    """

    def __init__(self, model: _troupe.Model):
        self._model = model
        self._known_rows: Optional[_troupe.RowModel] = None
        self.signatures = {
            name: Signature(_tensors(inputs), _tensors(outputs), method)
            for name, (inputs, outputs, method) in model.signature_table().items()
        }

    @property
    def source(self) -> str:
        """Where the values of the variables come from: the folder of a checkpoint, or of a saved model."""
        return self._model.source

    @property
    def inputs(self) -> dict[str, ModelTensor]:
        """What predict() takes."""
        return self._signature(_DEFAULT).inputs

    @property
    def outputs(self) -> dict[str, ModelTensor]:
        """What predict() yields."""
        return self._signature(_DEFAULT).outputs

    def __call__(self, *values: Any, signature: str = _DEFAULT, **named: Any) -> dict[str, Any]:
        """Computes all outputs of a signature. A single dictionary stands for arrays by name."""
        return self._model.run(self._by_name(values, named, signature), signature)

    def predict(self, *values: Any, batch: Optional[int] = None, **named: Any) -> dict[str, Any]:
        """Computes what the model predicts for samples. With `batch`, so many samples are computed at a time, which bounds the memory
        that is needed; then every input and output needs samples as its first dimension."""
        if batch is None:
            return self(*values, **named)
        return _joined([self(part) for part in _parts(self._by_name(values, named, _DEFAULT), batch)])

    def predict_rows(self, rows: Any) -> dict[str, Any]:
        """Computes what the model predicts for rows of the table from which it was trained: a list of dictionaries, a dictionary of
        columns, or a DataFrame. A row may lack the columns that `columns` says may be missing; None and NaN stand for that, too.

            model.predict_rows([{"island": "Dream", "body_mass_g": None}])["class"]
        """
        known = self.columns
        return self._rows.run("\n".join(json.dumps(row) for row in _rows_of(rows, known)))

    @property
    def columns(self) -> dict[str, RowColumn]:
        """The columns of the table from which the model was trained: what predict_rows() takes."""
        return {name: RowColumn(*column) for name, column in self._rows.column_table().items()}

    def _signature(self, name: str) -> Signature:
        self._model.require(name)  # says why, if the model has none of this name
        return self.signatures[name]

    @property
    def _rows(self) -> _troupe.RowModel:
        if self._known_rows is None:
            self._known_rows = _troupe.RowModel(self._model)
        return self._known_rows

    def _by_name(self, values: Sequence[Any], named: dict[str, Any], signature: str) -> dict[str, Any]:
        """Returns all values that a call has got, by the names of inputs."""
        if len(values) == 1 and isinstance(values[0], Mapping):
            return {**values[0], **named}
        known = list(self.signatures[signature].inputs) if values and signature in self.signatures else []
        if known and len(values) > len(known):
            raise TypeError(f"the model has {len(known)} inputs ({', '.join(known)}), but {len(values)} values were given")
        result = dict(named)
        for name, value in zip(known, values):
            if name in named:
                raise TypeError(f"the input '{name}' was given twice")
            result[name] = value
        return result

    def __repr__(self) -> str:
        return f"<troupe.Model {self.source!r} inputs={list(self.inputs)} outputs={list(self.outputs)}>"


def _parts(inputs: dict[str, Any], size: int) -> Iterator[dict[str, Any]]:
    if size < 1:
        raise ValueError(f"a batch must have at least one sample, not {size}")
    arrays = {name: numpy.asarray(value) for name, value in inputs.items()}
    counts = {len(array) for array in arrays.values()}
    if len(counts) > 1:
        raise ValueError(f"the inputs have different numbers of samples: {sorted(counts)}")
    count = counts.pop() if counts else 0
    for begin in range(0, max(count, 1), size):
        yield {name: array[begin : begin + size] for name, array in arrays.items()}


def _rows_of(rows: Any, known: dict[str, RowColumn]) -> Iterator[dict[str, Any]]:
    """Returns rows as dictionaries of what JSON has."""
    if hasattr(rows, "to_dict"):  # a DataFrame
        rows = rows.to_dict("records")
    if isinstance(rows, Mapping):
        rows = _columns_of(rows)
    if isinstance(rows, (str, bytes)) or not isinstance(rows, Iterable):
        raise TypeError(f"rows are {_ROWS}, not {rows!r}")
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise TypeError(f"rows are {_ROWS}, but row {number} is {row!r}")
        yield {str(name): _finite(_plain(value, known.get(name)), name, number) for name, value in row.items()}


def _columns_of(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns the rows of a dictionary of columns."""
    for name, values in columns.items():
        if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
            raise TypeError(f"rows are {_ROWS}, but the column {name!r} is {values!r}; one row is a list of one dictionary")
    counts = {name: len(values) for name, values in columns.items()}
    if len(set(counts.values())) > 1:
        raise ValueError(f"the columns have different numbers of rows: {counts}")
    return [dict(zip(columns, values)) for values in zip(*columns.values())]


def _finite(value: Any, name: Any, row: int) -> Any:
    if isinstance(value, float) and math.isinf(value):
        raise ValueError(f"row {row} has {value} in the column {name!r}; numbers must be finite, or NaN for a gap")
    return value


def _plain(value: Any, column: Optional[RowColumn]) -> Any:
    if hasattr(value, "item"):  # a scalar of NumPy
        value = value.item()
    if isinstance(value, bool) and column:  # as the table has it: True, true or 1
        words = [str(value), str(value).lower(), str(int(value))]
        return next((word for word in words if word in column.values), words[-1] if column.type == "number" else words[1])
    if isinstance(value, bytes):
        return value.decode()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if value != value:  # NaN, or no time
        return None
    return value if isinstance(value, float) else str(value)


def _joined(parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: numpy.concatenate([part[name] for part in parts]) for name in parts[0]}


def load(path: Union[str, os.PathLike[str]], threads: int = 0, tags: Sequence[str] = ("serve",)) -> Model:
    """Loads a trained model. `path` is the folder of a run, of one of its checkpoints, or of a saved model of TensorFlow, or one that
    contains runs or such models with numbers as names, of which the newest is loaded. `threads`: how many compute, 0: one for each
    core."""
    return Model(_troupe.load(os.fspath(path), threads, list(tags)))


def read_variables(path: Union[str, os.PathLike[str]]) -> dict[str, Any]:
    """Reads the values of the variables in a checkpoint, as arrays by name. `path` is the folder of a checkpoint, or the newest one of a
    run, a saved model, a .safetensors file, or the prefix of a checkpoint of TensorFlow. Session.assign() sets variables to them."""
    return _troupe.read_variables(os.fspath(path))


def write_variables(values: Mapping[str, Any], path: Union[str, os.PathLike[str]]) -> None:
    """Writes arrays by name to a .safetensors file, if the path ends so, to a checkpoint in a folder, if it ends in '/', else to a
    checkpoint of TensorFlow, whose prefix the path is."""
    _troupe.write_variables(dict(values), os.fspath(path))
