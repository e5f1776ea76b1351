"""Predicts the time of training rounds with a simulated cluster, compares it with real runs, and carries it to more workers:
   python bench/paper/simulate.py build/release [EXAMPLE [ROUNDS [LARGEST]]]
bench/paper/simulated_training.cpp runs the real actors, messages and kernels of EXAMPLE (digits_cnn), which take the virtual time that
they take the processor here. First three costs are measured that a simulation in one thread has not: what a frame takes a core at each
end, from null steps over two processes; what a byte takes there over TCP; and by which factor work takes longer than here, from a real
run in one process with one thread. As many of these runs as there are cores go on at once, because cores share caches. Then 2, 4 and
8 real workers with 64 samples each train beside the prediction for the same processes on this machine. At last every process has a
machine of its own with two cores and a network of 10 Gb/s, with up to LARGEST (200) workers; 1,000 take 11 GB and four minutes more.
Prints the tables and draws docs/figures/simulated.svg. On a busy machine run it with chrt -f 1.
"""
import concurrent.futures
import os
import pathlib
import statistics
import subprocess
import sys

from figure import draw
from training import EXAMPLES, print_head, print_row, seconds_per_round

MODES = {"sync": "mode='sync'", "async": "mode='async'", "allreduce": "mode='allreduce'"}
DENSE_BYTES = 1e8
FAR = {"cores": 2, "delay": 50_000, "wire": 0.8}  # nanoseconds on the way, and for each byte
COUNTS = {"sync": [1, 8, 50, 200, 1000], "async": [1, 8, 50, 200, 1000], "allreduce": [2, 8, 50]}


def at_once(function):
    """Calls a function on as many threads as there are cores at the same time, three times, and returns the median of the results."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return statistics.median(call.result() for call in [pool.submit(function) for _ in range(3 * os.cpu_count())])


class Bench:
    def __init__(self, folder, example, rounds):
        self.folder, self.example, self.rounds = pathlib.Path(folder), example, rounds
        self.here = {"together": 1, "cores": os.cpu_count()}

    def null_step(self, what, transport):
        """Returns the seconds of a real step with one server and one worker."""
        arguments = [self.folder / "bench" / "cluster_bench", self.folder / "troupe", what, "1", "0.5", transport]
        return statistics.median(1e-6 * float(subprocess.run(arguments, check=True, capture_output=True).stdout) for _ in range(3))

    def simulated(self, file, workers, costs, settings=(), rounds=20):
        """Returns the seconds, the frames and the bytes of a round."""
        arguments = [self.folder / "bench" / "simulated_training", file, str(workers), str(rounds)]
        arguments += [f"{name}={value}" for name, value in costs.items()] + list(settings)
        return map(float, subprocess.run(arguments, check=True, capture_output=True, text=True).stdout.split())

    def settings(self, mode, workers, samples):
        return [f"train.replication={{{MODES[mode]}}}", f"data.batch={samples * workers}", "data.valid={split=0.01}"]

    def real(self, mode, workers):
        """Without workers the run has one process with one thread."""
        tasks = None if workers == 0 else f"worker={workers}" if mode == "allreduce" else f"ps=1,worker={workers}"
        settings = [*self.settings(mode, workers or 1, 64), "train.max_epochs=1000000", *([] if workers else ["run.threads=1"])]
        return seconds_per_round(self.folder / "troupe", self.example, settings, tasks, self.rounds)

    def predicted(self, mode, workers, costs, samples=64, rounds=20):
        return next(iter(self.simulated(EXAMPLES / f"{self.example}.toml", workers, costs, self.settings(mode, workers, samples), rounds)))

    def costs(self):
        seconds, frames, _ = self.simulated("-", 1, self.here, rounds=300)
        frame = max(0, (self.null_step("scalar", "auto") - seconds) / frames / 2)
        byte = max(0, (self.null_step("dense", "tcp") - self.null_step("dense", "auto")) / DENSE_BYTES / 2)
        work = at_once(lambda: self.real("sync", 0)) / at_once(lambda: self.predicted("sync", 1, self.here))
        print(f"A frame takes {frame * 1e6:.1f} us at each end, a byte over TCP {byte * 1e9:.2f} ns; work takes {work:.2f} times as "
              "long as in one thread.\n")
        return {"frame": int(frame * 1e9), "work": work}, byte * 1e9


def validate(bench, costs):
    print_head("mode", "workers", "predicted, ms", "measured, ms", "ratio")
    for mode in MODES:
        for workers in (2, 4, 8):
            predicted = at_once(lambda: bench.predicted(mode, workers, {**bench.here, **costs}))
            measured = statistics.median(bench.real(mode, workers) for _ in range(3))
            print_row(mode, str(workers), f"{predicted * 1e3:.2f}", f"{measured * 1e3:.2f}", f"{predicted / measured:.2f}")


def carry(bench, costs, largest, samples=8):
    series = {}
    print("\n" + f"{samples} samples a worker in a round, each process on a machine of its own:\n")
    print_head("mode", "workers", "round, ms", "samples/s")
    for mode, counts in COUNTS.items():
        series[mode] = []
        for workers in (count for count in counts if count <= largest):
            seconds = bench.predicted(mode, workers, {**FAR, **costs}, samples, max(3, 200 // workers))
            series[mode].append((workers, samples * workers / seconds))
            print_row(mode, str(workers), f"{seconds * 1e3:.2f}", f"{samples * workers / seconds:.0f}")
    draw("simulated", f"{bench.example}, {samples} samples a worker, simulated", "workers", "samples per second", series, "xy")


def main(folder, example="digits_cnn", rounds="60", largest="200"):
    bench = Bench(folder, example, int(rounds))
    costs, byte = bench.costs()
    validate(bench, costs)
    carry(bench, {**costs, "byte": byte}, int(largest))


if __name__ == "__main__":
    main(*sys.argv[1:])
