"""Trainings that run files describe, as `troupe train` does them, with callbacks."""
from __future__ import annotations

import os
from typing import Any, Callable, NamedTuple, Optional, Sequence, Union

from . import _troupe
from ._settings import Path, Settings, as_list, as_paths
from .errors import FailedPreconditionError
from .model import Model, load


class EpochReport(NamedTuple):
    """What has been measured at the end of an epoch or of the training. `epochs`: how many have been completed."""

    step: int
    epochs: float
    metrics: dict[str, float]


class TrainingProgress(NamedTuple):
    """How far a training is. `loss` is the mean of the epoch so far. `last_step` is None if the run file sets no limit."""

    step: int
    last_step: Optional[int]
    epoch: int
    loss: float
    samples_per_second: float


class TrainingResult(NamedTuple):
    """`end`: "completed", "early stopped", "stopped" (by a callback) or "diverged". `metrics`: of the final model. `folder`: of the
    run, and `checkpoint`: of the last one; empty if nothing was written."""

    end: str
    steps: int
    epochs: int
    seconds: float
    loss: float
    metrics: dict[str, float]
    folder: str
    checkpoint: str

    def load(self) -> Model:
        """Loads the trained model. Raises FailedPreconditionError if nothing was written."""
        if not self.folder:
            raise FailedPreconditionError("the training wrote nothing (runs=\"\"), so there is no model to load")
        return load(self.folder)


#: They return False to end the training in order, with a checkpoint; anything else goes on.
OnEpoch = Callable[[EpochReport], Optional[bool]]
OnProgress = Callable[[TrainingProgress], Optional[bool]]
OnLog = Callable[[str], Optional[bool]]


class RunFile:
    """A run file with its settings. All mistakes in it are listed in one InvalidArgumentError."""

    def __init__(self, path: Path, settings: Settings = ()):
        self._file = _troupe.RunFile.read(os.fspath(path), as_list(settings))

    @classmethod
    def parse(cls, text: str, settings: Settings = (), folder: Path = ".", name: str = "run file") -> RunFile:
        """Takes the text of a run file. Paths in it are relative to `folder`."""
        result = cls.__new__(cls)
        result._file = _troupe.RunFile.parse(text, os.fspath(folder), as_list(settings), name)
        return result

    def effective(self) -> str:
        """Returns an equivalent run file that has the settings and all defaults."""
        return self._file.effective()

    def train(self, *, on_epoch: Optional[OnEpoch] = None, on_progress: Optional[OnProgress] = None, on_log: Optional[OnLog] = None,
              progress_interval: float = 1.0, runs: Optional[Path] = None, resume: str = "", cluster: Path = "",
              memory: int = 0) -> TrainingResult:
        """Trains until the end. `on_epoch` is called at the end of each epoch, `on_progress` after a step, once per
        `progress_interval` seconds at most, and `on_log` with lines for people. What they raise ends the training in order and is
        raised from here, and so is KeyboardInterrupt after Ctrl-C. `runs`: the folder of runs instead of run.directory; "": nothing
        is written. `resume`: "auto", the newest run of this name, or the folder of a run. `cluster`: a cluster file, whose nodes
        must be running. `memory`: the most bytes of tensors."""
        result = self._file.train(
            runs=None if runs is None else os.fspath(runs),
            resume=resume,
            cluster=os.fspath(cluster),
            memory=memory,
            on_epoch=on_epoch and (lambda *report: on_epoch(EpochReport(*report))),
            on_progress=on_progress and (lambda *progress: on_progress(TrainingProgress(*progress))),
            on_log=on_log,
            progress_interval=progress_interval,
        )
        return TrainingResult(*result)


def train(run_file: Union[Path, RunFile], settings: Settings = (), *, on_epoch: Optional[OnEpoch] = None,
          on_progress: Optional[OnProgress] = None, on_log: Optional[OnLog] = None, progress_interval: float = 1.0,
          runs: Optional[Path] = None, resume: str = "", cluster: Path = "", memory: int = 0) -> TrainingResult:
    """Trains the model of a run file; see RunFile.train(). `settings` change values of it: {"train.max_epochs": 3}."""
    if isinstance(run_file, RunFile):
        if settings:
            raise TypeError("a RunFile has its settings already")
    else:
        run_file = RunFile(run_file, settings)
    return run_file.train(on_epoch=on_epoch, on_progress=on_progress, on_log=on_log, progress_interval=progress_interval, runs=runs,
                          resume=resume, cluster=cluster, memory=memory)


def predict(path: Path, files: Union[Path, Sequence[Path]] = (), *, part: str = "", outputs: Union[str, Sequence[str]] = (),
            keep: Union[str, Sequence[str]] = (), settings: Settings = ()) -> dict[str, Any]:
    """Returns what a trained model predicts for the samples of files, as `troupe predict` does: arrays with a row for each sample, by
    the names of outputs. `path` is the folder of a run, of one of its checkpoints, or of all runs of a name. Without files the
    samples are those of a part of the run file, "train", "valid" or "test", and the result has their labels, too. `outputs`: the
    names of those to compute, by default all. `keep`: columns of the files for the result, as texts; of a
    series those of the last row of each stretch."""
    return _troupe.predict(os.fspath(path), as_paths(files), part, as_paths(outputs), as_paths(keep), as_list(settings))


def evaluate(path: Path, files: Union[Path, Sequence[Path]] = (), labels: Union[Path, Sequence[Path]] = (), part: str = "",
             settings: Settings = ()) -> dict[str, float]:
    """Returns the loss and the metrics of a trained model: the folder of a run, of one of its checkpoints, or of all runs of a name.
    The samples are those of labelled files, or of a part of the run file, "train", "valid" or "test", by default what the training
    has seen least of."""
    return _troupe.evaluate(os.fspath(path), as_paths(files), as_paths(labels), part, as_list(settings))
