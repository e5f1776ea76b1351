"""Compares the models of examples/models on a GPU with the same models in PyTorch, which take turns in one run:
   python bench/peers/gpu_models.py build/cuda/bench [--rounds N] [--tf32|--f16|--bf16] [--batch N,...] [--sides eager,compiled,graphs] MODEL...
Needs a Python with torch for CUDA. Every side is a process of its own with the same weights and inputs, which stay on the GPU. A step is
forward, backward and gradient descent with rate 0; its loss is fetched. With --f16 or --bf16, weights are float and layers compute
in half or bfloat16 (torch.autocast). Each row first compares the losses. A row has the means over the rounds (minimum - maximum), because neither side waits for the end of a step before it begins the next one; the ratio of Troupe's mean
to the shortest other one; the median time of a step that fetches a scalar; and the memory of the GPU that each process has.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from models import HERE, Side, print_head, write_arrays

FRAMEWORKS = {"eager": "torch", "compiled": "torch_compiled", "graphs": "torch_graphs"}
NUMBERS = ("tf32", "f16", "bf16")  # in which the layers compute, instead of in float
STEPS = 20  # that a side takes in its turn


def text(times):
    return f"{statistics.mean(times) * 1e3:.4g} ms ({min(times) * 1e3:.3g} - {max(times) * 1e3:.3g})"


def gpu_memory(side):
    """Returns how many GiB of the GPU the process has, as the driver says."""
    query = ["nvidia-smi", "--query-compute-apps=pid,used_memory", "--format=csv,noheader,nounits"]
    lines = subprocess.run(query, capture_output=True, text=True).stdout.splitlines()
    used = dict(line.split(", ") for line in lines if ", " in line)
    megabytes = used.get(str(side.process.pid), "")
    return f"{int(megabytes) / 1024:.2f}" if megabytes.isdigit() else "?"


def numbers_of(options):
    return [name for name in NUMBERS if getattr(options, name)]


def started(model, batch, options, folder):
    program = pathlib.Path(options.program) / "models_bench"
    numbers = numbers_of(options)
    sides = [Side("Troupe", [str(program), model, str(batch), "4"] + numbers)]
    place = "_".join(["gpu"] + numbers)
    for name in options.sides.split(",") if options.sides else []:
        command = [sys.executable, str(HERE / "models_peer.py"), FRAMEWORKS[name], model, str(batch), "4", place]
        sides.append(Side("PyTorch, " + name, command))
    description = sides[0].read()
    for side in sides[1:]:
        side.send(json.dumps(description))
    write_arrays(description, batch, folder / "arrays")
    for side in sides:
        side.ask("load", folder / "arrays")
    return sides


def measure(model, batch, options):
    with tempfile.TemporaryDirectory() as scratch:
        sides = started(model, batch, options, pathlib.Path(scratch))
        losses = [side.ask("loss")["loss"] for side in sides]
        for _ in range(options.rounds + 1):
            for side in sides:
                side.times += side.ask("update", STEPS)["seconds"]
    nulls = [statistics.median(side.ask("null", 1000)["seconds"]) * 1e6 for side in sides]
    memory = [gpu_memory(side) for side in sides]
    for side in sides:
        side.times = side.times[STEPS:]  # the first turn prepares
        side.end()
    means = [statistics.mean(side.times) for side in sides]
    ratio = f"{means[0] / min(means[1:]):.3f}" if len(sides) > 1 else ""
    spread = (max(losses) - min(losses)) / abs(losses[0])
    cells = [f"{model}, batch {batch}{''.join(', ' + name for name in numbers_of(options))}"] + [text(side.times) for side in sides]
    null = " / ".join(f"{time:.1f}" for time in nulls)
    return cells + [ratio, null, " / ".join(memory), f"{spread:.1e}"], [side.name for side in sides]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch", default="32")
    numbers = parser.add_mutually_exclusive_group()
    for name in NUMBERS:
        numbers.add_argument("--" + name, action="store_true")
    parser.add_argument("--sides", default="eager,compiled,graphs")
    options = parser.parse_args()
    head = False
    for model in options.models:
        for batch in map(int, options.batch.split(",")):
            cells, names = measure(model, batch, options)
            if not head:
                columns = ["step"] + names + ["ratio to the fastest other", "scalar, us", "memory, GiB", "losses differ by"]
                print_head(columns)
                head = True
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
