"""Measures what checkpoints cost a training with a big state, in one process and with a parameter server and two workers:
   python bench/paper/checkpoint_cost.py build/release/troupe [SECONDS [MB...]]
Trains a perceptron with MB (100) megabytes of weights for SECONDS (100) without checkpoints, and with one every 30 s. An epoch has one
step, so that each step prints a line. The cost of a checkpoint is the time by which the steps from its snapshot to its end, and at least
ten of them, are longer than the median step: this over 30 s is the throughput that is lost. "Late" is the slowest of the ten steps after
a snapshot over the median step: with ten steps it is their 99th percentile. "Other tens" is the median of the same ratio for ten steps
that follow no snapshot, so it tells how noisy the machine is. In the last row of a size all weights but the first and last layer's are
frozen.
"""
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from training import command, print_head, print_row

EVERY, AFTER = 30, 10
RUN_FILE = """
run = {{ name = "cost", seed = 1 }}
[data]
format = "csv"
train = ["samples.csv"]
label = "last"
batch = 64
[model.variables]
first = {{ shape = [16, {units}], init = "glorot_uniform" }}
{weights}
last = {{ shape = [{units}, 4], init = "glorot_uniform" }}
[model.graph]
h0 = "relu(matmul(image, first))"
{layers}
loss = "mean(sparse_softmax_cross_entropy_with_logits(matmul(h{count}, last), label))"
[train]
loss = "loss"
optimizer = {{ type = "sgd", lr = 1e-3 }}
checkpoint = {{ every = "1000000s", keep = 2, on_signal = false }}
"""


def write_run_file(folder, megabytes, trainable="true"):
    """Writes the run file and its 64 samples: four square matrices of weights, which have most of the bytes."""
    count = 4
    units = round((megabytes * 1e6 / 4 / count) ** 0.5 / 16) * 16
    weights = "\n".join(f'w{i} = {{ shape = [{units}, {units}], init = "glorot_uniform", trainable = {trainable} }}' for i in range(count))
    layers = "\n".join(f'h{i + 1} = "relu(matmul(h{i}, w{i}))"' for i in range(count))
    file = folder / "cost.toml"
    file.write_text(RUN_FILE.format(units=units, weights=weights, layers=layers, count=count))
    rows = [",".join([str((row * column) % 7) for column in range(16)] + [str(row % 4)]) for row in range(64)]
    (folder / "samples.csv").write_text("\n".join(rows) + "\n")
    return file


class Snapshots:
    """Sees when the checkpoints of a run begin and when they are complete, and how large they are, looked at after each step."""

    def __init__(self, folder):
        self.folder, self.begun, self.complete, self.megabytes = folder, {}, {}, []

    def look(self, step):
        for path in self.folder.glob("*/*/checkpoints/*-round-*"):
            self.begun.setdefault(path.name, int(path.name.rsplit("-", 1)[1]))
            if path.name not in self.complete and (path / "manifest.json").exists():
                self.complete[path.name] = step
                self.megabytes.append(sum(file.stat().st_size for file in path.iterdir()) / 1e6)


def step_times(program, file, tasks, seconds, settings):
    """Trains for so many seconds. Returns the times of the steps, without the first ones, and its snapshots."""
    with tempfile.TemporaryDirectory(dir=file.parent) as folder:
        sync = ["train.replication={mode='sync',shards=2}", f"train.max_steps={10**9}"]
        run = subprocess.Popen(command(program, file, folder, [*sync, *settings], tasks), stdout=subprocess.PIPE, text=True)
        times, snapshots, begin, last = {}, Snapshots(pathlib.Path(folder)), None, None
        for line in run.stdout:
            if not line.startswith("epoch"):
                continue
            now, step = time.perf_counter(), int(line.split()[1])
            if last and step > 3:
                times[step] = now - last
            begin = begin or now
            last = now
            snapshots.look(step)
            if now - begin > seconds:
                break
        run.kill()
        run.communicate()
    assert times, "the run ended before its third step"
    return times, snapshots


def costs(times, snapshots):
    """Returns, for each complete checkpoint, the seconds that it cost, and the slowest step after it over the median step."""
    usual, found = statistics.median(times.values()), []
    for name, end in snapshots.complete.items():
        first = snapshots.begun[name] + 1
        if first + AFTER not in times:
            continue
        lost = sum(times[step] - usual for step in range(first, max(end, first + AFTER - 1) + 1) if step in times)
        found.append((lost, max(times[step] for step in range(first, first + AFTER)) / usual))
    return found


def other_tens(times, snapshots):
    """Returns the median, over all ten steps that follow no snapshot, of the slowest one over the median step."""
    after = {step for first in snapshots.begun.values() for step in range(first + 1, first + 2 * AFTER)}
    rest, usual = [time for step, time in times.items() if step not in after], statistics.median(times.values())
    return statistics.median(max(rest[i : i + AFTER]) / usual for i in range(0, max(1, len(rest) - AFTER + 1), AFTER))


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 100
    sizes = [int(size) for size in sys.argv[3:]] or [100]
    print_head("weights, MB", "processes", "step, ms", "with checkpoints", "checkpoints", "last one, MB", "lost, %", "late, median",
               "late, worst", "other tens")
    for megabytes in sizes:
        for tasks, trainable in ((None, "true"), ("ps=1,worker=2", "true"), (None, "false")):
            with tempfile.TemporaryDirectory(dir=".") as folder:
                file = write_run_file(pathlib.Path(folder).resolve(), megabytes, trainable)
                without, _ = step_times(program, file, tasks, seconds / 3, [])
                times, snapshots = step_times(program, file, tasks, seconds, [f"train.checkpoint.every='{EVERY}s'"])
            found = costs(times, snapshots)
            late = [slowest for _, slowest in found]
            lost = statistics.median(seconds for seconds, _ in found) / EVERY
            print_row(str(megabytes), (tasks or "1") + (", frozen" if trainable == "false" else ""),
                      f"{statistics.median(without.values()) * 1e3:.1f}", f"{statistics.median(times.values()) * 1e3:.1f}",
                      str(len(found)), f"{snapshots.megabytes[-1]:.1f}", f"{100 * lost:.2f}", f"{statistics.median(late):.2f}",
                      f"{max(late):.2f}", f"{other_tens(times, snapshots):.2f}")


if __name__ == "__main__":
    main()
