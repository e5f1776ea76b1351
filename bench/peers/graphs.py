"""Compares the same graphs in TensorFlow, PyTorch and Troupe, which take turns in one run:
   python bench/peers/graphs.py build/release/troupe [rounds [part of a name]]
Needs a virtual environment with tensorflow-cpu. TORCH=PYTHON names the interpreter of an environment with torch; without it the
column of PyTorch is left out. Each peer runs in its own process with one thread. A graph is built in TensorFlow and written to
a file, which Troupe runs with `troupe bench`; PyTorch runs the same arithmetic eagerly. Prints three tables for
bench/README.md: for each step the median over the rounds of its median time, with the minimum and maximum, and the ratio of the
medians to TensorFlow's `make_callable`. Steps are measured with the graph as written (TensorFlow's meta optimizer off and its
optimizer level L0, Troupe's `--no-simplify`) and as both simplify it (L1). Kernels are measured as written. The third table
measures what happens before the second step. If a part of a name is given, only rows whose names contain it are measured.
"""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

from peer import FOLDER, TENSORFLOW, session, tf
from timing import print_head, print_row, ratio, step_times, text

SECONDS = 0.3  # the duration of each measurement
LOOP = 1000    # the iterations of a loop, all in one step


def median_time(step):
    return statistics.median(step_times(step, SECONDS))


class Row:
    """A graph with its feeds, fetches and targets. A step does `items` times what the name says."""

    def __init__(self, name, build, torch=None, items=1):
        self.name, self.torch, self.items = name, torch, items
        with tf.Graph().as_default() as self.graph:
            self.feeds, self.fetches, self.targets, self.init = build()

    def write(self, folder):
        folder.mkdir()
        self.file = folder / "graph.pb"
        self.file.write_bytes(self.graph.as_graph_def().SerializeToString())
        self.arguments = [str(self.file), "--threads", "1"]
        for i, (tensor, value) in enumerate(self.feeds):
            numpy.save(folder / f"{i}.npy", value)
            self.arguments += ["--feed", f"{tensor.name}={folder}/{i}.npy"]
        for flag, names in (("--fetch", [t.name for t in self.fetches]), ("--target", [t.name for t in self.targets]),
                            ("--init", [t.name for t in self.init])):
            for name in names:
                self.arguments += [flag, name]

    def ours(self, troupe, folded, seconds):
        """Returns the median time of Troupe's steps. Their number is such that they take about SECONDS if one takes `seconds`."""
        steps = max(3, min(20_000, int(SECONDS / seconds)))
        command = [troupe, "bench", *self.arguments, "--steps", str(steps), "--warmup", str(steps // 5)]
        output = subprocess.run(command + ([] if folded else ["--no-simplify"]), check=True, capture_output=True,
                                text=True).stdout
        return json.loads(output)["median_us"] * 1e-6

    def theirs(self, folded):
        """Returns functions that run TensorFlow's step through make_callable and through session.run."""
        running = session(self.graph, folded=folded)
        running.run([*self.init])
        fetches = [*self.fetches, *self.targets]
        fed = dict(self.feeds)
        function = running.make_callable(fetches, [tensor for tensor, _ in self.feeds])
        return lambda: function(*fed.values()), lambda: running.run(fetches, fed)


class Times:
    """The times of one row with one setting, one for each round."""

    def __init__(self, row, troupe, folded):
        self.row, self.troupe, self.folded = row, troupe, folded
        self.prepared, self.session_run = row.theirs(folded)
        self.ours, self.theirs, self.run = [], [], []

    def measure(self):
        self.theirs.append(median_time(self.prepared))
        self.ours.append(self.row.ours(self.troupe, self.folded, self.theirs[-1]))
        self.run.append(median_time(self.session_run))

    def texts(self):
        return {"ours": text(self.ours, self.row.items), "theirs": text(self.theirs, self.row.items),
                "run": text(self.run, self.row.items), "ratio": ratio(self.ours, self.theirs)}


# ---- graphs


def null_step(count):
    def build():
        feeds = [(tf.placeholder(tf.float32, []), numpy.float32(1)) for _ in range(count)]
        return feeds, [x + x for x, _ in feeds], [], []
    return build


def chain(count):
    def build():
        x = y = tf.placeholder(tf.float32, [])
        for _ in range(count):
            y = y + x
        return [(x, numpy.float32(1))], [y], [], []
    return build


def loop(body, shape):
    """A loop of LOOP iterations of body(total, fed); both values have the given shape."""
    def build():
        x = tf.placeholder(tf.float32, shape)
        rounds = tf.while_loop(lambda i, _: i < LOOP, lambda i, total: (i + 1, body(total, x)), [tf.constant(0), x])
        return [(x, numpy.full(shape, 0.01, "f"))], [rounds[1]], [], []
    return build


LOOP_TORCH = """
x = torch.full(SHAPE, 0.01)
def step():
    total = x
    for _ in range(LOOP): total = BODY
    return total.flatten()[0].item()
"""


def loop_torch(body, shape):
    return LOOP_TORCH.replace("SHAPE", str(shape)).replace("LOOP", str(LOOP)).replace("BODY", body)


def mlp(batch):
    """A training step of a perceptron 784-100-10 with softmax cross entropy and gradient descent."""
    def build():
        random = numpy.random.default_rng(7)
        image, label = tf.placeholder(tf.float32, [None, 784]), tf.placeholder(tf.float32, [None, 10])
        w1, w2 = (tf.Variable(random.normal(0, 0.1, shape).astype("f")) for shape in ((784, 100), (100, 10)))
        b1, b2 = (tf.Variable(numpy.zeros(size, "f")) for size in (100, 10))
        logits = tf.matmul(tf.nn.relu(tf.matmul(image, w1) + b1), w2) + b2
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=label, logits=logits))
        train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
        feeds = [(image, random.random([batch, 784], numpy.float32)),
                 (label, numpy.eye(10, dtype="f")[random.integers(0, 10, batch)])]
        return feeds, [loss], [train], [tf.global_variables_initializer()]
    return build


MLP_TORCH = """
random = numpy.random.default_rng(7)
w1, w2 = (torch.tensor(random.normal(0, 0.1, shape).astype("f"), requires_grad=True) for shape in ((784, 100), (100, 10)))
b1, b2 = (torch.zeros(size, requires_grad=True) for size in (100, 10))
optimizer = torch.optim.SGD([w1, w2, b1, b2], 0.01)
image, label = torch.rand(BATCH, 784), torch.randint(10, (BATCH,))
def step():
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(torch.relu(image @ w1 + b1) @ w2 + b2, label)
    loss.backward()
    optimizer.step()
    return loss.item()
"""


def unary(function, kib):
    def build():
        x = tf.Variable(numpy.ones([kib * 256], "f"))
        return [], [], [function(x).op], [tf.global_variables_initializer()]
    return build


def matmul(size):
    def build():
        x = tf.Variable(numpy.ones([size, size], "f"))
        return [], [], [tf.matmul(x, x).op], [tf.global_variables_initializer()]
    return build


def torch_of(expression, shape):
    return f"x = torch.ones({shape})\ndef step():\n    return {expression}\n"


def steps():
    yield Row("chain of 10,000 scalar additions", chain(10_000))
    for count in (1, 10, 100):
        yield Row(f"null step, {count} feeds and fetches", null_step(count))
    for batch in (1, 100, 1000):
        yield Row(f"MLP 784-100-10 step, batch {batch}", mlp(batch), MLP_TORCH.replace("BATCH", str(batch)))
    iteration = f"while loop of {LOOP:,}"
    yield Row(f"{iteration}, each scalar addition", loop(lambda total, x: total + x, ()), loop_torch("total + x", ()),
              items=LOOP)
    yield Row(f"{iteration}, each MatMul 100", loop(tf.matmul, (100, 100)), loop_torch("total @ x", (100, 100)), items=LOOP)


def kernels():
    for size in (16, 128, 512, 1024):
        yield Row(f"MatMul {size}", matmul(size), torch_of("x @ x", (size, size)))
    for kib in (1, 64, 1024, 102400):
        label = f"{kib} KiB" if kib < 1024 else f"{kib >> 10} MiB"
        yield Row(f"Add of {label}", unary(lambda x: x + x, kib), torch_of("x + x", kib * 256))
        yield Row(f"Exp of {label}", unary(tf.exp, kib), torch_of("torch.exp(x)", kib * 256))
        yield Row(f"Sum of {label}", unary(tf.reduce_sum, kib), torch_of("x.sum()", kib * 256))


# ---- PyTorch


class Torch:
    """Runs steps of PyTorch in its own process, which reads a program as one line and writes the seconds as one line."""

    SERVER = """
import json, statistics, sys
import numpy, torch
from timing import step_times
torch.set_num_threads(1)
print(torch.__version__, flush=True)
for line in sys.stdin:
    names = {"torch": torch, "numpy": numpy}
    program, seconds = json.loads(line)
    exec(program, names)
    print(statistics.median(step_times(names["step"], seconds, warmup=3)), flush=True)
"""

    def __init__(self, python):
        python = os.path.abspath(shutil.which(python))
        self.process = subprocess.Popen([python, "-c", self.SERVER], cwd=FOLDER, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.version = self.process.stdout.readline().strip()

    def time(self, program):
        self.process.stdin.write(json.dumps([program, SECONDS]) + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


# ---- the time before the second step

FIRST_STEP = """
import sys
from peer import tf
definition = tf.GraphDef()
definition.ParseFromString(open(sys.argv[1], "rb").read())
x, y = tf.import_graph_def(definition, return_elements=["Placeholder:0", sys.argv[2]], name="")
tf.Session().run(y, {x: 1.0})
"""


def tree(nodes):
    """A tree of additions: the sums of pairs, the sums of pairs of these sums, and so on."""
    def build():
        x = tf.placeholder(tf.float32, [])
        level = [x + float(i) for i in range(nodes // 3)]
        while len(level) > 1:
            level = [a + b for a, b in zip(level[::2], level[1::2])]
        return [(x, numpy.float32(1))], level, [], []
    return build


def wall_time(command):
    begin = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, cwd=FOLDER)
    return time.perf_counter() - begin


def import_time(row):
    begin = time.perf_counter()
    definition = tf.GraphDef()
    definition.ParseFromString(row.file.read_bytes())
    with tf.Graph().as_default() as graph:
        fed, fetched = tf.import_graph_def(definition, name="", return_elements=[row.feeds[0][0].name, row.fetches[0].name])
    session(graph).run(fetched, {fed: row.feeds[0][1]})
    return time.perf_counter() - begin


def first_steps(troupe, folder):
    large, small = Row("", tree(50_000)), Row("", null_step(1))
    large.write(folder / "large")
    small.write(folder / "small")

    def ours():
        output = subprocess.run([troupe, "bench", *large.arguments, "--steps", "1", "--warmup", "0"], check=True,
                                capture_output=True, text=True).stdout
        return json.loads(output)["first_step_s"]

    theirs = [sys.executable, "-c", FIRST_STEP, str(small.file), small.fetches[0].name]
    nodes = len(large.graph.get_operations())
    yield f"import and first step of {nodes:,} nodes", ours, lambda: import_time(large)
    yield ("process start to first step", lambda: wall_time([troupe, "run", *small.arguments]),
           lambda: wall_time(theirs))


class Run:
    def __init__(self, troupe, rounds, part, folder):
        self.troupe, self.rounds, self.part, self.folder = troupe, rounds, part, folder
        self.torch = Torch(os.environ["TORCH"]) if "TORCH" in os.environ else None
        self.pytorch = f"PyTorch {self.torch.version}" if self.torch else "PyTorch"
        self.number = 0

    def measure(self, rows, settings):
        """Yields each row with its Times for each setting and the text for PyTorch."""
        for row in rows:
            if self.part not in row.name:
                continue
            self.number += 1
            row.write(self.folder / str(self.number))
            times, torch = [Times(row, self.troupe, folded) for folded in settings], []
            for _ in range(self.rounds):
                for each in times:
                    each.measure()
                if self.torch and row.torch:
                    torch.append(self.torch.time(row.torch))
            yield row.name, *(each.texts() for each in times), text(torch, row.items)

    def print_steps(self):
        print_head("step", "Troupe, as written", f"{TENSORFLOW} `make_callable`, as written", "ratio",
                   "Troupe, simplified", "TensorFlow, simplified", "ratio", "`session.run`, simplified", self.pytorch)
        for name, plain, folded, torch in self.measure(steps(), (False, True)):
            print_row(name, plain["ours"], plain["theirs"], plain["ratio"], folded["ours"], folded["theirs"],
                      folded["ratio"], folded["run"], torch)

    def print_kernels(self):
        print_head("kernel, as written", "Troupe", f"{TENSORFLOW} `make_callable`", "`session.run`", self.pytorch, "ratio")
        for name, plain, torch in self.measure(kernels(), (False,)):
            print_row(name, plain["ours"], plain["theirs"], plain["run"], torch, plain["ratio"])

    def print_first_steps(self):
        print_head("what", "Troupe", TENSORFLOW, "ratio")
        for name, mine, other in first_steps(self.troupe, self.folder):
            if self.part not in name:
                continue
            ours, theirs = zip(*((mine(), other()) for _ in range(self.rounds)))
            print_row(name, text(ours), text(theirs), ratio(ours, theirs))


def main(troupe, rounds=5, part=""):
    with tempfile.TemporaryDirectory() as folder:
        run = Run(os.path.abspath(troupe), int(rounds), part, pathlib.Path(folder))
        for table in run.print_steps, run.print_kernels, run.print_first_steps:
            table()
            print()


if __name__ == "__main__":
    main(*sys.argv[1:])
