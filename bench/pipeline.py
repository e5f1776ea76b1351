#!/usr/bin/env python3
"""Measures how well two stages in two processes use two cores: python bench/pipeline.py PROGRAM [ROUNDS].

The model is a perceptron with 8 layers of 512 units, the data are the digits, a batch has 1024 samples. One process with one thread
computes both stages, or two processes with a thread each compute one stage each, with 1, 2, 4, 8 and 16 micro-batches. Rounds of all
take turns; the time of a step is the difference between long and short runs. The utilisation of n processes is the time of one
process divided by n times their time, both with as many micro-batches; 1F1B allows m / (m + 1) with m micro-batches and two stages.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

SHORT, LONG = 4, 24
LAYERS = [f"layer_{i}" for i in range(8)]


def run_file():
    examples = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "examples")
    layers = ",\n".join(f'{{ type = "dense", name = "{name}", units = 512, activation = "relu" }}' for name in LAYERS)
    return f"""
run = {{ name = "pipeline", seed = 7 }}
[data]
format = "csv"
train = ["{examples}/digits.csv"]
label = "last"
scale = 0.0625
batch = 1024
[model]
layers = [{layers}, {{ type = "dense", name = "logits", units = 10 }}]
[model.graph]
loss = "mean(sparse_softmax_cross_entropy_with_logits(logits, label))"
[train]
loss = "loss"
optimizer = {{ type = "sgd", lr = 1e-3 }}
max_steps = 1000
"""


def seconds(program, path, steps, options):
    command = [program, "train", path, "--json", "--dry-run", str(steps)] + options
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["seconds"]


def step_time(program, path, options):
    return (seconds(program, path, LONG, options) - seconds(program, path, SHORT, options)) / (LONG - SHORT)


def main():
    program, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    stages = "model.stages=" + json.dumps([LAYERS[:4], LAYERS[4:]])
    times = {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "pipeline.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(run_file())
        for _ in range(rounds):
            for parts in (1, 2, 4, 8, 16):
                common = ["--set", f"train.micro_batches={parts}"]
                alone = common + ["--set", "run.threads=1"]
                apart = common + ["--set", stages, "--local", "worker=2", "--set", "run.threads=2"]
                times.setdefault((parts, 1), []).append(step_time(program, path, alone))
                times.setdefault((parts, 2), []).append(step_time(program, path, apart))
    print("| micro-batches | one process | two processes | utilisation | m / (m + 1) |\n|---|---|---|---|---|")
    for parts in (1, 2, 4, 8, 16):
        one, two = (statistics.median(times[parts, processes]) for processes in (1, 2))
        print(f"| {parts} | {one * 1e3:.1f} ms | {two * 1e3:.1f} ms | {one / two / 2:.2f} | {parts / (parts + 1):.2f} |")


if __name__ == "__main__":
    main()
