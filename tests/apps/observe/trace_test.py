#!/usr/bin/env python3
"""The timeline that `troupe trace` writes: all tasks and steps are in it, slices nest, and tensors arrive after they were sent.

  trace_test.py PROGRAM SOURCE_DIR
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

PROGRAM, SOURCE = (os.path.abspath(argument) for argument in sys.argv[1:3])
DIGITS = os.path.join(SOURCE, "examples", "digits.toml")
STEPS = 4


def troupe(*arguments, code=0):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == code, f"{arguments}: {done.returncode}: {done.stdout}{done.stderr}"


def trace(*arguments):
    troupe("trace", *arguments, "--steps", str(STEPS), "-o", "trace.json")
    with open("trace.json", encoding="utf-8") as file:
        return json.load(file)


def check_slices(events):
    """Returns the slices by track, after checking that each is complete and that those of a track nest or follow each other."""
    tracks = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            assert event["ts"] >= 0 and event["dur"] >= 0 and event["name"], event
            tracks[event["pid"], event["tid"]].append(event)
    for slices in tracks.values():
        open_until = []
        for one in sorted(slices, key=lambda event: (event["ts"], -event["dur"])):
            end = one["ts"] + one["dur"]
            while open_until and open_until[-1] <= one["ts"] + 1e-6:
                open_until.pop()
            assert not open_until or end <= open_until[-1] + 1e-6, (one, open_until)
            open_until.append(end)
    return tracks


def names(events, what):
    return {(event["pid"], event["tid"] if what == "thread_name" else 0): event["args"]["name"]
            for event in events if event["ph"] == "M" and event["name"] == what}


def check_cluster():
    written = trace(DIGITS, "--local", "ps=1,worker=1")
    events = written["traceEvents"]
    tracks = check_slices(events)
    processes, threads = names(events, "process_name"), names(events, "thread_name")
    tasks = {"/job:ps/replica:0/task:0", "/job:worker/replica:0/task:0"}
    everyone = tasks | {"/job:client/replica:0/task:0"}  # who gives the feeds and gets the loss
    assert everyone | {"master"} == set(processes.values()), processes
    assert set(tracks) == set(threads), "each track has a name"
    assert everyone == set(written["otherData"]["clocks"]), written["otherData"]
    for clock in written["otherData"]["clocks"].values():  # the processes of one machine have one clock
        assert clock["offset_us"] == 0 and clock["round_trip_us"] > 0, clock

    steps = [one for key, slices in tracks.items() if threads[key] == "steps" for one in slices]
    assert len(steps) == STEPS
    ops = collections.Counter(one["name"] for slices in tracks.values() for one in slices)
    # Two shards, each with two products forwards and three for the gradients, in each step.
    assert ops["MatMul"] >= 2 * 2 * STEPS, ops
    for slices in tracks.values():
        for one in slices:
            step = steps[one["args"]["step"] - 1] if "args" in one else None
            if step:
                assert step["ts"] <= one["ts"] and one["ts"] + one["dur"] <= step["ts"] + step["dur"], (one, step)

    starts = {event["id"]: event for event in events if event["ph"] == "s"}
    ends = {event["id"]: event for event in events if event["ph"] == "f"}
    assert starts and set(starts) == set(ends), (len(starts), len(ends))
    crossings = set()
    for number, start in starts.items():
        end = ends[number]
        assert end["ts"] > start["ts"], (start, end)
        crossings.add((processes[start["pid"], 0], processes[end["pid"], 0]))
        sent = [one for one in tracks[start["pid"], start["tid"]] if one["ts"] == start["ts"]]
        received = [one for one in tracks[end["pid"], end["tid"]] if abs(one["ts"] + one["dur"] - end["ts"]) < 1e-2]
        assert any("Send" in one["name"] for one in sent) and any("Recv" in one["name"] for one in received), (sent, received)
    assert len(crossings & {(a, b) for a in tasks for b in tasks if a != b}) == 2, crossings
    # The gradient of w1, 64 x 100 floats, goes from the worker to the server.
    assert any(one.get("args", {}).get("bytes") == 25600 and "Send" in one["name"] for slices in tracks.values() for one in slices)


def check_one_process():
    events = trace(DIGITS, "--set", "data.batch=16")["traceEvents"]
    tracks = check_slices(events)
    assert not [event for event in events if event["ph"] == "s" and event["pid"] == 0]
    assert sum(one["name"] == "MatMul" for slices in tracks.values() for one in slices) >= 2 * STEPS


def check_refusals():
    troupe("trace", "nothing.toml", code=2)
    troupe("trace", DIGITS, "--local", "cook=1", code=2)
    troupe("trace", DIGITS, "--steps", "0", code=2)
    troupe("trace", DIGITS, "-o", "nowhere/trace.json", "--steps", "1", code=1)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_cluster()
        check_one_process()
        check_refusals()


if __name__ == "__main__":
    main()
