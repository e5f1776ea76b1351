"""Steps over processes of this machine, Troupe's beside TensorFlow's gRPC cluster, in turns in one run. In a virtual environment with
tensorflow-cpu:
   python bench/peers/cluster.py build/release [rounds]
One parameter server and one or two workers, a process and a compute thread each; worker 0 is the client. What a step does stands in
bench/cluster_bench.cpp. Prints a table: medians over the rounds of the median step, with the least and the most.
"""
import os
import socket
import statistics
import subprocess
import sys
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import numpy
import tensorflow

tf = tensorflow.compat.v1
tf.disable_eager_execution()
tf.disable_resource_variables()

ROWS, COLUMNS = 25_000, 1_000
CONFIG = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)


def free_endpoint():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return "127.0.0.1:%d" % one.getsockname()[1]


def serve(cluster, job, task):
    """A node of the cluster, in a process of its own."""
    program = ("import os, sys; os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'; os.environ['CUDA_VISIBLE_DEVICES'] = '';"
               "import tensorflow; tf = tensorflow.compat.v1;"
               "config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1);"
               f"tf.train.Server({cluster!r}, '{job}', {task}, config=config).join()")
    return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def graph_of(what, workers):
    feeds, fetches, first = [], [], []
    if what == "scalar":
        for task in range(workers):
            with tf.device("/job:ps/task:0"):
                v = tf.Variable(0.0, name=f"{what}{task}")
            first.append(v.initializer)
            with tf.device(f"/job:worker/task:{task}"):
                added = v + 1.0
            fetches.append(tf.assign(v, added).op)
        return feeds, fetches, tf.group(*first)
    with tf.device("/job:ps/task:0"):
        v = tf.Variable(tf.fill([ROWS, COLUMNS], 1.0), name=what)
    for task in range(workers):
        read = v
        with tf.device(f"/job:worker/task:{task}"):
            if what == "sparse":
                feeds.append(tf.placeholder(tf.int32, [32]))
                with tf.device("/job:ps/task:0"):
                    read = tf.gather(v, feeds[-1])
            fetches.append(tf.reduce_sum(read))
    return feeds, fetches, v.initializer


def median_step(step, feeds, seconds):
    random = numpy.random.default_rng(1)
    times = []
    warm, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < seconds or len(times) < 5:
        fed = [random.integers(0, ROWS, 32, numpy.int32) for _ in feeds]
        start = time.perf_counter()
        step(*fed)
        if warm >= 3:
            times.append(time.perf_counter() - start)
        warm += 1
    return 1e6 * statistics.median(times)


def theirs(server, what, workers, seconds):
    with tf.Graph().as_default() as graph:
        feeds, fetches, initializer = graph_of(what, workers)
    with tf.Session(server.target, graph=graph, config=CONFIG) as session:
        session.run(initializer)
        return median_step(session.make_callable(fetches, feeds), feeds, seconds)


def ours(folder, what, workers, seconds):
    output = subprocess.run([f"{folder}/bench/cluster_bench", f"{folder}/troupe", what, str(workers), str(seconds)],
                            check=True, capture_output=True).stdout
    return float(output)


def text(times):
    return f"{statistics.median(times):.4g} us ({min(times):.4g} - {max(times):.4g})"


def main(folder, rounds, seconds=2):
    print(f"| step over 1 ps and | Troupe | TensorFlow {tensorflow.__version__} | ratio |\n|---|---|---|---|")
    for workers in (1, 2):
        cluster = {"ps": [free_endpoint()], "worker": [free_endpoint() for _ in range(workers)]}
        others = [serve(cluster, "ps", 0)] + [serve(cluster, "worker", task) for task in range(1, workers)]
        server = tf.train.Server(cluster, "worker", 0, config=CONFIG)
        for what in ("scalar", "dense", "sparse"):
            mine, other = [], []
            for _ in range(rounds):
                mine.append(ours(folder, what, workers, seconds))
                other.append(theirs(server, what, workers, seconds))
            ratio = statistics.median(mine) / statistics.median(other)
            print(f"| {workers} worker{'s' * (workers - 1)}, {what} | {text(mine)} | {text(other)} | {ratio:.3f} |", flush=True)
        for process in others:
            process.kill()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5)
    os._exit(0)  # a tf.train.Server can be ended in no other way
