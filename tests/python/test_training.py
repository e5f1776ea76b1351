"""Trainings of run files with callbacks."""
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import troupe

DIGITS = pathlib.Path(__file__).parent.parent.parent / "examples" / "digits.toml"


def settings(tmp_path, **more):
    return {"run.directory": str(tmp_path), "train.max_epochs": 3, **{key.replace("__", "."): value for key, value in more.items()}}


def test_train_load_and_evaluate(tmp_path):
    epochs, lines, steps = [], [], []
    result = troupe.train(DIGITS, settings(tmp_path), on_epoch=epochs.append, on_log=lines.append, on_progress=steps.append,
                          progress_interval=0)
    assert (result.end, result.epochs, result.folder) == ("completed", 3, str(tmp_path / "digits" / "001"))
    assert [report.epochs for report in epochs] == [1, 2, 3] and list(epochs[0].metrics)[0] == "train/loss"
    assert epochs[2].metrics["train/loss"] < epochs[0].metrics["train/loss"] and epochs[2].step == result.steps
    assert steps[-1].epoch == 3 and steps[-1].last_step is not None and lines
    assert json.loads((tmp_path / "digits" / "001" / "result.json").read_text())["steps"] == result.steps

    scores = troupe.evaluate(tmp_path / "digits", part="valid")
    assert scores["accuracy"] > 0.8 or scores["valid/accuracy"] > 0.8
    table = DIGITS.parent / "digits.csv"
    assert troupe.evaluate(result.folder, table) == troupe.evaluate(result.folder, [str(table)])
    model = result.load()
    assert troupe.load(tmp_path / "digits").source == model.source  # of all runs of a name the newest one
    samples = troupe.dataset(DIGITS, "valid", batch=16)
    batch = next(iter(samples))
    assert np.mean(model(batch["image"])["class"] == batch["label"]) > 0.5
    np.testing.assert_array_equal(model.predict(batch["image"], batch=5)["class"], model(image=batch["image"])["class"])


def test_a_callback_ends_the_training(tmp_path):
    result = troupe.train(DIGITS, settings(tmp_path), on_epoch=lambda report: report.epochs < 2)
    assert (result.end, result.epochs) == ("stopped", 2) and os.path.isdir(result.checkpoint)
    other = troupe.train(DIGITS, settings(tmp_path / "numpy"), on_epoch=lambda report: np.float32(report.epochs) < 2)
    assert (other.end, other.epochs) == ("stopped", 2)
    resumed = troupe.train(DIGITS, settings(tmp_path), resume="auto")
    assert (resumed.end, resumed.epochs, resumed.folder) == ("completed", 3, result.folder)


@pytest.mark.parametrize("callback", ["on_epoch", "on_progress", "on_log"])
def test_what_a_callback_raises_is_raised(tmp_path, callback):
    calls = []

    def fail(argument):
        calls.append(argument)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        troupe.train(DIGITS, settings(tmp_path), progress_interval=0, **{callback: fail})
    assert len(calls) == 1


def test_nothing_is_written_without_a_folder(tmp_path):
    run_file = troupe.RunFile(DIGITS, settings(tmp_path, train__max_epochs=1))
    assert "max_epochs = 1" in run_file.effective()
    result = troupe.train(run_file, runs="")
    assert result.epochs == 1 and result.folder == "" and list(tmp_path.iterdir()) == []
    with pytest.raises(troupe.FailedPreconditionError, match="wrote nothing"):
        result.load()


def test_run_files_as_text(tmp_path):
    run_file = troupe.RunFile.parse(DIGITS.read_text(), settings(tmp_path, train__max_epochs=1), folder=DIGITS.parent)
    assert run_file.train(runs=tmp_path / "other").folder.startswith(str(tmp_path / "other"))


def test_mistakes_in_run_files(tmp_path):
    with pytest.raises(troupe.InvalidArgumentError, match="max_epoch"):
        troupe.train(DIGITS, {"train.max_epoch": 3})
    with pytest.raises(troupe.InvalidArgumentError, match="none.toml"):
        troupe.train("none.toml")
    with pytest.raises(TypeError, match="dictionary or a list"):
        troupe.train(DIGITS, "train.max_epochs=3")
    with pytest.raises(TypeError, match="setting"):
        troupe.train(DIGITS, {"train.max_epochs": object()})
    with pytest.raises(troupe.Error):
        troupe.evaluate(DIGITS.parent)
    folder = troupe.train(DIGITS, settings(tmp_path, train__max_epochs=1)).folder
    with pytest.raises(troupe.InvalidArgumentError, match="no part 'tset'.*train, valid or test.*nearest is 'test'"):
        troupe.evaluate(folder, part="tset")


def test_settings_of_every_type():
    from troupe._settings import as_list

    assert as_list({"a": True, "b": 1.5, "c": 'x"\n', "d": [1, "y"], "e": {"f": np.int64(2), "g h": []}}) == [
        "a=true", "b=1.5", 'c="x\\"\\n"', 'd=[1, "y"]', 'e={ f = 2, "g h" = [] }']
    assert as_list({"a": np.float64([1, 2.5]), "b": pathlib.Path("c/d")}) == ["a=[1.0, 2.5]", 'b="c/d"']
    assert as_list(["a=1"]) == ["a=1"]
    with pytest.raises(TypeError, match="keys of a setting must be texts, but one is 0"):
        as_list({"train.class_weights": {0: 1, 1: 2}})


INTERRUPTED = f"""
import os, signal, sys, threading, troupe
def first(progress):
    if progress.step == 5:
        os.kill(os.getpid(), signal.SIGINT)
try:
    troupe.train({str(DIGITS)!r}, {{"run.directory": sys.argv[1], "train.max_epochs": 100000, "train.early_stop.patience": 100000}},
                 on_progress=first if sys.argv[2] == "callback" else None, progress_interval=0)
except KeyboardInterrupt:
    print("interrupted")
print(len(os.listdir(sys.argv[1] + "/digits/001")) > 0)
"""


@pytest.mark.parametrize("where", ["callback", "step"])
def test_ctrl_c_ends_the_training_in_order(tmp_path, where):
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED, str(tmp_path), where], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
    if where == "step":
        metrics = tmp_path / "digits" / "001" / "metrics.jsonl"
        while not (metrics.exists() and metrics.stat().st_size > 0) and process.poll() is None:
            pass
        process.send_signal(2)
    out, err = process.communicate(timeout=60)
    assert out.split() == ["interrupted", "True"], err
