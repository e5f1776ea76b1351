"""Measures the images per second of Inception-v3 against the number of workers, asynchronous and synchronous, as OSDI 2016, figure 7:
   python bench/paper/inception.py build/release/troupe [IMAGES [ROUNDS [SIZE]]]
Each worker trains on IMAGES (2) random images of SIZE x SIZE (299) in a round; there is one parameter server, and 1, 2, 4 or 8 workers,
all processes of this machine. A time is that of ROUNDS (2) rounds. Prints a table and draws docs/figures/inception.svg.
"""
import os
import pathlib
import sys
import tempfile

from figure import draw
from training import print_head, print_row, seconds_per_round

WORKERS = [1, 2, 4, 8]
MODES = {"asynchronous": "mode='async'", "synchronous": "mode='sync'"}


class Graph:
    """Writes the layers of a run file, one expression a line; the model is that of examples/models/inception_v3.cpp."""

    def __init__(self):
        self.lines = []

    def add(self, expression):
        self.lines.append(f'x{len(self.lines)} = "{expression}"')
        return f"x{len(self.lines) - 1}"

    def conv(self, x, *layers):
        """Each layer is (filters, kernel[, strides, padding])."""
        for filters, kernel, *more in layers:
            strides, padding = more or (1, "SAME")
            x = self.add(f"nn.conv2d({x}, filters={filters}, kernel={kernel}, strides={strides}, padding='{padding}', bias=false, "
                         f"init='he_normal')")
            x = self.add(f"nn.batch_norm({x}, decay=0.9997, scale=false, activation='relu')")
        return x

    def halved(self, x):
        return self.add(f"nn.max_pool2d({x}, window=3, strides=2)")

    def joined(self, *branches):
        return self.add(f"concat([{', '.join(branches)}], 3)")

    def average(self, x):
        return self.add(f"nn.avg_pool2d({x}, window=3, strides=1, padding='SAME')")

    def block_a(self, x, pooled):
        return self.joined(self.conv(x, (64, 1)), self.conv(x, (48, 1), (64, 5)), self.conv(x, (64, 1), (96, 3), (96, 3)),
                           self.conv(self.average(x), (pooled, 1)))

    def reduction_a(self, x):
        return self.joined(self.conv(x, (384, 3, 2, "VALID")), self.conv(x, (64, 1), (96, 3), (96, 3, 2, "VALID")), self.halved(x))

    def block_b(self, x, width):
        across, down = "[1, 7]", "[7, 1]"
        return self.joined(self.conv(x, (192, 1)), self.conv(x, (width, 1), (width, across), (192, down)),
                           self.conv(x, (width, 1), (width, down), (width, across), (width, down), (192, across)),
                           self.conv(self.average(x), (192, 1)))

    def reduction_b(self, x):
        return self.joined(self.conv(x, (192, 1), (320, 3, 2, "VALID")),
                           self.conv(x, (192, 1), (192, "[1, 7]"), (192, "[7, 1]"), (192, 3, 2, "VALID")), self.halved(x))

    def block_c(self, x):
        across, down = (384, "[1, 3]"), (384, "[3, 1]")
        three, twice_three = self.conv(x, (384, 1)), self.conv(x, (448, 1), (384, 3))
        return self.joined(self.conv(x, (320, 1)), *(self.conv(branch, last) for branch in (three, twice_three) for last in (across, down)),
                           self.conv(self.average(x), (192, 1)))

    def inception_v3(self, x):
        x = self.conv(x, (32, 3, 2, "VALID"), (32, 3, 1, "VALID"), (64, 3))
        x = self.halved(self.conv(self.halved(x), (80, 1, 1, "VALID"), (192, 3, 1, "VALID")))
        for pooled in (32, 64, 64):
            x = self.block_a(x, pooled)
        x = self.reduction_a(x)
        for width in (128, 160, 160, 192):
            x = self.block_b(x, width)
        x = self.block_c(self.block_c(self.reduction_b(x)))
        return self.add(f"nn.dense(nn.dropout(nn.global_avg_pool2d({x}), rate=0.2), units=1000)")


def write_run(folder, images, size, count):
    """Writes a run file whose data are `count` images of random bytes; the first two bytes are also the label."""
    (folder / "images.bin").write_bytes(os.urandom(count * size * size * 3))
    graph = Graph()
    logits = graph.inception_v3("pixels")
    lines = "\n".join(graph.lines)
    (folder / "inception.toml").write_text(f"""
run = {{ name = "inception_v3", seed = 1 }}
[data]
format = "fixed"
train = ["images.bin"]
record_bytes = {size * size * 3}
batch = {images}
[data.map]
pixels = "reshape(cast(decode_raw(image, out_type='uint8'), 'float'), [{size}, {size}, 3]) / 255.0"
label = "cast(squeeze(slice(decode_raw(image, out_type='uint8'), [0], [1]), [0]), 'int32')"
[model.graph]
{lines}
loss = "mean(sparse_softmax_cross_entropy_with_logits({logits}, label))"
[train]
loss = "loss"
optimizer = {{ type = "rmsprop", lr = 1e-3 }}
max_epochs = 1000
""")
    return folder / "inception.toml"


def main(program, images=2, rounds=2, size=299):
    series = {name: [] for name in MODES}
    print_head("workers", *(f"{name}, images/s" for name in MODES), "time of a synchronous round / asynchronous")
    for workers in WORKERS:
        with tempfile.TemporaryDirectory() as folder:
            file = write_run(pathlib.Path(folder), images * workers, size, 2 * images * workers)
            for name, mode in MODES.items():
                seconds = seconds_per_round(program, file, [f"train.replication={{{mode}}}", "train.fault.heartbeat=2s"], f"ps=1,worker={workers}", rounds)
                series[name].append((workers, images * workers / seconds))
        apart, together = (points[-1][1] for points in series.values())
        print_row(str(workers), f"{apart:.2f}", f"{together:.2f}", f"{apart / together:.2f}")
    draw("inception", f"Inception-v3, {images} images a worker, one machine", "workers", "images per second", series, "x", WORKERS)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
