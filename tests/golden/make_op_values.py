"""Outputs of single ops as the real TensorFlow computes them: writes tests/golden/op_values/, which tests/kernels/golden_test.cpp holds
Troupe's kernels to. The test itself needs no Python; run this again when a case is added to a file of cases (about a minute for all):
   python3 -m venv VENV && VENV/bin/pip install tensorflow-cpu && VENV/bin/python tests/golden/make_op_values.py [FILE OF CASES...]
The values were made with TensorFlow 2.21.0 (its CPU kernels in graph mode, nothing simplified, oneDNN off).

A case of a dtype for which TensorFlow has no kernel is left out. Each file of cases has a file of values, one item a line:
  case OP [close R A]      attr NAME VALUE      in DTYPE[DIMS] VALUES      out DTYPE[DIMS] VALUES      fails      # why
Values are separated by spaces: shortest decimals, re,im for complex, 0 or 1 for bool, strings percent-encoded ("" is %; of attributes only spaces, % and
what is not ASCII).
"""
import pathlib
import string
import sys
import urllib.parse

import numpy
from tensorflow.python.framework import op_def_registry

from op_cases import cases_of
from op_families import MODULES
from reference import BFLOAT16, Missing, kind, tensorflow_outputs, tf

PLAIN = "".join(set(string.punctuation) - {"%"})  # of the text of attributes, which has its spaces percent-encoded
NAMES = {"float32": "float", "float64": "double", "float16": "half"}


def number(value):
    if isinstance(value, (complex, numpy.complexfloating)):
        return number(value.real) + "," + number(value.imag)
    if isinstance(value, numpy.void):  # a quantised integer
        return str(value[0])
    if value.dtype == numpy.bool_:
        return str(int(value))
    if value.dtype == BFLOAT16:
        value = numpy.float32(value)
    result = str(value)
    return result[:-2] if result.endswith(".0") else result


def encoded(value):
    raw = value if isinstance(value, bytes) else value.encode()
    return urllib.parse.quote(raw) or "%"


def tensor(value):
    value = numpy.asarray(value, dtype=object if isinstance(value, (bytes, str)) else None)
    name = NAMES.get(kind(value).name, kind(value).name)
    dims = ",".join(map(str, value.shape))
    show = encoded if value.dtype == object else number
    return " ".join([f"{name}[{dims}]"] + [show(item) for item in value.reshape(-1)])


def attribute(value):
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, tf.TensorShape):
        return "[" + ",".join("?" if dim is None else str(dim) for dim in value.as_list()) + "]"
    if isinstance(value, (list, tuple)):
        return (";" if value and isinstance(value[0], tf.TensorShape) else ",").join(map(attribute, value))
    if isinstance(value, bytes):
        return encoded(value)
    if isinstance(value, tf.DType) or (isinstance(value, type) and issubclass(value, numpy.generic)):
        return NAMES.get(tf.as_dtype(value).name, tf.as_dtype(value).name)
    if isinstance(value, str):
        return urllib.parse.quote(value, safe=PLAIN)
    return str(value)


complaints, counts = [], {"cases": 0, "left out": 0, "differ": 0}


def numbers_of(case):
    """The attributes that count or type the inputs of an op with several lists of them; of one list they follow from the inputs."""
    found = {}
    for argument, value in zip(op_def_registry.get(case.op).input_arg, case.inputs) if op_def_registry.get(case.op) else ():
        if argument.number_attr:
            found[argument.number_attr] = len(value)
        if argument.type_list_attr:
            found[argument.type_list_attr] = [kind(one) for one in value]
    return found if len(found) > 1 else {}


def write(case, lines):
    try:
        outputs = tensorflow_outputs(case.op, case.inputs, case.attrs)
    except Missing:
        counts["left out"] += 1
        return
    label = f"{case.op} {case.attrs} of {[tensor(value)[:60] for value in case.arrays()]}"
    if case.ours is None and (outputs is None) != case.fails:
        complaints.append(f"{label}: {'refused' if outputs is None else 'not refused: ' + str([tensor(o) for o in outputs])}")
        return
    counts["cases"] += 1
    lines.append(f"case {case.op}" + (f" close {case.close} {case.near}" if case.close or case.near else ""))
    lines.extend(f"attr {name} {attribute(value)}" for name, value in {**numbers_of(case), **case.attrs}.items())
    lines.extend(f"in {tensor(value)}" for value in case.arrays())
    theirs = ["fails"] if outputs is None else [f"out {tensor(value)}" for value in outputs]
    if case.ours is None:
        lines.extend(theirs)
        return
    counts["differ"] += 1
    wanted = ["fails"] if case.ours == "fails" else [f"out {tensor(value)}" for value in case.ours]
    if wanted == theirs:
        complaints.append(f"{label}: the same as ours")
    lines.append(f"# {case.why}. TensorFlow: {'; '.join(theirs)}")
    lines.extend(wanted)


def values_of(module):
    lines = [f"# Made by tests/golden/make_op_values.py with TensorFlow {tf.VERSION}; the form stands there."]
    for family in module.FAMILIES:
        lines.append(f"# {family.__name__.replace('_', ' ')}")
        for case in cases_of(family):
            write(case, lines)
    return "\n".join(lines) + "\n"


def main():
    names = [pathlib.Path(name).stem for name in sys.argv[1:]] or MODULES
    values = {name: values_of(MODULES[name]) for name in names}
    if complaints:
        print("\n".join(complaints))
        sys.exit(f"{len(complaints)} cases are not as they say")
    folder = pathlib.Path(__file__).parent / "op_values"
    for name, text in values.items():
        (folder / f"{name}.txt").write_text(text)
    print(f"{folder}: {counts}")


if __name__ == "__main__":
    main()
