"""Compares steps of Troupe and of TensorFlow for the same graphs, which take turns in one run. Needs a virtual environment with
tensorflow-cpu:
   python bench/peers/steps.py build/release/bench [rounds]
Prints a table: the medians over the rounds with minimum and maximum, and the ratio of the medians. Both sides have as many
threads as the row has devices, unless the row gives a number. TensorFlow has its default settings.
"""
import json
import statistics
import subprocess
import sys

import numpy

from peer import TENSORFLOW, session, tf
from timing import print_head, print_row, ratio, step_times, text

LOOP = CHAIN = 10_000


def null_step(prepared):
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [])
        y = x + x
    running = session(graph)
    one = numpy.float32(1)
    if prepared:
        function = running.make_callable(y, [x])
        return lambda: function(one)
    return lambda: running.run(y, {x: one})


def chain():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [])
        y = x
        for _ in range(CHAIN):
            y = y + x
    function = session(graph).make_callable(y, [x])
    one = numpy.float32(1)
    return lambda: function(one)


def while_loop(devices):
    with tf.Graph().as_default() as graph, tf.device("/device:CPU:0"):
        last = f"/device:CPU:{devices - 1}"
        x = tf.placeholder(tf.float32, [])
        with tf.device(last):
            zero = tf.constant(0.0)

        def body(i, total):
            with tf.device(last):
                total = total + x
            return i + 1, total

        result = tf.while_loop(lambda i, total: i < LOOP, body, [tf.constant(0.0), zero])[1]
    function = session(graph, threads=devices, devices=devices).make_callable(result, [x])
    one = numpy.float32(1)
    assert function(one) == LOOP
    return lambda: function(one)


def while_loop_gradient():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [])
        power = tf.while_loop(lambda i, power: i < LOOP, lambda i, power: (i + 1, power * x), [tf.constant(0.0), tf.constant(1.0)])[1]
        (slope,) = tf.gradients(power, x)
    function = session(graph).make_callable(slope, [x])
    one = numpy.float32(1)
    assert function(one) == LOOP
    return lambda: function(one)


def digits(shards, threads):
    """A training step of examples/digits.toml: the gradients of each shard, their mean weighted by samples, and Adam."""
    random = numpy.random.default_rng(7)
    feeds, values, losses, gradients, samples = [], [], [], [], []

    def mean(terms):
        if shards == 1:
            return terms[0]
        return tf.add_n([term * count for term, count in zip(terms, samples)]) / tf.add_n(samples)

    with tf.Graph().as_default() as graph:
        w1, w2 = tf.get_variable("w1", [64, 100]), tf.get_variable("w2", [100, 10])
        b1 = tf.get_variable("b1", [100], initializer=tf.zeros_initializer())
        b2 = tf.get_variable("b2", [10], initializer=tf.zeros_initializer())
        variables = [w1, b1, w2, b2]
        for _ in range(shards):
            image, label = tf.placeholder(tf.float32, [None, 64]), tf.placeholder(tf.int64, [None])
            samples.append(tf.placeholder(tf.float32, []))
            feeds += [image, label, samples[-1]]
            values += [random.random([64 // shards, 64], numpy.float32), random.integers(0, 10, 64 // shards),
                       numpy.float32(64 // shards)]
            logits = tf.matmul(tf.nn.relu(tf.matmul(image, w1) + b1), w2) + b2
            each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=label, logits=logits)
            losses.append(tf.reduce_mean(each))
            gradients.append(tf.gradients(losses[-1], variables))
        means = [mean(terms) for terms in zip(*gradients)]
        update = tf.train.AdamOptimizer(5e-3).apply_gradients(zip(means, variables))
        loss = mean(losses)
        initialize = tf.global_variables_initializer()
    running = session(graph, threads=threads)
    running.run(initialize)
    function = running.make_callable([loss, update], feeds)
    return lambda: function(*values)


# The name of the row, Troupe's program and benchmark, TensorFlow's step, and how many items a step has.
ROWS = [
    ("null step, `session.run`", "session_bench", "null_step/session_run", null_step(False), 1),
    ("null step, prepared / `make_callable`", "session_bench", "null_step/prepared", null_step(True), 1),
    ("chain of 10,000 scalar additions, each", "session_bench", "chain", chain(), CHAIN),
    ("while loop, each iteration", "session_bench", "while_loop_sum/one_device", while_loop(1), LOOP),
    ("while loop over two devices, each iteration", "session_bench", "while_loop_sum/two_devices/real_time",
     while_loop(2), LOOP),
    ("gradient of a while loop, each iteration", "session_bench", "while_loop_gradient", while_loop_gradient(), LOOP),
] + [(f"digits step, {shards} shard{'s'[:shards - 1]}, {threads} thread{'s'[:threads - 1]}", "training_bench",
      f"digits/shards:{shards}/threads:{threads}/real_time", digits(shards, threads), 1)
     for threads in (1, 2) for shards in (1, 2)]

SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}


def ours(folder, program, benchmark):
    output = subprocess.run([f"{folder}/{program}", f"--benchmark_filter=^{benchmark}$",
                             "--benchmark_format=json", "--benchmark_min_time=0.3"],
                            check=True, capture_output=True).stdout
    (result,) = json.loads(output)["benchmarks"]
    return result["real_time"] * SECONDS[result["time_unit"]]


def main(folder, rounds):
    times = [([], []) for _ in ROWS]
    for _ in range(rounds):
        for (_, program, benchmark, step, _), (mine, other) in zip(ROWS, times):
            mine.append(ours(folder, program, benchmark))
            other.append(statistics.mean(step_times(step, 0.3)))  # the mean, because Troupe's benchmarks report means
    print(f"Medians (least - most) of {rounds} rounds.\n")
    print_head("what", "Troupe", TENSORFLOW, "ratio")
    for (what, *_, items), (mine, other) in zip(ROWS, times):
        print_row(what, text(mine, items), text(other, items), ratio(mine, other))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 9)
