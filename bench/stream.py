"""Trains a perceptron on generated images that stay in their files (data.read = "stream"), through a cache (data.cache = "file"), from
compressed shards, and on the first images in memory, and prints the time of a step and the peak memory.

    python bench/stream.py build/release/troupe [GIGABYTES] [STEPS]
"""
import pathlib
import resource
import struct
import shutil
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


def compress(folder, tool, ending):
    """Cuts the images and labels into ten shards and compresses each."""
    count = struct.unpack(">I", open(folder / "labels", "rb").read(8)[4:])[0] // 10
    for name, size, rest in (("images", IMAGE, struct.pack(">II", 28, 28)), ("labels", 1, b"")):
        with open(folder / name, "rb") as whole:
            whole.seek(8 + len(rest))
            for shard in range(10):
                path = folder / f"{name}-{shard}"
                rank = b"\3" if rest else b"\1"
                path.write_bytes(b"\0\0\x08" + rank + struct.pack(">I", count) + rest + whole.read(count * size))
                subprocess.run([tool, "-q", "-1", str(path)], check=True)
                path.unlink(missing_ok=True)
        (folder / name).unlink()
    return [f"data.train={folder}/images-*{ending}", f"data.train_labels={folder}/labels-*{ending}"]


def train(program, folder, read, steps, more=()):
    """Returns the milliseconds of a step, and the peak memory in MiB."""
    keys = (f"data.read={read}", f"train.max_steps={steps}", f"run.directory={folder / 'runs'}", *more)
    output = subprocess.run([program, "train", folder / "run.toml", "--json", *(f"--set={key}" for key in keys)], check=True,
                            capture_output=True, text=True).stdout
    seconds = float(output.split('"seconds":')[1].split(",")[0].strip(" }\n"))
    return 1000 * seconds / steps, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def main():
    gigabytes, steps = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((2, 10), (3, 4000)))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "run.toml").write_text(RUN)
        images = gigabytes * 10**9 // IMAGE // 10_000 * 10_000

        def measure(what, read, more=()):
            step, memory = train(sys.argv[1], folder, read, steps, more)
            print(f"{what}: {step:.2f} ms a step; peak memory of the runs so far {memory:.0f} MiB", flush=True)

        write_images(folder, images)
        measure(f"stream of {gigabytes} GB", "stream")
        write_images(folder, images // 40_000 * 10_000)
        measure(f"stream through a cache of {gigabytes} GB", "stream", ["data.cache=file"])
        measure(f"stream from the cache of {gigabytes} GB", "stream", ["data.cache=file"])
        shutil.rmtree(folder / "runs")
        write_images(folder, IN_MEMORY)
        measure(f"stream of {IN_MEMORY} images", "stream")
        for tool, ending in (("gzip", ".gz"), ("zstd", ".zst")):
            measure(f"stream of {IN_MEMORY} images in ten files of {tool}", "stream", compress(folder, tool, ending))
            write_images(folder, IN_MEMORY)
        measure(f"{IN_MEMORY} images in memory", "whole")


main()
