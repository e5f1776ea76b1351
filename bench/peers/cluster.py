"""Compares steps over several processes of this machine in Troupe and in a gRPC cluster of TensorFlow, which take turns in one
run. Needs a virtual environment with tensorflow-cpu:
   python bench/peers/cluster.py build/release [rounds [steps...]]
There is one parameter server, or two for "embedding", and one, two or four workers, each a process with one compute thread; worker 0 is
the client. bench/cluster_bench.cpp describes the steps. Troupe runs them through shared memory and, for comparison, over TCP. Prints a table:
for each step the median over the rounds of its median time, with the minimum and maximum, and the ratios to TensorFlow.
"""
import os
import socket
import statistics
import subprocess
import sys

import numpy

from peer import FOLDER, TENSORFLOW, config, tf
from timing import print_head, print_row, ratio, step_times, text

ROWS, COLUMNS = 25_000, 1_000
TABLE, WIDTH, IDS = 1_000_000, 128, 1_024  # of "embedding"
LAYOUTS = [(1, workers, ("scalar", "dense", "gigabyte", "sparse")) for workers in (1, 2, 4)] + [(2, 1, ("embedding",))]


def free_endpoint():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return "127.0.0.1:%d" % one.getsockname()[1]


def serve(cluster, job, task):
    """Runs a node of the cluster in its own process."""
    program = f"from peer import config, tf; tf.train.Server({cluster!r}, '{job}', {task}, config=config()).join()"
    return subprocess.Popen([sys.executable, "-c", program], cwd=FOLDER, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


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
    if what == "embedding":
        parts = []
        for server in range(2):
            with tf.device(f"/job:ps/task:{server}"):
                parts.append(tf.Variable(tf.fill([TABLE // 2, WIDTH], 1.0), name=f"{what}{server}"))
        for task in range(workers):
            with tf.device(f"/job:worker/task:{task}"):
                feeds.append(tf.placeholder(tf.int32, [IDS]))
                loss = tf.nn.l2_loss(tf.nn.embedding_lookup(parts, feeds[-1]))
                fetches.append(tf.train.GradientDescentOptimizer(0.1).minimize(loss, var_list=parts))
        return feeds, fetches, tf.group(*(part.initializer for part in parts))
    with tf.device("/job:ps/task:0"):
        v = tf.Variable(tf.fill([10 * ROWS if what == "gigabyte" else ROWS, COLUMNS], 1.0), name=what)
    for task in range(workers):
        read = v
        with tf.device(f"/job:worker/task:{task}"):
            if what == "sparse":
                feeds.append(tf.placeholder(tf.int32, [32]))
                with tf.device("/job:ps/task:0"):
                    read = tf.gather(v, feeds[-1])
            fetches.append(tf.reduce_sum(read))
    return feeds, fetches, v.initializer


def theirs(server, what, workers, seconds):
    with tf.Graph().as_default() as graph:
        feeds, fetches, initializer = graph_of(what, workers)
    random = numpy.random.default_rng(1)
    ids, limit = (IDS, TABLE) if what == "embedding" else (32, ROWS)
    with tf.Session(server.target, graph=graph, config=config()) as session:
        session.run(initializer)
        times = step_times(session.make_callable(fetches, feeds), seconds,
                           lambda: [random.integers(0, limit, ids, numpy.int32) for _ in feeds], warmup=3)
        return statistics.median(times)


def ours(folder, what, workers, seconds, transport):
    output = subprocess.run([f"{folder}/bench/cluster_bench", f"{folder}/troupe", what, str(workers), str(seconds),
                             transport],
                            check=True, capture_output=True).stdout
    return 1e-6 * float(output)


def main(folder, rounds, only, seconds=2):
    print_head("step over", "Troupe", "Troupe over TCP", TENSORFLOW, "ratio", "ratio over TCP")
    for servers, workers, steps in LAYOUTS:
        if only and not set(steps) & set(only):
            continue
        cluster = {"ps": [free_endpoint() for _ in range(servers)], "worker": [free_endpoint() for _ in range(workers)]}
        others = [serve(cluster, "ps", task) for task in range(servers)] + [serve(cluster, "worker", task) for task in range(1, workers)]
        server = tf.train.Server(cluster, "worker", 0, config=config())
        for what in steps:
            if only and what not in only:
                continue
            shared, tcp, other = [], [], []
            for _ in range(rounds):
                shared.append(ours(folder, what, workers, seconds, "auto"))
                tcp.append(ours(folder, what, workers, seconds, "tcp"))
                other.append(theirs(server, what, workers, seconds))
            print_row(f"{servers} ps, {workers} worker{'s' * (workers > 1)}, {what}", text(shared), text(tcp), text(other),
                      ratio(shared, other), ratio(tcp, other))
        for process in others:
            process.kill()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5, sys.argv[3:])
    os._exit(0)  # there is no other way to end a tf.train.Server
