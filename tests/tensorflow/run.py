"""Runs the Python tests of a TensorFlow 1.15 source tree with Troupe, and those that fail with TensorFlow itself. README.md says how."""
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


def shortened(text):
    """Leaves out addresses, and the folders of paths."""
    return re.sub(r"0x[0-9a-f]{6,}", "0x", re.sub(r"(/[\w.+-]+){2,}/([\w.+-]+\.py)", r"\2", text))[:700]


def with_tensorflow(args, path, tests):
    """Returns the results of these tests with TensorFlow itself. Those of former runs are kept."""
    kept_at = args.out / "native" / path_name(path)
    native = json.loads(kept_at.read_text()) if kept_at.exists() else {}
    if not set(tests) <= set(native):
        native.update(run_file(args, path, only=set(tests) - set(native)))
        kept_at.write_text(json.dumps(native))
    return native


def path_name(path):
    return path.replace("/", ".") + ".json"


def run_one(args, path, purposeful):
    """Returns {test: (class, detail)} of a file, and prints a line."""
    kept_at = args.out / "troupe" / path_name(path)
    if not kept_at.exists():
        kept_at.write_text(json.dumps(run_file(args, path, session)))
    told = json.loads(kept_at.read_text())
    error = told.pop("", {}).get("error", "")
    classes = {test: classify(what) for test, what in told.items()}
    failing = [test for test, (kind, _) in classes.items() if kind != "pass" and kind not in BEYOND]
    native = with_tensorflow(args, path, failing) if failing else {}
    for test in failing:
        if native.get(test, {}).get("outcome") != "pass":
            del classes[test]
        elif f"{path}:{test}" in purposeful:
            classes[test] = "on_purpose", classes[test][1]
    counts = collections.Counter(kind for kind, _ in classes.values())
    print(f"{path}: {len(told)} tests; {dict(counts)}; {len(told) - len(classes)} fail with TensorFlow, too {error}", flush=True)
    return classes


COLUMNS = ["pass", "missing_op", "on_purpose", "text_differs"]


def print_table(families, classes_of_files):
    """A row for each family of files. The last columns are bugs, and tests that need what no op of Troupe has."""
    print("\n| family | files | tests | pass | lack an op | differ on purpose | differ in an error's text | other | "
          "right, of those whose ops are there |\n|---|---|---|---|---|---|---|---|---|")
    everything, files = collections.Counter(), 0
    for family, paths in families.items():
        counts = collections.Counter(kind for path in paths for kind, _ in classes_of_files.get(path, {}).values() if kind not in BEYOND)
        if counts:
            everything.update(counts)
            ran = sum(path in classes_of_files for path in paths)
            files += ran
            print_row(family, ran, counts)
    print_row("all", files, everything)


def print_row(family, files, counts):
    total = sum(counts.values())
    there = total - counts["missing_op"]
    cells = [counts[kind] for kind in COLUMNS] + [total - sum(counts[kind] for kind in COLUMNS)]
    right = counts["pass"] + counts["on_purpose"] + counts["text_differs"]
    share = f"{right / there:.1%}" if there else ""
    print(f"| {family} | {files} | {total} | " + " | ".join(map(str, cells)) + f" | {share} |")


def print_missing(classes_of_files):
    blocked = collections.Counter()
    for classes in classes_of_files.values():
        for kind, detail in classes.values():
            if kind == "missing_op":
                blocked.update(detail.split(", "))
    if blocked:
        print("\nMissing ops, and how many tests they block: " + ", ".join(f"{op} {n}" for op, n in blocked.most_common()))


def headed_lists(name):
    """Returns {heading: lines} of a file, where a line [HEADING] begins each list."""
    lists = collections.defaultdict(list)
    for line in (HERE / name).read_text().split("\n"):
        if line.startswith("["):
            heading = line[1:-1]
        elif line:
            lists[heading].append(line)
    return lists


def print_purposes(purposes, classes_of_files):
    print("\nDiffer on purpose:")
    for purpose, tests in purposes.items():
        there = [test for test in tests if classes_of_files.get(test.split(":")[0], {}).get(test.split(":")[1], [""])[0] == "on_purpose"]
        if there:
            print(f"- {purpose} ({', '.join(test.split('.')[-1] for test in there)})")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tests", required=True, type=pathlib.Path, help="tensorflow/python of a source tree of TensorFlow 1.15")
    parser.add_argument("--driver", required=True, help="build/release/tests/tensorflow_driver")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="folder for the results; those of a former run are kept")
    parser.add_argument("--files", nargs="*", help="test files, such as kernel_tests/array_ops_test.py; default: those of files.txt")
    parser.add_argument("--families", nargs="*", help="families of files.txt; default: all")
    parser.add_argument("--limit", type=int, default=60, help="seconds for one test")
    parser.add_argument("--budget", type=int, default=600, help="seconds for one file with each of the two")
    args = parser.parse_args()
    args.tests, args.out, args.driver = args.tests.resolve(), args.out.resolve(), os.path.abspath(args.driver)
    for folder in ("native", "troupe"):
        (args.out / folder).mkdir(parents=True, exist_ok=True)
    prepare_tensorflow(args.tests, args.out)
    families, purposes = headed_lists("files.txt"), headed_lists("on_purpose.txt")
    purposeful = {test for tests in purposes.values() for test in tests}
    files = args.files or [path for family, paths in families.items() if family in (args.families or families) for path in paths]
    classes_of_files = {path: run_one(args, path, purposeful) for path in files}
    details = {f"{path}:{test}": [kind, shortened(detail)] for path, classes in classes_of_files.items()
               for test, (kind, detail) in classes.items()}
    (args.out / "results.json").write_text(json.dumps(details, indent=0))
    print_table(families, classes_of_files)
    print_purposes(purposes, classes_of_files)
    print_missing(classes_of_files)


if __name__ == "__main__":
    main()
