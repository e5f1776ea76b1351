"""Compares the models of examples/models on a GPU with the same models in PyTorch, which take turns in one run:
   python bench/peers/gpu_models.py build/cuda/bench [--rounds N] [--numbers float,tf32,f16,bf16] [--batch N,...] [--together N]
      [--sides eager,compiled,graphs] MODEL...
Needs a Python with torch for CUDA. Every side is a process of its own with the same weights and inputs, which stay on the GPU. A step is
forward, backward and gradient descent with rate 0; its loss is fetched. With f16 or bf16, weights are float and layers compute in half or
bfloat16 (torch.autocast). The rows are prepared N at a time, which is faster where the CPU has many cores, and measured one after the
other. Each row first compares the losses. A row has the means over the rounds (minimum - maximum), because neither side waits for the end
of a step before it begins the next one; the ratio of Troupe's mean to the shortest other one; the median time of a step that fetches a
scalar; and the memory of the GPU that each process has.
"""
import argparse
import collections
import concurrent.futures
import itertools
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from models import HERE, Side, print_head, write_arrays

FRAMEWORKS = {"eager": "torch", "compiled": "torch_compiled", "graphs": "torch_graphs"}
STEPS = 20  # that a side takes in its turn

Row = collections.namedtuple("Row", "model batch numbers")  # numbers: in which the layers compute


def text(times):
    return f"{statistics.mean(times) * 1e3:.4g} ms ({min(times) * 1e3:.3g} - {max(times) * 1e3:.3g})"


def gpu_memory(side):
    """Returns how many GiB of the GPU the process has, as the driver says."""
    query = ["nvidia-smi", "--query-compute-apps=pid,used_memory", "--format=csv,noheader,nounits"]
    lines = subprocess.run(query, capture_output=True, text=True).stdout.splitlines()
    used = dict(line.split(", ") for line in lines if ", " in line)
    megabytes = used.get(str(side.process.pid), "")
    return f"{int(megabytes) / 1024:.2f}" if megabytes.isdigit() else "?"


def started(row, options, folder):
    program = pathlib.Path(options.program) / "models_bench"
    numbers = [] if row.numbers == "float" else [row.numbers]
    sides = [Side("Troupe", [str(program), row.model, str(row.batch), "4"] + numbers)]
    place = "_".join(["gpu"] + numbers)
    for name in options.sides.split(",") if options.sides else []:
        command = [sys.executable, str(HERE / "models_peer.py"), FRAMEWORKS[name], row.model, str(row.batch), "4", place]
        sides.append(Side("PyTorch, " + name, command))
    description = sides[0].read()
    for side in sides[1:]:
        side.send(json.dumps(description))
    write_arrays(description, row.batch, folder / "arrays")
    for side in sides:
        side.ask("load", folder / "arrays")
    return sides


def prepared(row, options):
    """Returns the sides of the row, which have taken their first steps, and their losses."""
    with tempfile.TemporaryDirectory() as scratch:
        sides = started(row, options, pathlib.Path(scratch))
        losses = [side.ask("loss")["loss"] for side in sides]
        for side in sides:
            side.ask("update", STEPS)
    return sides, losses


def measured(row, sides, losses, options):
    for side in sides:
        side.ask("update", STEPS)  # after the other rows
    for _ in range(options.rounds):
        for side in sides:
            side.times += side.ask("update", STEPS)["seconds"]
    nulls = [statistics.median(side.ask("null", 1000)["seconds"]) * 1e6 for side in sides]
    memory = [gpu_memory(side) for side in sides]
    for side in sides:
        side.end()
    means = [statistics.mean(side.times) for side in sides]
    ratio = f"{means[0] / min(means[1:]):.3f}" if len(sides) > 1 else ""
    spread = (max(losses) - min(losses)) / abs(losses[0])
    name = f"{row.model}, batch {row.batch}" + ("" if row.numbers == "float" else f", {row.numbers}")
    null = " / ".join(f"{time:.1f}" for time in nulls)
    return [name] + [text(side.times) for side in sides] + [ratio, null, " / ".join(memory), f"{spread:.1e}"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch", default="32")
    parser.add_argument("--numbers", default="float")
    parser.add_argument("--together", type=int, default=1)
    parser.add_argument("--sides", default="eager,compiled,graphs")
    options = parser.parse_args()
    batches = map(int, options.batch.split(","))
    rows = [Row(*row) for row in itertools.product(options.models, batches, options.numbers.split(","))]
    pool = concurrent.futures.ThreadPoolExecutor(options.together)
    for begin in range(0, len(rows), options.together):
        group = rows[begin:begin + options.together]
        for row, (sides, losses) in zip(group, list(pool.map(lambda row: prepared(row, options), group))):
            cells = measured(row, sides, losses, options)
            if row is rows[0]:
                print_head(["step"] + [side.name for side in sides] + ["ratio to the fastest other", "scalar, us", "memory, GiB", "losses differ by"])
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
