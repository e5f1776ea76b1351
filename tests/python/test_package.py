"""The package as a whole: its types, and its example."""
import importlib.util
import pathlib
import re
import subprocess
import sys

import pytest

import troupe

ROOT = pathlib.Path(__file__).parent.parent.parent
PACKAGE = pathlib.Path(troupe.__file__).parent

USE = """
import numpy as np
import troupe
with troupe.Graph() as graph:
    x = troupe.placeholder("float32", [None, 2])
    y: troupe.Output = troupe.ops.matmul(x @ np.ones([2, 2]), [[1.0], [2.0]], transpose_a=False)
    step: troupe.Operation = troupe.nn.Adam(y[0, 0]).minimize(troupe.ops.sum(y))
    rows = troupe.ops.shape(x)[0]
    flat: troupe.Output = troupe.ops.reshape(troupe.ops.concat([[rows], [2]], 0), [rows, -1])
    troupe.while_loop(lambda i, s: i < 3, lambda i, s: [i + 1, s], [0, {"a": (x, [flat])}], shape_invariants=[[], {"a": ([None, 2], [None])}])
    troupe.scan(lambda s, e: (s[0] + e["x"], s[1]), {"x": x, "y": np.ones(3)}, (x[0], [0.0, 1.0]))
    troupe.nn.mean_squared_error([rows, 1], [2, 2])
with troupe.Session(graph) as session:
    session.run({"y": y, "step": step}, {x: [[1, 2]]}, timeout=1.0)
model: troupe.Model = troupe.load("runs/digits")
reveal_type(troupe.ops.top_kv2(y, 1))
"""


def test_types(tmp_path):
    pytest.importorskip("mypy")
    use = tmp_path / "use.py"
    use.write_text(USE)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache")]
    checked = subprocess.run([*command, str(PACKAGE), str(use)], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout
    assert "tuple[troupe._troupe.Output, troupe._troupe.Output]" in checked.stdout


def test_the_version_is_that_of_the_project():
    cmake = (ROOT / "CMakeLists.txt").read_text()
    assert f"VERSION {troupe.__version__}" in cmake


def test_the_stubs_name_what_the_module_has():
    stubs = (PACKAGE / "_troupe.pyi").read_text()
    declared = set(re.findall(r"^(?:class|def) (\w+)", stubs, re.M))
    present = {name for name in vars(troupe._troupe) if not name.startswith("__")}
    assert declared == present
    for name in declared:
        thing = getattr(troupe._troupe, name)
        if isinstance(thing, type):
            body = re.search(rf"^class {name}\b.*?(?=^\S|\Z)", stubs, re.M | re.S).group()
            members = set(re.findall(r"^    (?:def )?(\w+)[:(]", body, re.M))
            assert members <= set(dir(thing)), name


BESIDE = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
import tensorflow as tf, troupe
with troupe.Graph() as graph:
    x = troupe.placeholder("float32", [None], name="x")
    troupe.ops.sum(x * x, name="y")
with tf.Graph().as_default():
    tf.import_graph_def(tf.compat.v1.GraphDef.FromString(graph.graph_def()), name="")
    with tf.compat.v1.Session() as session:
        assert session.run("y:0", {"x:0": [1, 2, 3]}) == 14
"""


@pytest.mark.parametrize("order", [["tensorflow", "troupe"], ["troupe", "tensorflow"]])
def test_beside_tensorflow(order):
    if importlib.util.find_spec("tensorflow") is None:
        pytest.skip("TensorFlow is not installed")
    done = subprocess.run([sys.executable, "-c", BESIDE, *order], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("example", sorted((ROOT / "examples" / "python").glob("*.py")), ids=lambda path: path.name)
def test_examples(example, tmp_path):
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    accuracy = float(re.search(r"accuracy (\S+)", done.stdout).group(1))
    assert accuracy > 0.9, done.stdout
