"""Samples batch by batch: those of run files as a training gets them, of files, or of arrays."""
from __future__ import annotations

import os
from typing import Any, Iterator, Mapping, Optional, Sequence, Union

from . import _troupe
from ._settings import Path, Settings, as_list, as_paths, as_toml
from .model import ModelTensor

# Run files describe a model, too, which samples do not need. Its names are none that columns have.
_MODEL = """
[model.variables]
troupe_unused_weight = { shape = [1], init = "zeros" }
[model.graph]
troupe_unused_loss = "sum(troupe_unused_weight)"
[train]
loss = "troupe_unused_loss"
optimizer = { type = "sgd", lr = 1.0 }
max_steps = 1
"""


class Dataset:
    """Samples, batch by batch. Each iteration is one epoch; with `shuffle` it has an order of its own. A batch is a dictionary of
    arrays, whose first dimension is that of the samples. A ragged column has its elements, and NAME_splits says where samples end.

        for batch in troupe.dataset("digits.toml", batch=32, shuffle=True):
            step(batch["image"], batch["label"])
    """

    def __init__(self, samples: _troupe.Samples, batch: int, shuffle: Optional[bool], seed: Optional[int]):
        if seed is not None and seed < 0:
            raise ValueError(f"a seed must be at least 0, not {seed}")
        self._samples = samples
        self._batches = samples.batches(batch, shuffle, seed)
        self._next_epoch = 0

    @property
    def columns(self) -> dict[str, ModelTensor]:
        """The type and the shape of a sample in each column."""
        return {name: ModelTensor(*column) for name, column in self._samples.columns.items()}

    @property
    def samples(self) -> int:
        """The number of samples."""
        return len(self._samples)

    def __len__(self) -> int:
        """The number of batches of an epoch."""
        return self._batches.per_epoch

    def __iter__(self) -> Iterator[dict[str, Any]]:
        epoch, self._next_epoch = self._next_epoch, self._next_epoch + 1
        return self.epoch(epoch)

    def epoch(self, number: int) -> Iterator[dict[str, Any]]:
        """Returns the batches of an epoch, which are the same each time. Epochs are counted from 0."""
        if number < 0:
            raise ValueError(f"epochs are counted from 0, so there is no epoch {number}")
        return self._epoch(number)

    def _epoch(self, number: int) -> Iterator[dict[str, Any]]:
        for i in range(len(self)):
            yield self._batches.at(number * len(self) + i)

    def arrays(self) -> dict[str, Any]:
        """Returns all samples as one batch, in the order of the files."""
        return self._samples.batches(max(self.samples, 1), False, None).at(0)

    def __repr__(self) -> str:
        return f"<troupe.Dataset {self.samples} samples, {len(self)} batches, columns={list(self.columns)}>"


def dataset(run_file: Path, part: str = "train", *, batch: int = 0, shuffle: Optional[bool] = None,
            seed: Optional[int] = None, settings: Settings = ()) -> Dataset:
    """Opens the samples of a run file as its model gets them. `part`: "train" or "valid". `batch`: the number of samples of a batch,
    0: data.batch of the run file. `shuffle`: whether each epoch has an order of its own; None: as the run file says. `seed`: of the
    orders, by default run.seed."""
    return Dataset(_troupe.Samples.read(os.fspath(run_file), part, as_list(settings)), batch, shuffle, seed)


def files(paths: Union[Path, Sequence[Path]], *, format: Optional[str] = None, batch: int = 32, shuffle: bool = False,
          seed: Optional[int] = None, **keys: Any) -> Dataset:
    """Opens files of samples: csv, idx, npy, npz, tfrecord, images and so on, by their endings unless `format` says it. `keys` are
    those that [data] of a run file has, such as label="last", delimiter=";", read="stream", map={"image": "image / 16.0"}."""
    names = [os.path.abspath(path) for path in as_paths(paths)]
    data: Mapping[str, Any] = {"format": format or _format_of(names[0]), "train": names, "batch": batch, **keys}
    text = "[data]\n" + "".join(f"{key} = {as_toml(value)}\n" for key, value in data.items()) + _MODEL
    return Dataset(_troupe.Samples.parse(text, "train", ".", [], "samples"), batch, shuffle, seed)


def arrays(columns: Mapping[str, Any], *, batch: int = 32, shuffle: bool = False, seed: Optional[int] = None) -> Dataset:
    """Makes samples of arrays [samples, ...] by name, which are not copied."""
    return Dataset(_troupe.Samples.from_arrays(dict(columns)), batch, shuffle, seed)


def csv(paths: Union[Path, Sequence[Path]], *, batch: int = 32, shuffle: bool = False, seed: Optional[int] = None,
        **keys: Any) -> Dataset:
    """Opens tables; see files()."""
    return files(paths, format="csv", batch=batch, shuffle=shuffle, seed=seed, **keys)


def _format_of(path: str) -> str:
    stem, ending = os.path.splitext(path)
    if ending in (".gz", ".zst"):
        ending = os.path.splitext(stem)[1]
    return {".tsv": "csv"}.get(ending, ending[1:]) or "images"
