"""Measures null steps against the number of workers, as OSDI 2016, figure 6, does:
   python bench/paper/null_step.py build/release [ROUNDS]
One parameter server and 1, 2, 4 or 8 workers are processes of this machine with one compute thread each; bench/cluster_bench.cpp
describes the steps. Prints the medians over ROUNDS (1) of the median step, and draws docs/figures/null_step.svg.
"""
import statistics
import subprocess
import sys

from figure import draw
from training import print_head, print_row

WORKERS = [1, 2, 4, 8]
NAMES = {"scalar": "scalar", "sparse": "sparse", "dense": "dense, 100 MB", "gigabyte": "dense, 1 GB"}
LIMITS = {("gigabyte", "tcp"): 2}  # the most workers: each has a copy
PAPER = {"scalar": ("1.8", "8.8"), "sparse": ("5", "20"), "dense": ("147", "613"), "gigabyte": ("1010", "7160")}


def milliseconds(folder, what, workers, transport):
    arguments = [f"{folder}/bench/cluster_bench", f"{folder}/troupe", what, str(workers), "0.4", transport]
    return 1e-3 * float(subprocess.run(arguments, check=True, capture_output=True).stdout)


def measured(folder, rounds, what, transport):
    counts = [workers for workers in WORKERS if workers <= LIMITS.get((what, transport), 8)]
    times = {workers: [] for workers in counts}
    for _ in range(rounds):
        for workers in counts:
            times[workers].append(milliseconds(folder, what, workers, transport))
    return [(workers, statistics.median(times[workers])) for workers in counts]


def main(folder, rounds):
    series = {}
    print_head("step, ms", *(f"{workers} worker{'s' * (workers > 1)}" for workers in WORKERS), "paper: 1 worker", "100 workers")
    for transport, suffix in (("auto", ""), ("tcp", ", TCP")):
        for what, name in NAMES.items():
            series[name + suffix] = points = measured(folder, rounds, what, transport)
            cells = [f"{time:.3g}" for _, time in points] + [""] * (len(WORKERS) - len(points))
            print_row(name + suffix, *cells, *PAPER[what])
    draw("null_step", "Null steps on one machine", "workers", "step, ms", series, "xy", WORKERS)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1)
