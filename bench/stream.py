"""Trains a perceptron on generated images that stay in their files (data.read = "stream"), and on the first of them in memory, and
prints the time of a step and the peak memory.

    python bench/stream.py build/release/troupe [GIGABYTES] [STEPS]
"""
import pathlib
import resource
import struct
import subprocess
import sys
import tempfile

IMAGE, IN_MEMORY = 784, 60_000

RUN = """
[data]
format = "idx"
train = "images"
train_labels = "labels"
scale = 0.00392
batch = 256
[model]
layers = [{ type = "dense", units = 100, activation = "relu" }, { type = "dense", units = 10 }]
[model.graph]
loss = "mean(sparse_softmax_cross_entropy_with_logits(output, label))"
[train]
loss = "loss"
optimizer = { type = "adam", lr = 1e-3 }
"""


def write_images(folder, count):
    """Writes `count` images and labels as IDX files; the first pixel of an image tells its label."""
    bodies = [bytes([label * 25]) + bytes((7 * i + label) % 256 for i in range(1, IMAGE)) for label in range(10)]
    block = b"".join(bodies) * 100
    with open(folder / "images", "wb") as images, open(folder / "labels", "wb") as labels:
        images.write(struct.pack(">BBBBIII", 0, 0, 8, 3, count, 28, 28))
        labels.write(struct.pack(">BBBBI", 0, 0, 8, 1, count) + bytes(i % 10 for i in range(10)) * (count // 10))
        for _ in range(count // 1000):
            images.write(block)


def train(program, folder, read, steps):
    """Returns the milliseconds of a step, and the peak memory in MiB."""
    output = subprocess.run(
        [program, "train", folder / "run.toml", "--json", "--set", f"data.read={read}", "--set", f"train.max_steps={steps}",
         "--set", f"run.directory={folder / 'runs'}"], check=True, capture_output=True, text=True).stdout
    seconds = float(output.split('"seconds":')[1].split(",")[0].strip(" }\n"))
    return 1000 * seconds / steps, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def main():
    gigabytes, steps = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((2, 10), (3, 4000)))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "run.toml").write_text(RUN)
        for what, read, count in ((f"stream of {gigabytes} GB", "stream", gigabytes * 10**9 // IMAGE // 1000 * 1000),
                                  (f"stream of {IN_MEMORY} images", "stream", IN_MEMORY),
                                  (f"{IN_MEMORY} images in memory", "whole", IN_MEMORY)):
            write_images(folder, count)
            step, memory = train(sys.argv[1], folder, read, steps)
            print(f"{what}: {step:.2f} ms a step; peak memory of the runs so far {memory:.0f} MiB", flush=True)


main()
