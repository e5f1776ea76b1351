"""Compares the models of examples/models with the same models in TensorFlow and PyTorch, which take turns in one run:
   python bench/peers/models.py build/release/bench [ROUNDS [MODEL|training|inference...]]
Needs a virtual environment with tensorflow-cpu. TORCH=PYTHON names the interpreter of an environment with torch; without it the columns of
PyTorch are left out. Every side is a process of its own with two threads and the same weights and images. Each row of training first
compares the losses and the gradients, in other processes. A row has the medians over the rounds (minimum - maximum), the ratio of
Troupe's median to the fastest other one, and the most memory that each process has had. Training is a step forward and backward without update, as convnet-benchmarks defines
it; BATCH=N sets its batch (32).
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy

HERE = pathlib.Path(__file__).parent
THREADS = 2
TRAINED = ["alexnet", "overfeat", "oxfordnet", "googlenet", "resnet50", "inception_v3", "lstm512", "dynamic_lstm", "transformer"]
INFERRED = ["resnet50", "inception_v3", "googlenet", "transformer"]
TURN = {"training": 1, "inference": 10}  # steps that a side takes in its turn, as a server would at batch 1


class Side:
    """A process that has a model, and its times."""

    def __init__(self, name, command):
        self.name, self.times = name, []
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        stderr=subprocess.DEVNULL if "peer" in command[1] else None,
                                        env={**os.environ, "OMP_NUM_THREADS": str(THREADS)})

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.name} has ended")
        return json.loads(line)

    def ask(self, *words):
        self.send(" ".join(map(str, words)))
        return self.read()

    def send(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def write_arrays(description, batch, path):
    """Weights of a size that keeps activations finite, and images or tokens."""
    random = numpy.random.default_rng(7)
    with open(path, "wb") as file:
        for name, dims, _ in description["weights"]:
            if name.endswith(("_weights", "_recurrent")):
                array = random.standard_normal(dims, numpy.float32) * numpy.float32((2 / numpy.prod(dims[:-1])) ** 0.5)
            else:
                array = numpy.full(dims, 1 if name.endswith(("gamma", "variance")) else 0, numpy.float32)
            file.write(array.tobytes())
        shape, tokens = (batch, *description["dims"]), description["tokens"]
        inputs = random.integers(0, tokens, shape, numpy.int32) if tokens else random.uniform(-1, 1, shape).astype(numpy.float32)
        file.write(inputs.tobytes())


def gradients(side, folder):
    path = folder / f"{side.name}.gradients".replace(" ", "_")
    side.ask("gradients", path)
    return numpy.fromfile(path, numpy.float32)


def compare(sides, folder):
    """Returns the largest relative differences: of Troupe's loss to the others', of Troupe's gradients to the others', and of the
    others' gradients among each other. The norms are those of all gradients together."""
    losses = [side.ask("loss")["loss"] for side in sides]
    arrays = [gradients(side, folder) for side in sides]

    def differs(a, b):
        return float(numpy.linalg.norm(a - b) / numpy.linalg.norm(b))

    peers = range(1, len(sides))
    return (max(abs(losses[i] - losses[0]) / abs(losses[0]) for i in peers),
            max(differs(arrays[0], arrays[i]) for i in peers),
            max([differs(arrays[i], arrays[j]) for i in peers for j in peers if i < j], default=0))


def print_head(columns):
    print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))


def text(times):
    scale = 1e3
    return f"{statistics.median(times) * scale:.4g} ms ({min(times) * scale:.3g} - {max(times) * scale:.3g})"


def started(model, batch, program, folder):
    """The sides, which have loaded the same weights and inputs."""
    sides = [Side("Troupe", [str(program), model, str(batch), str(THREADS)])]
    arguments = [str(HERE / "models_peer.py")]
    peers = [("TensorFlow", sys.executable, "tensorflow")]
    if "TORCH" in os.environ:
        peers += [("PyTorch", os.environ["TORCH"], "torch"), ("PyTorch, compiled", os.environ["TORCH"], "torch_compiled")]
    sides += [Side(name, [python, *arguments, framework, model, str(batch), str(THREADS)]) for name, python, framework in peers]
    description = sides[0].read()
    for side in sides[1:]:
        side.send(json.dumps(description))
    write_arrays(description, batch, folder / "arrays")
    for side in sides:
        side.ask("load", folder / "arrays")
    return sides


def measure(model, batch, command, program, rounds):
    differences = None
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        if command == "training":
            sides = started(model, batch, program, folder)
            differences = compare(sides, folder)
            for side in sides:
                side.end()
        sides = started(model, batch, program, folder)
    for _ in range(rounds + 1):
        for side in sides:
            side.times += side.ask(command, TURN[command])["seconds"]
    for side in sides:
        side.times = side.times[TURN[command]:]  # the first turn prepares
        side.memory = side.ask("memory")["bytes"]
        side.end()
    medians = [statistics.median(side.times) for side in sides]
    cells = [f"{model}, batch {batch}, {command}"] + [text(side.times) for side in sides]
    cells += [f"{medians[0] / min(medians[1:]):.3f}", " / ".join(f"{side.memory / 2**30:.2f}" for side in sides)]
    cells.append(", ".join(f"{part:.1e}" for part in differences) if differences else "")
    return [side.name for side in sides], cells


def main():
    program, rounds = pathlib.Path(sys.argv[1]) / "models_bench", int(sys.argv[2]) if len(sys.argv) > 2 else 5
    chosen = sys.argv[3:]
    batch = int(os.environ.get("BATCH", "32"))
    rows = [(model, batch, "training") for model in TRAINED] + [(model, 1, "inference") for model in INFERRED]
    head = False
    for model, size, command in rows:
        if chosen and model not in chosen and command not in chosen:
            continue
        names, cells = measure(model, size, command, program, rounds)
        if not head:
            columns = ["step"] + names + ["ratio to the fastest other", "peak memory, GiB", "loss, gradients, gradients among the others differ by"]
            print_head(columns)
            head = True
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
