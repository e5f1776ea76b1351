#!/usr/bin/env python3
"""Counts the instructions of a step in two builds: executor_bench under valgrind's callgrind, so that a busy machine changes nothing.

    python bench/instructions.py OLD/build/release/bench build/release/bench BENCHMARK...

The count is that of StepRunner::drive and all that it calls, divided by the number of its calls. Prints a table in Markdown."""
import pathlib
import re
import subprocess
import sys
import tempfile

FUNCTION = "troupe::StepRunner::drive()"


def instructions_of_calls(profile):
    """The instructions of all calls of the function, inclusive, and the number of the calls."""
    names, callee, total, calls, inclusive_follows = {}, None, 0, 0, False
    for line in profile.read_text().splitlines():
        if match := re.match(r"(c?fn)=\((\d+)\)(?: (.*))?", line):
            kind, number, name = match.groups()
            if name:
                names[number] = name.strip()
            if kind == "cfn":
                callee = names.get(number)
        elif callee == FUNCTION and (match := re.match(r"calls=(\d+)", line)):
            calls += int(match[1])
            inclusive_follows = True
        elif inclusive_follows:
            total += int(line.split()[1])
            inclusive_follows = False
    return total, calls


def instructions_of_step(folder, benchmark):
    with tempfile.TemporaryDirectory() as scratch:
        profile = pathlib.Path(scratch) / "profile"
        subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", f"{folder}/executor_bench",
                        f"--benchmark_filter={benchmark}$", "--benchmark_min_time=0.3"], capture_output=True, check=True)
        total, calls = instructions_of_calls(profile)
    if calls == 0:
        sys.exit(f"{folder}/executor_bench has no benchmark {benchmark} that runs steps")
    return total / calls


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    print("| benchmark | before | now | ratio |\n|---|---|---|---|")
    for benchmark in sys.argv[3:]:
        old, new = (instructions_of_step(folder, benchmark) for folder in sys.argv[1:3])
        print(f"| {benchmark} | {old:,.0f} | {new:,.0f} | {new / old:.3f} |")


main()
