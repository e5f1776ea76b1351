#!/usr/bin/env python3
"""Measures two builds beside each other: every benchmark that both have, in turns in one run, and the ratio of the medians.

    python bench/side_by_side.py OLD/build/release/bench build/release/bench [PROGRAM...] [--rounds 5] [--filter REGEX] [--above 0]

Only programs that use Google Benchmark can be named; without names: all of them that both folders have. Prints a table in Markdown, the
largest ratio first; --above 1.03 leaves out the rows whose ratio is smaller."""
import argparse
import json
import pathlib
import statistics
import subprocess

PROGRAMS = ["devices_bench", "executor_bench", "kernels_bench", "messages_bench", "passes_bench", "session_bench", "training_bench"]


def times(program, pattern):
    """The time of each benchmark of a program, in nanoseconds: the time that it counts itself, where it does."""
    command = [str(program), "--benchmark_format=json", "--benchmark_min_time=0.05", f"--benchmark_filter={pattern}"]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0 or not result.stdout.strip():
        return {}
    unit = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
    return {row["name"]: row["real_time"] * unit[row["time_unit"]]
            for row in json.loads(result.stdout)["benchmarks"] if "error_message" not in row and row["real_time"] > 0}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--filter", default=".")
    parser.add_argument("--above", type=float, default=0)
    options = parser.parse_args()

    samples = {}
    for program in options.programs or PROGRAMS:
        for _ in range(options.rounds):
            for side in ("old", "new"):
                for name, nanoseconds in times(getattr(options, side) / program, options.filter).items():
                    samples.setdefault((program, name), {}).setdefault(side, []).append(nanoseconds)

    rows = []
    for (program, name), sides in samples.items():
        if len(sides) == 2:
            old, new = (statistics.median(sides[side]) for side in ("old", "new"))
            rows.append((new / old, program.removesuffix("_bench"), name, old / 1e3, new / 1e3))
    print("| program | benchmark | before | now | ratio |\n|---|---|---|---|---|")
    for ratio, program, name, old, new in sorted(rows, reverse=True):
        if ratio >= options.above:
            print(f"| {program} | {name} | {old:.4g} us | {new:.4g} us | {ratio:.2f} |")
    if rows:
        print(f"\n{len(rows)} rows; geometric mean of the ratios {statistics.geometric_mean(row[0] for row in rows):.3f}, "
              f"median {statistics.median(row[0] for row in rows):.3f}")


if __name__ == "__main__":
    main()
