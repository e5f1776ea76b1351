"""Trains convolutional networks on samples that are mapped and augmented while the training runs, and on the same samples in
memory, and prints the time of a step and the part of it in which the steps wait for batches.

    python bench/input_share.py build/release/troupe [ROUNDS]

The two kinds of runs take turns. The ratio of their steps is the cost of the input as a whole: the waiting, and what the threads
that prepare batches take away from those that train.
"""
import json
import pathlib
import random
import statistics
import struct
import subprocess
import sys
import tempfile

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples"
DIGITS = (EXAMPLES / "digits_cnn.toml").read_text()
IMAGES, PIXELS = 2000, 3 * 32 * 32
MAP = """
[data.map]
label = "cast(reshape(slice(decode_raw(image, out_type='uint8'), [0], [1]), []), 'int32')"
image = "transpose(cast(reshape(slice(decode_raw(image, out_type='uint8'), [1], [3072]), [3, 32, 32]), 'float') / 255.0, [1, 2, 0])"
"""
CROP = "slice(pad(image, [[4, 4], [4, 4], [0, 0]]), random_uniform_int([3], 0, 9) * [1, 1, 0], [32, 32, 3])"
# A random shift by up to 4 pixels, a random reflection, and a random brightness.
AUGMENT = f"""
[data.augment]
image = "where(less(random_uniform([]), 0.5), reverse({CROP}, [1]), {CROP}) * random_uniform([]) * 2.0"
"""
CIFAR = """
run = { name = "cifar", seed = 1 }
[data]
DATA
batch = 64
MAP
[model]
layers = [
  { type = "conv2d", input = "INPUT", filters = 32, kernel = 3, activation = "relu" },
  { type = "conv2d", filters = 32, kernel = 3, activation = "relu" },
  { type = "max_pool2d" },
  { type = "conv2d", filters = 64, kernel = 3, activation = "relu" },
  { type = "conv2d", filters = 64, kernel = 3, activation = "relu" },
  { type = "max_pool2d" },
  { type = "flatten" },
  { type = "dense", units = 256, activation = "relu" },
  { type = "dense", units = 10 },
]
[model.graph]
loss = "mean(sparse_softmax_cross_entropy_with_logits(output, label))"
[train]
loss = "loss"
optimizer = { type = "adam", lr = 1e-3 }
max_epochs = 100
"""
STREAM = """format = "fixed"
record_bytes = 3073
train = "images"
read = "stream"
buffer = 500"""
MEMORY = """format = "idx"
train = "pixels"
train_labels = "labels"
scale = 0.00392156862745098"""


def cifar(data, mapping, image):
    return CIFAR.replace("DATA", data).replace("MAP", mapping).replace("INPUT", image)


def write_images(folder):
    """Writes images as records and as IDX files."""
    numbers = random.Random(1)
    images = [numbers.randbytes(PIXELS) for _ in range(IMAGES)]
    labels = bytes(i % 10 for i in range(IMAGES))
    (folder / "images").write_bytes(b"".join(labels[i:i + 1] + image for i, image in enumerate(images)))
    (folder / "pixels").write_bytes(struct.pack(">BBBBII", 0, 0, 8, 2, IMAGES, PIXELS) + b"".join(images))
    (folder / "labels").write_bytes(struct.pack(">BBBBI", 0, 0, 8, 1, IMAGES) + labels)


def train(program, run_file, steps):
    """Returns the milliseconds of a step, and the part of it in which it waits for its batch."""
    output = subprocess.run([program, "train", run_file, "--json", "--dry-run", str(steps)], stdout=subprocess.PIPE,
                            text=True).stdout
    result = json.loads(output)
    if "error" in result:
        sys.exit(result["error"])
    return 1000 * result["seconds"] / steps, result["input_share"]


def main():
    program, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_images(folder)
        digits = DIGITS.replace('"digits.csv"', f'"{EXAMPLES / "digits.csv"}"').replace("valid = { split = 0.2 }", "")
        digits = digits[:digits.index("metrics =")] + 'max_epochs = 100\nreplication = { mode = "sync", shards = 2 }\n'
        noise = '[data.augment]\nimage = "image + 0.1 * random_uniform([64])"\n[model]\n'
        models = {
            "digits CNN, noise added": (digits.replace("[model]\n", noise), digits, 1000),
            "CIFAR-size CNN, decoded": (cifar(STREAM, MAP, "image"), cifar(MEMORY, "", "reshape(image, [-1, 32, 32, 3])"), 31),
            "CIFAR-size CNN, decoded and augmented":
                (cifar(STREAM, MAP + AUGMENT, "image"), cifar(MEMORY, "", "reshape(image, [-1, 32, 32, 3])"), 31),
        }
        for what, (mapped, plain, steps) in models.items():
            (folder / "mapped.toml").write_text(mapped)
            (folder / "plain.toml").write_text(plain)
            taken = [[train(program, folder / f"{kind}.toml", steps) for kind in ("mapped", "plain")] for _ in range(rounds)]
            (step, share), (other, _) = ([statistics.median(run[kind][i] for run in taken) for i in (0, 1)] for kind in (0, 1))
            print(f"{what}: {step:.2f} ms a step, waiting {100 * share:.1f} %; in memory {other:.2f} ms; ratio {step / other:.3f}",
                  flush=True)


main()
