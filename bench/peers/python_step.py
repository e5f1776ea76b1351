"""Compares a call of a step from Python with the step in C++ and with TensorFlow, which take turns in one run. Needs a virtual
environment with tensorflow-cpu, and the package for Python:
   PYTHONPATH=build/release/python python bench/peers/python_step.py build/release/bench [rounds]
Prints tables: the medians over the rounds with minimum and maximum, what Python adds to the step in C++, and the ratio to
TensorFlow. The null step adds a fed scalar to itself; each side has one thread. Troupe and TensorFlow run in processes of their own.
"""
import json
import statistics
import subprocess
import sys
import timeit

ROWS = [("`session.run`", "session_run", "run"), ("prepared / `make_callable`", "prepared", "callable")]
BIG = 1 << 20  # elements of an array that is fed and fetched


def mean_time(function, seconds):
    """Returns the mean time of a call, as Troupe's benchmarks report it."""
    function()
    timer = timeit.Timer(function)
    calls, _ = timer.autorange()
    number = max(1, int(calls * seconds / 0.2))
    return timer.timeit(number) / number


def troupe_steps():
    import numpy
    import troupe

    with troupe.Graph(troupe.Runtime(threads=1)) as graph:
        x, big = troupe.placeholder("float32", []), troupe.placeholder("float32", [None])
        y, total = x + x, troupe.ops.neg(big)
    session = troupe.Session(graph)
    return x, y, session.run, session.make_callable(y, [x]), session.make_callable(total, [big]), numpy


def tensorflow_steps():
    import numpy
    from peer import session, tf

    with tf.Graph().as_default() as graph:
        x, big = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [None])
        y, total = x + x, -big
    running = session(graph)
    return x, y, running.run, running.make_callable(y, [x]), running.make_callable(total, [big]), numpy


def measure(side, seconds):
    """Prints the times of one side."""
    x, y, run, function, big, numpy = (troupe_steps if side == "troupe" else tensorflow_steps)()
    scalar, array = numpy.array(1, numpy.float32), numpy.zeros(BIG, numpy.float32)
    feeds = {x: scalar}
    print(json.dumps({"run": mean_time(lambda: run(y, feeds), seconds), "callable": mean_time(lambda: function(scalar), seconds),
                      "big": mean_time(lambda: big(array), seconds)}))


def ours_in_cpp(folder, name):
    output = subprocess.run([f"{folder}/session_bench", f"--benchmark_filter=^null_step/{name}$", "--benchmark_format=json",
                             "--benchmark_min_time=0.3"], check=True, capture_output=True).stdout
    (result,) = json.loads(output)["benchmarks"]
    return result["real_time"] * {"ns": 1e-9, "us": 1e-6}[result["time_unit"]]


def main(folder, rounds):
    from peer import TENSORFLOW
    from timing import print_head, print_row, ratio, text

    cpp, python = {key: [] for _, key, _ in ROWS}, {"troupe": [], "tensorflow": []}
    for _ in range(rounds):
        for _, key, _ in ROWS:
            cpp[key].append(ours_in_cpp(folder, key))
        for side, times in python.items():
            output = subprocess.run([sys.executable, __file__, "--measure", side], check=True, capture_output=True, text=True).stdout
            times.append(json.loads(output.splitlines()[-1]))
    print(f"Medians (least - most) of {rounds} rounds.\n")
    print_head("null step", "Troupe in C++", "Troupe in Python", "Python adds", TENSORFLOW, "ratio")
    for what, key, call in ROWS:
        mine, theirs = ([times[call] for times in python[side]] for side in ("troupe", "tensorflow"))
        added = 1e6 * (statistics.median(mine) - statistics.median(cpp[key]))
        print_row(what, text(cpp[key]), text(mine), f"{added:.2f} us", text(theirs), ratio(mine, theirs))
    print()
    print_head("array of 4 MiB fed, negated and fetched", "Troupe in Python", TENSORFLOW, "ratio")
    mine, theirs = ([times["big"] for times in python[side]] for side in ("troupe", "tensorflow"))
    print_row("`make_callable`", text(mine), text(theirs), ratio(mine, theirs))


if __name__ == "__main__":
    if sys.argv[1] == "--measure":
        measure(sys.argv[2], 0.3)
    else:
        main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 7)
