"""Golden cases: writes tests/golden/cases/, whose form and use stand in docs/golden.md. What is made is the same bytes every time.
   python3 -m venv VENV && VENV/bin/pip install tensorflow-cpu && VENV/bin/python tests/golden/make.py [NAME...]
A NAME is an op ("Sum": its cases in ops/ and gradients/) or a function of model_graphs.py, state_graphs.py, flow_graphs.py,
function_graphs.py, list_graphs.py, array_graphs.py, ragged_graphs.py, queue_graphs.py, saver_graphs.py or keyed_state_graphs.py;
without any, everything is made anew, and then cases that nothing makes are removed. Then it lists what Troupe's kernels/ have and
no case does.
"""
import pathlib
import re
import shutil
import sys
import time

import reference  # first: it says how TensorFlow is to start
import array_graphs
import flow_graphs
import function_graphs
import keyed_state_graphs
import list_graphs
import model_graphs
import op_folders
import queue_graphs
import ragged_graphs
import saver_graphs
import state_graphs
from script import CASES

RANDOM = {"FixedUnigramCandidateSampler", "FractionalAvgPool", "FractionalMaxPool", "LearnedUnigramCandidateSampler", "LogUniformCandidateSampler",
          "Multinomial", "ParameterizedTruncatedNormal", "RandomCrop", "RandomGamma", "RandomPoisson", "RandomPoissonV2", "RandomShuffle",
          "RandomStandardNormal", "RandomUniform", "RandomUniformInt", "SampleDistortedBoundingBox", "SampleDistortedBoundingBoxV2",
          "ThreadUnsafeUnigramCandidateSampler", "TruncatedNormal", "UniformCandidateSampler"}  # draw numbers of their own
# Those that TensorFlow refuses in new graphs, and one that it has no kernel for.
REFUSED = {"BatchNormWithGlobalNormalization", "BatchNormWithGlobalNormalizationGrad", "QuantizeAndDequantize", "QuantizedReluX"}


def ops_in_use():
    """The ops of all cases, those in functions too."""
    used = set()
    for path in CASES.glob("*/*/graph.pb"):
        graph = reference.tf.GraphDef.FromString(path.read_bytes())
        used |= {node.op for function in graph.library.function for node in function.node_def} | {node.op for node in graph.node}
    return used


def ops_of_troupe():
    """The names in kernels/ that TensorFlow knows."""
    kernels = (CASES.parents[2] / "kernels").rglob("*.cpp")
    names = {name for path in kernels for name in re.findall(r'"([A-Z]\w*)"', path.read_text())}
    return {name for name in names if reference.op_def_registry.get(name)}


def makers():
    """By name, what writes the cases of that name."""
    found = {op: lambda op=op, cases=cases: op_folders.write(op, cases) for op, cases in op_folders.cases_by_op().items()}
    for module in (model_graphs, state_graphs, flow_graphs, function_graphs, list_graphs, array_graphs, ragged_graphs,
                   queue_graphs, saver_graphs, keyed_state_graphs):
        found |= {make.__name__: make for make in module.GRAPHS}
    return found


def main(names):
    known = makers()
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"no case is called {', '.join(unknown)}; there are {' '.join(sorted(known))}")
    begin = time.time()
    for name in names or known:
        known[name]()
    if not names:
        for graph in CASES.glob("*/*/graph.pb"):
            if graph.stat().st_mtime < begin:
                shutil.rmtree(graph.parent)
    if without := ops_of_troupe() - ops_in_use() - RANDOM - REFUSED:
        print("in no case:", *sorted(without))
    files = [path for path in pathlib.Path(CASES).rglob("*") if path.is_file()]
    print(f"{len(list(CASES.glob('*/*')))} cases, {sum(path.stat().st_size for path in files)} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
