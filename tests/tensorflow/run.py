"""Runs the Python tests of a TensorFlow 1.15 source tree with TensorFlow itself, then those that pass with Troupe. README.md says how."""
import argparse
import collections
import json
import os
import pathlib
import re

os.environ.update(CUDA_VISIBLE_DEVICES="-1", TF_CPP_MIN_LOG_LEVEL="3", TF_ENABLE_ONEDNN_OPTS="0", TF_NUM_INTRAOP_THREADS="1",
                  TF_NUM_INTEROP_THREADS="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import compatibility
import session
from outcome import classify
from test_file import run_file

HERE = pathlib.Path(__file__).parent
BEYOND = {"beyond_the_instrument", "nothing_run", "skipped"}  # these say nothing of Troupe


def prepare_tensorflow(tests, out):
    import tensorflow as tf
    v1 = tf.compat.v1
    v1.disable_v2_behavior()
    v1.disable_eager_execution()
    v1.disable_resource_variables()
    v1.disable_control_flow_v2()
    from absl import flags
    flags.FLAGS(["run"], known_only=True)
    flags.FLAGS.test_tmpdir = str(out / "tmp")
    (out / "tmp").mkdir(exist_ok=True)
    os.environ.update(TEST_TMPDIR=str(out / "tmp"), TEST_SRCDIR=str(tests.parent.parent))
    compatibility.compat(tf)
    import tensorflow.python.kernel_tests as kernel_tests
    kernel_tests.__path__.append(str(tests / "kernel_tests"))


def kept(path, run):
    """Returns the results of a former run, or those of `run`, which are kept."""
    if not path.exists():
        path.write_text(json.dumps(run()))
    return json.loads(path.read_text())


def passing(native):
    return {name for name, told in native.items() if name and told["outcome"] == "pass"}


def shortened(text):
    """Leaves out addresses, and the folders of paths."""
    return re.sub(r"0x[0-9a-f]{6,}", "0x", re.sub(r"(/[\w.+-]+){2,}/([\w.+-]+\.py)", r"\2", text))[:700]


def run_one(args, path):
    """Returns {test: (class, detail)} of a file, and prints a line."""
    name = path.replace("/", ".") + ".json"
    native = kept(args.out / "native" / name, lambda: run_file(args, path))
    good = passing(native)
    told = kept(args.out / "troupe" / name, lambda: run_file(args, path, session, good) if good else {})
    classes = {test: classify(what) for test, what in told.items() if test}
    counts = collections.Counter(kind for kind, _ in classes.values())
    print(f"{path}: {len(good)} of {len(native)} pass with TensorFlow; {dict(counts)} {native.get('', {}).get('error', '')}", flush=True)
    return classes


def print_table(classes_of_files):
    """A row for each family: a file of tests, all of whose ops are there, and what differs."""
    print("\n| file | tests | pass | of those whose ops are there | differ |\n|---|---|---|---|---|")
    everything = collections.Counter()
    for path, classes in classes_of_files.items():
        counts = collections.Counter(kind for kind, _ in classes.values() if kind not in BEYOND)
        everything.update(counts)
        print_row(path, counts)
    print_row("all", everything)


def print_row(path, counts):
    total, there = sum(counts.values()), sum(counts.values()) - counts["missing_op"]
    if total == 0:
        return
    differ = ", ".join(f"{kind} {n}" for kind, n in counts.most_common() if kind != "pass")
    share = f"{counts['pass'] / there:.1%}" if there else ""
    print(f"| {path} | {total} | {counts['pass'] / total:.1%} | {share} | {differ} |")


def print_missing(classes_of_files):
    blocked = collections.Counter()
    for classes in classes_of_files.values():
        for kind, detail in classes.values():
            if kind == "missing_op":
                blocked.update(detail.split(", "))
    if blocked:
        print("\nMissing ops, and how many tests they block: " + ", ".join(f"{op} {n}" for op, n in blocked.most_common()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tests", required=True, type=pathlib.Path, help="tensorflow/python of a source tree of TensorFlow 1.15")
    parser.add_argument("--driver", required=True, help="build/release/tests/tensorflow_driver")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="folder for the results; those of a former run are kept")
    parser.add_argument("--files", nargs="*", help="test files, such as kernel_tests/array_ops_test.py; default: those of files.txt")
    parser.add_argument("--limit", type=int, default=10, help="seconds for one test")
    parser.add_argument("--budget", type=int, default=150, help="seconds for one file with each of the two")
    args = parser.parse_args()
    args.tests, args.out, args.driver = args.tests.resolve(), args.out.resolve(), os.path.abspath(args.driver)
    for folder in ("native", "troupe"):
        (args.out / folder).mkdir(parents=True, exist_ok=True)
    prepare_tensorflow(args.tests, args.out)
    listed = [line.split("#")[0].strip() for line in (HERE / "files.txt").read_text().splitlines()]
    files = args.files or [path for path in listed if path]
    classes_of_files = {path: run_one(args, path) for path in files}
    details = {f"{path}:{test}": [kind, shortened(detail)] for path, classes in classes_of_files.items()
               for test, (kind, detail) in classes.items()}
    (args.out / "results.json").write_text(json.dumps(details, indent=0))
    print_table(classes_of_files)
    print_missing(classes_of_files)


if __name__ == "__main__":
    main()
