"""Trains while a random process of the cluster is killed again and again, and compares the time and the result with an undisturbed run:
   python bench/paper/kills.py build/release/troupe [PAUSE [EPOCHS [SEED]]]
PAUSE (5) is the number of seconds between two kills. The cluster has 2 parameter servers with mirrors and 3 workers; lost processes are
started again. Goodput is the time of the undisturbed run over that of the disturbed one.
"""
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading

from recovery import SYNC, children
from training import command


def arguments_of(program, folder, epochs):
    settings = [f"train.max_epochs={epochs}", SYNC, "train.fault.mirror=true", "train.fault.max_restarts=1000"]
    return [*command(program, "digits", folder, settings, "ps=2,worker=3"), "--json"]


def run(program, epochs, pause, draw):
    """Returns the result of a run, and how many processes were killed."""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(arguments_of(program, folder, epochs), stdout=subprocess.PIPE, text=True)
        ended, kills = threading.Event(), 0

        def kill():
            nonlocal kills
            while pause and not ended.wait(pause):
                os.kill(draw.choice(children(process.pid)), signal.SIGKILL)
                kills += 1

        killer = threading.Thread(target=kill)
        killer.start()
        output = process.stdout.read()
        ended.set()
        killer.join()
        assert process.wait() == 0, output
    return json.loads(output), kills


def main():
    program, pause = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 5
    epochs = int(sys.argv[3]) if len(sys.argv) > 3 else 1500
    draw = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    undisturbed, _ = run(program, epochs, 0, draw)
    disturbed, kills = run(program, epochs, pause, draw)
    same = all(undisturbed[name] == disturbed[name] for name in undisturbed if name.startswith("valid/"))
    print(f"{kills} kills in {disturbed['seconds']:.1f} s; undisturbed {undisturbed['seconds']:.1f} s; "
          f"goodput {undisturbed['seconds'] / disturbed['seconds']:.2f}; the results are {'equal' if same else 'different'}")


if __name__ == "__main__":
    main()
