"""Samples as iterators."""
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import troupe

EXAMPLES = pathlib.Path(__file__).parent.parent.parent / "examples"


def test_the_samples_of_a_run_file():
    samples = troupe.dataset(EXAMPLES / "digits.toml", batch=100)
    assert samples.columns["image"] == (troupe.float32, (64,)) and samples.columns["label"].shape == ()
    batches = list(samples)
    assert len(batches) == len(samples) and sum(len(batch["label"]) for batch in batches) == samples.samples
    assert batches[0]["image"].shape == (100, 64) and batches[0]["image"].max() <= 1
    held_out = troupe.dataset(EXAMPLES / "digits.toml", "valid")
    assert samples.samples + held_out.samples == 1797 and len(next(iter(held_out))["label"]) == 64


def test_orders_follow_from_seeds():
    def labels(seed, epochs=2):
        samples = troupe.dataset(EXAMPLES / "digits.toml", shuffle=True, seed=seed)
        return [np.concatenate([batch["label"] for batch in samples]) for _ in range(epochs)]

    first, second = labels(1)
    assert not np.array_equal(first, second) and sorted(first) == sorted(second)
    np.testing.assert_array_equal(first, labels(1)[0])
    assert not np.array_equal(first, labels(2)[0])
    samples = troupe.dataset(EXAMPLES / "digits.toml", shuffle=True, seed=1)
    np.testing.assert_array_equal(second, np.concatenate([batch["label"] for batch in samples.epoch(1)]))


def test_ragged_columns():
    batch = next(iter(troupe.dataset(EXAMPLES / "reviews.toml", batch=3)))
    splits = batch["words_splits"]
    assert len(splits) == 4 and splits[0] == 0 and splits[-1] == len(batch["words"])


def test_tables(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("".join(f"{i},{2 * i},{i % 3}\n" for i in range(10)))
    samples = troupe.data.csv(table, label="last", batch=4, map={"twice": "image * 2.0"})
    assert "twice" in samples.columns and [len(batch["label"]) for batch in samples] == [4, 4, 2]
    everything = samples.arrays()
    np.testing.assert_array_equal(everything["image"], [[i, 2 * i] for i in range(10)])
    np.testing.assert_array_equal(everything["twice"], everything["image"] * 2)
    np.testing.assert_array_equal(everything["label"], np.arange(10) % 3)


def test_arrays_in_memory(tmp_path):
    images, labels = np.arange(20, dtype=np.float32).reshape(10, 2), np.arange(10)
    samples = troupe.data.arrays({"image": images, "label": labels, "word": [f"{i}" for i in range(10)]}, batch=4)
    assert samples.columns["image"] == (troupe.float32, (2,)) and samples.samples == 10
    assert [batch["label"].tolist() for batch in samples] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert next(iter(samples))["word"].tolist() == [b"0", b"1", b"2", b"3"]
    np.savez(tmp_path / "a.npz", image=images, label=labels)
    files = troupe.data.files(tmp_path / "a.npz", batch=3, shuffle=True, seed=5)
    shuffled = troupe.data.arrays({"image": images, "label": labels}, batch=3, shuffle=True, seed=5)
    for ours, theirs in zip(shuffled, files, strict=True):         # the same order as that of files
        assert ours["label"].tolist() == theirs["label"].tolist() and ours["image"][:, 0].tolist() == (2 * ours["label"]).tolist()
    for mistake, told in [({}, "at least one column"), ({"a": 1.0}, "'a' is no tensor"), ({"": [1]}, "not be empty"),
                          ({"a": [1, 2], "b": [1]}, "the column 'b' has 1 samples, and 'a' has 2")]:
        with pytest.raises(troupe.InvalidArgumentError, match=told):
            troupe.data.arrays(mistake)


def test_columns_may_have_any_names(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("w,loss,y\n1,2,0\n3,4,1\n")
    samples = troupe.data.csv(table, header=True, label="y", columns={"w": {"type": "number", "input": "w"}, "loss": "number"})
    assert samples.arrays()["w"].ravel().tolist() == [1, 3]


def test_arrays_in_files(tmp_path):
    np.savez(tmp_path / "a.npz", image=np.arange(12, dtype=np.float32).reshape(6, 2), label=np.arange(6))
    assert troupe.data.files(tmp_path / "a.npz", batch=6).arrays()["image"].tolist() == np.arange(12).reshape(6, 2).tolist()


def test_batches_can_be_fed(session):
    x = troupe.placeholder("float32", [None, 64])
    total = troupe.ops.sum(x)
    for batch in troupe.dataset(EXAMPLES / "digits.toml"):
        assert session.run(total, {x: batch["image"]}) == pytest.approx(batch["image"].sum(), rel=1e-4)


FORKED = """
import os, sys, troupe
def opened(**keys):
    return troupe.data.csv(sys.argv[1], label="last", batch=4, **keys)
whole, ahead = opened(), [opened(read="stream"), opened(map={"twice": "image * 2.0"})]
for samples in [whole, *ahead]:
    next(iter(samples))
child = os.fork()
if child == 0:
    assert len(list(whole)) == 3 and len(whole.arrays()["label"]) == 10
    for samples in ahead:
        for use in (lambda: next(iter(samples)), samples.arrays):
            try:
                use()
                sys.exit(1)
            except troupe.FailedPreconditionError as error:
                assert "forked" in str(error)
        assert samples.samples == 10 and len(samples) == 3
    del samples, ahead  # waits for no thread of the parent
    assert len(list(opened(read="stream"))) == 3
    sys.exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert [len(list(samples)) for samples in ahead] == [3, 3]
"""


def test_forked_processes(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("".join(f"{i},{2 * i},{i % 3}\n" for i in range(10)))
    done = subprocess.run([sys.executable, "-c", FORKED, str(table)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_mistakes(tmp_path):
    with pytest.raises(troupe.InvalidArgumentError, match="test"):
        troupe.dataset(EXAMPLES / "digits.toml", "test")
    with pytest.raises(troupe.InvalidArgumentError, match="-1"):
        troupe.dataset(EXAMPLES / "digits.toml", batch=-1)
    with pytest.raises(troupe.InvalidArgumentError, match="batch"):
        troupe.data.csv(tmp_path / "none.csv", batch=0)
    with pytest.raises(ValueError, match="a seed must be at least 0, not -3"):
        troupe.dataset(EXAMPLES / "digits.toml", seed=-3)
    with pytest.raises(ValueError, match="no epoch -1"):
        troupe.dataset(EXAMPLES / "digits.toml").epoch(-1)
    with pytest.raises(troupe.Error, match="none.csv"):
        troupe.data.csv(tmp_path / "none.csv")
    (tmp_path / "bad.csv").write_text("1,2\n3\n")
    with pytest.raises(troupe.Error, match="bad.csv"):
        list(troupe.data.csv(tmp_path / "bad.csv", label="last"))
    with pytest.raises(troupe.InvalidArgumentError, match="delimeter"):
        troupe.data.csv(tmp_path / "bad.csv", delimeter=";")
