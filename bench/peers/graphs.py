"""The same graphs in TensorFlow, PyTorch and Troupe, timed in turns in one run:
   python bench/peers/graphs.py build/release/troupe [rounds]
in a virtual environment with tensorflow-cpu; TORCH=PYTHON names the interpreter of one with torch, whose column is left out without
it. Each peer runs in a process of its own, all with one thread. A graph is built in TensorFlow and written for Troupe, which runs it by
`troupe bench`; PyTorch runs the same arithmetic eagerly. Prints a table: medians over the rounds of the median step, with the least and
the most, and the ratio of the medians to TensorFlow's `make_callable`. Kernels are measured with TensorFlow's
rewriting and Troupe's simplification off, steps with both as they come; a second table has what happens before the second step.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import numpy
import tensorflow

tf = tensorflow.compat.v1
tf.disable_eager_execution()
tf.disable_control_flow_v2()
tf.disable_resource_variables()

SECONDS = 0.3  # that a figure is measured for


def session(graph, folded):
    config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    if not folded:
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        config.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0
    return tf.Session(graph=graph, config=config)


class Row:
    """A graph with what is fed to it and asked of it."""

    def __init__(self, name, build, torch=None, folded=False):
        self.name, self.torch, self.folded = name, torch, folded
        with tf.Graph().as_default() as self.graph:
            self.feeds, self.fetches, self.targets, self.init = build()

    def write(self, folder):
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

    def ours(self, troupe, seconds):
        steps = max(3, min(20_000, int(SECONDS / seconds)))
        command = [troupe, "bench", *self.arguments, "--steps", str(steps), "--warmup", str(steps // 5)]
        output = subprocess.run(command + ([] if self.folded else ["--no-simplify"]), check=True, capture_output=True,
                                text=True).stdout
        return json.loads(output)["median_us"] * 1e-6

    def open(self):
        running = session(self.graph, self.folded)
        running.run([*self.init])
        fetches = [*self.fetches, *self.targets]
        values = [value for _, value in self.feeds]
        function = running.make_callable(fetches, [tensor for tensor, _ in self.feeds])
        self.prepared = lambda: function(*values)
        fed = dict(self.feeds)
        self.session_run = lambda: running.run(fetches, fed)


def median_time(step):
    step()
    times = []
    begin = time.perf_counter()
    while len(times) < 3 or time.perf_counter() - begin < SECONDS:
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


# ---- what is measured


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


def mlp(batch):
    """784-100-10, softmax cross entropy, gradient descent."""
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


def rows():
    yield Row("chain of 10,000 scalar additions", chain(10_000))
    for count in (1, 10, 100):
        yield Row(f"null step, {count} feeds and fetches", null_step(count), folded=True)
    for batch in (1, 100, 1000):
        yield Row(f"MLP 784-100-10 step, batch {batch}", mlp(batch), MLP_TORCH.replace("BATCH", str(batch)), folded=True)
    for size in (16, 128, 512, 1024):
        yield Row(f"MatMul {size}", matmul(size), torch_of("x @ x", (size, size)))
    for kib in (1, 64, 1024, 102400):
        label = f"{kib} KiB" if kib < 1024 else f"{kib >> 10} MiB"
        yield Row(f"Add of {label}", unary(lambda x: x + x, kib), torch_of("x + x", kib * 256))
        yield Row(f"Exp of {label}", unary(tf.exp, kib), torch_of("torch.exp(x)", kib * 256))
        yield Row(f"Sum of {label}", unary(tf.reduce_sum, kib), torch_of("x.sum()", kib * 256))


# ---- the peers


class Torch:
    """Steps of PyTorch in a process of its own: a line with a program in, a line with seconds out."""

    SERVER = """
import json, statistics, sys, time
import numpy, torch
torch.set_num_threads(1)
print(torch.__version__, flush=True)
for line in sys.stdin:
    names = {"torch": torch, "numpy": numpy}
    program, seconds = json.loads(line)
    exec(program, names)
    step, times = names["step"], []
    for _ in range(3): step()
    begin = time.perf_counter()
    while len(times) < 3 or time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    print(statistics.median(times), flush=True)
"""

    def __init__(self, python):
        self.process = subprocess.Popen([python, "-c", self.SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.version = self.process.stdout.readline().strip()

    def time(self, program):
        self.process.stdin.write(json.dumps([program, SECONDS]) + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def text(times):
    if not times:
        return ""
    low, middle, high = (value * 1e6 for value in (min(times), statistics.median(times), max(times)))
    return f"{middle:.4g} us ({low:.3g} - {high:.3g})"


# ---- before the second step

FIRST_STEP = """
import os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import tensorflow
tf = tensorflow.compat.v1
tf.disable_eager_execution()
definition = tf.GraphDef()
definition.ParseFromString(open(sys.argv[1], "rb").read())
x, y = tf.import_graph_def(definition, return_elements=["Placeholder:0", sys.argv[2]], name="")
tf.Session().run(y, {x: 1.0})
"""


def tree(nodes):
    """Sums of all pairs, of their sums, and so on."""
    def build():
        x = tf.placeholder(tf.float32, [])
        level = [x + float(i) for i in range(nodes // 3)]
        while len(level) > 1:
            level = [a + b for a, b in zip(level[::2], level[1::2])]
        return [(x, numpy.float32(1))], level, [], []
    return build


def wall_time(command):
    begin = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begin


def import_time(row):
    begin = time.perf_counter()
    definition = tf.GraphDef()
    definition.ParseFromString(row.file.read_bytes())
    with tf.Graph().as_default() as graph:
        fed, fetched = tf.import_graph_def(definition, name="", return_elements=[row.feeds[0][0].name, row.fetches[0].name])
    session(graph, True).run(fetched, {fed: row.feeds[0][1]})
    return time.perf_counter() - begin


def first_steps(troupe, folder):
    large, small = Row("", tree(50_000), folded=True), Row("", null_step(1), folded=True)
    for name, row in ("large", large), ("small", small):
        (folder / name).mkdir()
        row.write(folder / name)

    def ours():
        output = subprocess.run([troupe, "bench", *large.arguments, "--steps", "1", "--warmup", "0"], check=True,
                                capture_output=True, text=True).stdout
        return json.loads(output)["first_step_s"]

    theirs = [sys.executable, "-c", FIRST_STEP, str(small.file), small.fetches[0].name]
    nodes = len(large.graph.get_operations())
    yield f"import and first step of {nodes:,} nodes", ours, lambda: import_time(large)
    yield ("process start to first step", lambda: wall_time([troupe, "run", *small.arguments]),
           lambda: wall_time(theirs))


def main(troupe, rounds):
    torch = Torch(os.environ["TORCH"]) if "TORCH" in os.environ else None
    print(f"| what | Troupe | TensorFlow {tensorflow.__version__} `make_callable` | `session.run` |"
          f" PyTorch {torch.version if torch else '-'} | ratio |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for i, row in enumerate(rows()):
            here = folder / str(i)
            here.mkdir()
            row.write(here)
            row.open()
            times = [[], [], [], []]
            for _ in range(rounds):
                times[1].append(median_time(row.prepared))
                times[0].append(row.ours(troupe, times[1][-1]))
                times[2].append(median_time(row.session_run))
                if torch and row.torch:
                    times[3].append(torch.time(row.torch))
            ratio = statistics.median(times[0]) / statistics.median(times[1])
            print(f"| {row.name} | {' | '.join(map(text, times))} | {ratio:.3f} |", flush=True)
        print(f"\n| what | Troupe | TensorFlow {tensorflow.__version__} | ratio |\n|---|---|---|---|")
        for name, mine, other in first_steps(troupe, folder):
            pairs = [(mine(), other()) for _ in range(rounds)]
            ours, theirs = ([pair[side] for pair in pairs] for side in (0, 1))
            ratio = statistics.median(ours) / statistics.median(theirs)
            print(f"| {name} | {text(ours)} | {text(theirs)} | {ratio:.3f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5)
