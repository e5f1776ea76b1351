"""Prints the table of bench/README.md that compares kernels with their floor:
   chrt -f 1 python3 bench/kernels_table.py build/release/bench/kernels_bench [repetitions]
The results are medians over the repetitions: for each size the time, and its ratio to the floor measured right after it
(bench/floors.h).
"""
import json
import subprocess
import sys

SIZES = ["1K", "32K", "1M", "16M", "100M"]


def seconds(entry):
    return entry["cpu_time"] * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}[entry["time_unit"]]


def time_text(value):
    for unit, scale in (("ms", 1e3), ("us", 1e6)):
        if value * scale >= 1:
            return f"{value * scale:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def main(program, repetitions):
    output = subprocess.run([program, "--benchmark_format=json", "--benchmark_min_time=0.01",
                             f"--benchmark_repetitions={repetitions}", "--benchmark_report_aggregates_only=true"],
                            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    report = json.loads(output)
    rows, products = {}, []
    for entry in report["benchmarks"]:
        if entry["aggregate_name"] != "median":
            continue
        if "flops" in entry:
            products.append(f"| {entry['run_name']} | {time_text(seconds(entry))} | {entry['flops']:.2f} |")
        else:
            name, size = entry["run_name"].rsplit("/", 1)
            rows.setdefault(name, {})[size] = f"{time_text(seconds(entry))} | {entry['floor']:.1f}"
    print("| kernel | " + " | x | ".join(SIZES) + " | x |\n|---" + "|---" * 2 * len(SIZES) + "|")
    for name, cells in rows.items():
        print(f"| {name} | " + " | ".join(cells.get(size, " | ") for size in SIZES) + " |")
    limit = float(report["context"]["FMA limit, GFLOP/s of one core"])
    print(f"\n| product | time | of {limit:.0f} GFLOP/s |\n|---|---|---|")
    print("\n".join(products))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5)
