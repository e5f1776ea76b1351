#!/usr/bin/env python3
"""The event files of a run: TensorBoard reads in them what metrics.jsonl says, and the graph of the model.

  tensorboard_test.py PROGRAM SOURCE_DIR
"""
import json
import os
import subprocess
import sys
import tempfile

try:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
except ImportError as error:
    print(f"skipped: {error} (tests/requirements.txt)")
    sys.exit(77)

PROGRAM, SOURCE = (os.path.abspath(argument) for argument in sys.argv[1:3])


def train(*arguments):
    subprocess.run([PROGRAM, "train", os.path.join(SOURCE, "examples", "digits.toml"), "-q", *arguments], check=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        train("--set", "train.max_epochs=3")
        train("--set", "train.max_epochs=5", "--resume", "auto")  # a second file in the same folder
        events = EventAccumulator("runs/digits/001")
        events.Reload()
        with open("runs/digits/001/metrics.jsonl", encoding="utf-8") as file:
            records = [json.loads(line) for line in file]
        assert len(records) == 5
        for tag in ["train/loss", "valid/loss", "valid/accuracy"]:
            scalars = events.Scalars(tag)
            assert [one.step for one in scalars] == [record["step"] for record in records], scalars
            for one, record in zip(scalars, records):
                assert abs(one.value - record[tag]) < 1e-6 * max(1, abs(record[tag])), (tag, one, record)
        names = {node.name for node in events.Graph().node}
        assert {"image", "w1", "logits", "probabilities"} <= names, names
        train("--set", "run.name=silent", "--set", "train.max_epochs=1", "--set", "observe.tensorboard=false")
        assert not any(name.startswith("events") for name in os.listdir("runs/silent/001"))


if __name__ == "__main__":
    main()
