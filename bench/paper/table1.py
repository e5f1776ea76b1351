"""Prints Table 1 of the OSDI paper, the time of a training step of four convolutional networks, with Troupe's on this machine:
   python bench/paper/table1.py build/release/bench [STEPS]
Needs numpy. The batches are the paper's: 128 images, 64 for OxfordNet. A step is forward and backward without update, as
soumith/convnet-benchmarks defines it; each number of Troupe is the mean of STEPS steps (10) after one that prepares, with a thread
for each core. The paper's columns were measured on one Titan X of 2015. The last line compares rates: Troupe's multiplications and
additions a second, counted as direct convolutions do them.
"""
import os
import pathlib
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "peers"))
from models import Side, write_arrays

PAPER = {"Caffe": [324, 823, 1068, 1935], "Neon": [87, 211, 320, 270], "Torch": [81, 268, 529, 470], "TensorFlow": [81, 279, 540, 445]}
MODELS = [("alexnet", 128), ("overfeat", 128), ("oxfordnet", 64), ("googlenet", 128)]
STEP_GFLOP = [531, 2124, 2911, 1185]  # of a training step without the gradient by the images


def step_times(program, model, batch, steps):
    side = Side("Troupe", [str(program), model, str(batch), str(os.cpu_count())])
    with tempfile.TemporaryDirectory() as folder:
        arrays = pathlib.Path(folder) / "arrays"
        write_arrays(side.read(), batch, arrays)
        side.ask("load", arrays)
    times = side.ask("training", steps + 1)["seconds"][1:]
    side.end()
    return times


def main():
    program, steps = pathlib.Path(sys.argv[1]) / "models_bench", int(sys.argv[2]) if len(sys.argv) > 2 else 10
    seconds = [statistics.mean(step_times(program, model, batch, steps)) for model, batch in MODELS]
    rows = [(f"{library}, Titan X", [str(number) for number in row]) for library, row in PAPER.items()]
    rows.append((f"Troupe, {os.cpu_count()} cores", [f"{time * 1e3:.0f}" for time in seconds]))
    print("| step, ms | AlexNet | OverFeat | OxfordNet | GoogLeNet |\n|---|---|---|---|---|")
    for name, cells in rows:
        print(f"| {name} | " + " | ".join(cells) + " |")
    print("| Troupe, GFLOP/s | " + " | ".join(f"{work / time:.0f}" for work, time in zip(STEP_GFLOP, seconds)) + " |")


if __name__ == "__main__":
    main()
