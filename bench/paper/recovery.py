"""Measures how long a training takes to go on after `kill -9` of one of its processes, by role:
   python bench/paper/recovery.py build/release/troupe [KILLS [EXAMPLE]]
Each kill is one run of examples/EXAMPLE.toml (digits) with 2 parameter servers and 2 workers, in synchronous mode. A time is that
from the kill to the first line about an epoch that was complete after the run had noticed the loss; so an epoch is part of it, whose
usual time is in the last column. The trainer is killed in a cluster whose nodes outlive it, and started again at once. Draws
docs/figures/recovery.svg. Then it measures what mirrored servers cost: the time of a run with and without them, in turn.
"""
import contextlib
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from figure import draw
from training import command

SYNC = "train.replication={mode='sync'}"
ROLES = [  # name, the processes that are killed in turn, what is set, the text that tells that the loss was noticed
    ("worker", (2, 3), ["train.fault.max_restarts=0"], "taken over by"),
    ("worker that is restarted", (2, 3), ["train.fault.max_restarts=1"], "taken over by"),
    ("mirrored server", (0, 1), ["train.fault.mirror=true"], "the variables of"),
    ("server, from a checkpoint", (0, 1), ["train.fault.max_restarts=1", "train.checkpoint.every='20 steps'"], "restart 1 of 1"),
]


def children(process):
    tasks = pathlib.Path(f"/proc/{process}/task")
    return [int(child) for task in tasks.iterdir() for child in (task / "children").read_text().split()]


def recovery(program, example, settings, noticed, victim, epochs_before):
    """Returns the seconds from the kill to the next epoch, and the seconds of an epoch before."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = command(program, example, folder, ["train.max_epochs=1000000", SYNC, *settings], "ps=2,worker=2")
        run = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        epochs, killed, lost = [], None, False
        for line in run.stdout:
            now = time.perf_counter()
            lost = lost or (killed is not None and noticed in line)
            if not line.startswith("epoch"):
                continue
            epochs.append(now)
            if lost:
                break
            if killed is None and len(epochs) == epochs_before:
                killed = time.perf_counter()
                os.kill(children(run.pid)[victim], signal.SIGKILL)
        run.send_signal(signal.SIGINT)
        run.communicate()
    assert lost, f"the run ended: {' '.join(map(str, arguments))}"
    usual = [after - before for before, after in zip(epochs[1 : epochs_before - 1], epochs[2:epochs_before])]
    return epochs[-1] - killed, statistics.median(usual)


@contextlib.contextmanager
def cluster(program, folder):
    """Starts the nodes of a cluster, and yields the path of its file."""
    places = [("ps", 0), ("ps", 1), ("worker", 0), ("worker", 1)]
    with contextlib.ExitStack() as sockets:
        ports = []
        for _ in places:
            bound = sockets.enter_context(socket.socket())
            bound.bind(("127.0.0.1", 0))
            ports.append(bound.getsockname()[1])
    lines = ["cluster = { name = 'lab' }", "[jobs]"]
    for job, first in (("ps", 0), ("worker", 2)):
        lines.append(f"{job} = ['127.0.0.1:{ports[first]}', '127.0.0.1:{ports[first + 1]}']")
    file = pathlib.Path(folder) / "cluster.toml"
    file.write_text("\n".join(lines))
    nodes = [subprocess.Popen([program, "node", "--cluster", file, "--job", job, "--task", str(task), "--root", "/"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for job, task in places]
    try:
        yield file
    finally:
        for node in nodes:
            node.kill()
            node.wait()


def recovery_of_trainer(program, example, epochs_before):
    """Does what recovery() does for the trainer of a cluster."""
    with tempfile.TemporaryDirectory() as folder, cluster(program, folder) as file:
        arguments = [*command(program, example, folder, ["train.max_epochs=1000000", SYNC]), "--cluster", file, "--resume", "auto"]

        def train(epochs, end):
            run = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            times = []
            for line in run.stdout:
                if line.startswith("epoch"):
                    times.append(time.perf_counter())
                if len(times) == epochs:
                    break
            now = time.perf_counter()
            run.send_signal(end)
            run.communicate()
            assert len(times) == epochs, f"the run ended: {' '.join(map(str, arguments))}"
            return times, now

        before, killed = train(epochs_before, signal.SIGKILL)
        after, _ = train(1, signal.SIGINT)
    return after[0] - killed, statistics.median(b - a for a, b in zip(before[1:-1], before[2:]))


def seconds_of_run(program, example, epochs, mirror):
    with tempfile.TemporaryDirectory() as folder:
        arguments = command(program, example, folder, [f"train.max_epochs={epochs}", SYNC, f"train.fault.mirror={mirror}"], "ps=2,worker=2")
        output = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
    return float(output.rsplit("epochs) in ", 1)[1].split()[0])


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    example = sys.argv[3] if len(sys.argv) > 3 else "digits"
    print("| killed | median, ms | 99th percentile, ms | an epoch, ms |\n|---|---|---|---|")
    curves = {}
    measures = {name: lambda i, role=role: recovery(program, example, role[1], role[2], role[0][i % 2], 12 + i % 7)
                for name, *role in ROLES}
    measures["trainer that is started again"] = lambda i: recovery_of_trainer(program, example, 12 + i % 7)
    for name, measure in measures.items():
        times = [measure(i) for i in range(kills)]
        taken = sorted(time for time, _ in times)
        late = taken[min(kills - 1, int(0.99 * kills))]
        curves[name] = [(time * 1e3, (place + 1) / kills) for place, time in enumerate(taken)]
        epoch = statistics.median(epoch for _, epoch in times)
        print(f"| {name} | {statistics.median(taken) * 1e3:.0f} | {late * 1e3:.0f} | {epoch * 1e3:.0f} |", flush=True)
    draw("recovery", f"Recovery of {example} after kill -9", "time to the next complete epoch, ms", "share of the kills", curves, "x")
    epochs = 60 if example == "digits" else 6
    ratios = [seconds_of_run(program, example, epochs, "true") / seconds_of_run(program, example, epochs, "false") for _ in range(5)]
    print(f"\nWith mirrored servers a step takes {statistics.median(ratios):.2f} times as long.")


if __name__ == "__main__":
    main()
