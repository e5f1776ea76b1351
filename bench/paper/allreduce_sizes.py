"""Measures the bandwidth of all-reduce against the size of the tensor:
   python bench/paper/allreduce_sizes.py build/release/bench/allreduce_bench [ROUNDS]
2, 4 or 8 ranks are processes of this machine with one compute thread each, which share memory. The bandwidth is that of a rank in one
direction, 2 (n - 1) / n bytes for each byte of the tensor, over the time of a step. Prints the medians over ROUNDS (1), and draws
docs/figures/allreduce_sizes.svg. bench/peers/allreduce.py compares the times with gloo.
"""
import statistics
import sys

from figure import draw
from training import print_head, print_row
from allreduce import ours, text

RANKS = [2, 4, 8]
SIZES = [1 << power for power in range(10, 27, 2)]


def main(program, rounds):
    series = {}
    for ranks in RANKS:
        runs = [ours(program, ranks, SIZES, "shared") for _ in range(rounds)]
        series[f"{ranks} ranks"] = [
            (size, 2 * (ranks - 1) / ranks * size / statistics.median(run[size] for run in runs) / 1e9) for size in SIZES]
    print_head("GB/s", *series)
    for size, *points in zip(SIZES, *series.values()):
        print_row(text(size), *(f"{bandwidth:.3g}" for _, bandwidth in points))
    draw("allreduce_sizes", "All-reduce on one machine", "bytes", "bandwidth of a rank, GB/s", series, "xy",
         [1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1)
