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


def check_histograms():
    train("--set", "run.name=weights", "--set", "train.max_epochs=2", "--set", "observe.histograms=true")
    events = EventAccumulator("runs/weights/001", size_guidance={"histograms": 0})
    events.Reload()
    assert {"w1", "b1", "w2", "b2"} == set(events.Tags()["histograms"]), events.Tags()
    first, second = events.Histograms("w1")
    assert second.step == 2 * first.step, (first, second)
    value = second.histogram_value
    assert value.num == 6400 == sum(value.bucket) and value.min < -0.1 < 0.1 < value.max, value
    assert abs(value.bucket_limit[-1] - value.max) < 1e-9 and len(value.bucket_limit) == len(value.bucket), value


def check_images():
    train("--set", "run.name=pictures", "--set", "train.max_epochs=2", "--set", "observe.images={digit='reshape(image, [-1, 8, 8, 1])'}")
    events = EventAccumulator("runs/pictures/001", size_guidance={"images": 0})
    events.Reload()
    assert {f"digit/image/{i}" for i in range(8)} == set(events.Tags()["images"]), events.Tags()
    first, second = events.Images("digit/image/0")
    assert second.step == 2 * first.step and (first.width, first.height) == (8, 8), (first.step, second.step)
    assert first.encoded_image_string.startswith(b"\x89PNG"), first.encoded_image_string[:8]


def check_hyperparameters():
    from tensorboard.plugins.hparams import plugin_data_pb2

    events = EventAccumulator("runs/digits/001")
    events.Reload()
    content = events.SummaryMetadata("_hparams_/session_start_info").plugin_data.content
    values = plugin_data_pb2.HParamsPluginData.FromString(content).session_start_info.hparams
    assert values["train.optimizer.type"].string_value == "adam" and values["data.batch"].number_value == 64, values
    assert abs(values["train.optimizer.lr"].number_value - 5e-3) < 1e-12, values


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
        check_histograms()
        check_images()
        check_hyperparameters()
        train("--set", "run.name=silent", "--set", "train.max_epochs=1", "--set", "observe.tensorboard=false")
        assert not any(name.startswith("events") for name in os.listdir("runs/silent/001"))


if __name__ == "__main__":
    main()
