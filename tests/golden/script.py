"""Script: a graph, the steps to run in it, and what TensorFlow answers: one folder of tests/golden/cases, as docs/golden.md has it."""
import io
import json
import pathlib
import re
import zipfile

import numpy
from google.protobuf import text_format

from reference import BFLOAT16, copies, session, tf

CASES = pathlib.Path(__file__).parent / "cases"


class Complaint(Exception):
    """TensorFlow does not do what the case says."""


class Arrays:
    """Those of one arrays.npz, each kept once."""

    def __init__(self):
        self.kept = {}  # by dtype, shape and bytes: name and array

    def reference(self, value):
        """How case.json tells the array."""
        value = numpy.asarray(value, dtype=object if isinstance(value, (bytes, str)) else None)
        if value.dtype == object:
            return {"dtype": "string", "values": nested(value.tolist())}
        if value.dtype == BFLOAT16:
            return {"array": self._entry(value.view(numpy.uint16)), "dtype": "bfloat16"}
        return self._entry(value)

    def _entry(self, value):
        key = (value.dtype.str, value.shape, value.tobytes())
        name, _ = self.kept.setdefault(key, (f"a{len(self.kept)}", value))
        return f"arrays.npz:{name}"

    def write(self, path):
        """As numpy.savez does, but the same bytes every time."""
        if not self.kept:
            return
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
            for name, value in self.kept.values():
                content = io.BytesIO()
                numpy.lib.format.write_array(content, value, version=(1, 0))
                archive.writestr(zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0)), content.getvalue())


def nested(strings):
    if isinstance(strings, list):
        return [nested(one) for one in strings]
    return (strings if isinstance(strings, bytes) else strings.encode()).decode("latin-1")


def without_devices(definition):
    stripped = tf.GraphDef()
    stripped.CopyFrom(definition)
    for node in stripped.node:
        node.device = ""
    return stripped


COUNTED = ("_gradient_op_type", "_read_only_resource_inputs", "forward_function_name", "backward_function_name")  # attributes


def functions_in_use(definition):
    """Those of the library that nodes call, in the order of the calls."""
    library = {function.signature.name: function for function in definition.library.function}
    gradients = {pair.function_name: pair.gradient_func for pair in definition.library.gradient}
    found = {}

    def visit(nodes):
        for node in nodes:
            attrs = [node.attr[key] for key in sorted(node.attr)]
            called = [node.op] + [value.func.name for value in attrs] + [func.name for value in attrs for func in value.list.func]
            for name in called + [gradients[name] for name in called if name in gradients]:
                if name in library and name not in found:
                    found[name] = library[name]
                    visit(library[name].node_def)

    visit(definition.node)
    return list(found.values())


def with_stable_names(definition):
    """TensorFlow numbers functions by process; here they are numbered by graph."""
    functions = functions_in_use(definition)
    del definition.library.function[:]
    definition.library.function.extend(functions)
    for holder in [*functions, *definition.node, *(node for function in functions for node in function.node_def)]:
        for key in COUNTED:
            holder.attr.pop(key, None)
    written = text_format.MessageToString(definition)
    for number, function in enumerate(functions):
        stem = re.sub(r"_\d+", "", function.signature.name)
        written = written.replace(f'"{function.signature.name}"', f'"{stem}_f{number}"')
    written = re.sub(r"_\d+(?=___redundant_placeholder)", "", written)  # arguments are called after functions, too
    return text_format.Parse(written, tf.GraphDef())


class Script:
    """Build the graph in `with script.graph.as_default()`, name its steps, then write(). TensorFlow runs them in one process, so what
    they answer must not depend on where the nodes are."""

    def __init__(self, name, rtol=0, atol=0, missing=()):
        """`missing`: ops that Troupe is known to lack, in order."""
        self.name, self.rtol, self.atol, self.missing = name, rtol, atol, missing
        self.graph = tf.Graph()
        self.steps, self.gradients, self.arrays = [], [], Arrays()

    def gradient(self, name, of, by):
        """Steps fetch Troupe's own as "name:0" and so on, expecting `like` those of TensorFlow."""
        self.gradients.append({"name": name, "of": of.name, "by": [one.name for one in by]})

    def step(self, fetches=(), feeds=None, targets=(), fails=False, **said):
        """`fails`: True, or the name of the error that Troupe answers whatever TensorFlow's is called. `said`: ours=[arrays] or an
        error's name where Troupe differs on purpose, and why; like=[tensors] whose values are expected instead; rtol and atol."""
        self.steps.append((list(fetches), dict(feeds or {}), list(targets), fails, said))

    def run(self, *targets):
        self.step(targets=targets)

    def definition(self):
        return with_stable_names(self.graph.as_graph_def())

    def write(self):
        definition = self.definition()
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(without_devices(definition), name="")
        with session(graph) as running:
            steps = [self._told(running, *step) for step in self.steps]
        folder = CASES / self.name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "graph.pb").write_bytes(definition.SerializeToString(deterministic=True))
        self.arrays.write(folder / "arrays.npz")
        rows = ",\n  ".join(json.dumps(step) for step in steps)
        more = "".join(f',\n "{key}": {json.dumps(value)}' for key in ("gradients", "missing") if (value := getattr(self, key)))
        (folder / "case.json").write_text(f'{{"steps": [\n  {rows}]{more}}}\n')

    def _told(self, running, fetches, feeds, targets, fails, said):
        """The step as case.json has it."""
        told = {key: value for key, value in (
            ("feeds", {name(tensor): self.arrays.reference(value) for tensor, value in feeds.items()}),
            ("targets", [operation(target) for target in targets]), ("fetches", [name(tensor) for tensor in fetches])) if value}
        wanted = said.get("like", fetches)
        answer = self._answer(running, [name(one) for one in wanted], [operation(one) for one in targets],
                              {name(tensor): value for tensor, value in feeds.items()})
        if isinstance(answer, str) != bool(fails) and "ours" not in said:
            raise Complaint(f"{self.name}: {told}: {answer}")
        if isinstance(fails, str) and answer != fails:
            told["why"], answer = f"what was given is at fault; TensorFlow says {answer}", fails
        if "ours" in said:
            told["why"], answer = said["why"], said["ours"]
        if isinstance(answer, str):
            return told | {"error": answer}
        if fetches:
            told["expect"] = [self.arrays.reference(value) for value in answer]
        close = {key: said.get(key, getattr(self, key)) for key in ("rtol", "atol")}
        return told | {key: value for key, value in close.items() if value and fetches}

    @staticmethod
    def _answer(running, fetches, targets, feeds):
        """The values, or the name of the error."""
        try:
            return running.run([fetches, targets], copies(feeds))[0]
        except tf.errors.OpError as error:
            return type(error).__name__.removesuffix("Error")


def name(thing):
    return thing if isinstance(thing, str) else thing.name


def operation(target):
    return name(target).partition(":")[0]
