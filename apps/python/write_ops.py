"""Writes the module troupe.ops from the op table: a function for each constructor of an op, under the name that C++ and run files
use, and one for each other op under its own name in snake case.
   write_ops.py EXTENSION OUT
"""
import importlib.util
import keyword
import pathlib
import re
import sys
import textwrap

HEAD = '''"""The functions of all ops. They add nodes to the graph in use (see troupe.Graph). Inputs are outputs of the graph, or numbers,
lists and arrays, which become constants; lists with outputs are stacked. docs/ops.md lists the ops, and TensorFlow's documentation
says what they compute. Functions with the names that C++ and run files use (matmul) return one output; its node, `result.op`, has the
others. The functions with the names of ops (top_kv2) return all outputs. This file is written from the op table by
apps/python/write_ops.py."""
# mypy: disable-error-code=no-any-return
from __future__ import annotations

import builtins
from typing import Any, Optional, Sequence

from ._adding import add_all_axes as _all_axes
from ._adding import add_list as _list
from ._adding import add_node as _node
from ._troupe import Operation, Output
from .types import DTypeLike, ShapeLike, TensorLike

'''

ATTRIBUTE_TYPES = {
    "string": "str | bytes", "int": "int", "float": "float", "bool": "builtins.bool", "type": "DTypeLike", "shape": "ShapeLike",
    "tensor": "TensorLike", "func": "str", "list(string)": "Sequence[str | bytes]", "list(int)": "Sequence[int]",
    "list(float)": "Sequence[float]", "list(bool)": "Sequence[builtins.bool]", "list(type)": "Sequence[DTypeLike]",
    "list(shape)": "Sequence[ShapeLike]",
}


def snake_case(name):
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def safe(name):
    return name + "_" if keyword.iskeyword(name) else name


def described(arguments):
    return ", ".join(f"{argument['name']}: {argument['type']}" for argument in arguments) or "none"


def docstring(op):
    lines = [f"{op['name']}. Inputs: {described(op['inputs'])}. Outputs: {described(op['outputs'])}."]
    for attr in op["attrs"]:
        if attr["allowed"]:
            lines.append(f"{attr['name']}: {', '.join(attr['allowed'])}.")
    text = "\n".join("\n".join(textwrap.wrap(line, 116)) for line in lines)
    text = text.replace("\\", "\\\\")
    return f'    r"""{text}"""\n' if "\n" not in text else '    r"""' + text.replace("\n", "\n    ") + '\n    """\n'


def result_type(op):
    if any(output["is_list"] for output in op["outputs"]):
        return "list[Output]"
    count = len(op["outputs"])
    return "Operation" if count == 0 else "Output" if count == 1 else f"tuple[{', '.join(['Output'] * count)}]"


class Parameter:
    def __init__(self, name, annotation, default=None, has_default=False):
        self.name, self.has_default = safe(name), has_default
        optional = has_default and default is None
        self.text = f"{self.name}: {f'Optional[{annotation}]' if optional else annotation}" + (f" = {default!r}" if has_default else "")


def function(name, parameters, result, doc, body):
    """Parameters without a default behind one with a default are given by name."""
    texts, positional = [], True
    seen_default = False
    for parameter in parameters:
        if positional and seen_default and not parameter.has_default:
            texts.append("*")
            positional = False
        seen_default = seen_default or parameter.has_default
        texts.append(parameter.text)
    texts += (["*"] if positional else []) + ["name: Optional[str] = None"]
    return f"\n\ndef {safe(name)}({', '.join(texts)}) -> {result}:\n{doc}    return {body}\n"


def input_type(argument):
    return "Sequence[TensorLike]" if argument["is_list"] else "TensorLike"


def call_text(op, inputs, attrs):
    given = f"({', '.join(inputs)}{',' if len(inputs) == 1 else ''})"
    return f"{op['name']!r}, name, {given}, {{{', '.join(f'{key!r}: {value}' for key, value in attrs)}}}"


def of_constructor(op, constructor):
    inputs = {argument["name"]: argument for argument in op["inputs"]}
    attrs = {attr["name"]: attr for attr in op["attrs"]}
    parameters, given, values = [], {}, []
    first = None
    for parameter in constructor["parameters"]:
        name, target = safe(parameter["name"]), parameter["target"]
        if parameter["is_input"]:
            has_default = not parameter["required"]
            parameters.append(Parameter(name, input_type(inputs[target]), parameter["default"], has_default))
            given[target] = f"_all_axes({first}) if {name} is None else {name}" if parameter["all_axes"] else name
            first = first or name
            continue
        attr = attrs[target]
        default = parameter["default"] if parameter["default"] is not None else attr["default"]
        parameters.append(Parameter(name, ATTRIBUTE_TYPES[attr["kind"]], default, not parameter["required"]))
        values.append((target, name))
    call = call_text(op, [given[argument["name"]] for argument in op["inputs"]], values)
    if any(output["is_list"] for output in op["outputs"]):
        return function(constructor["name"], parameters, "list[Output]", docstring(op), f"_list({call})")
    pick = "" if len(op["outputs"]) <= 1 else f"[{constructor['output']}]"
    return function(constructor["name"], parameters, "Operation" if not op["outputs"] else "Output", docstring(op), f"_node({call}){pick}")


def of_op(op, name):
    inferred = {attr for argument in op["inputs"] for attr in argument["attrs"]}
    needed, optional, values = [], [], []
    taken = {safe(argument["name"]) for argument in op["inputs"]} | {"name"}
    for attr in op["attrs"]:
        parameter = safe(attr["name"])
        parameter += "_" if parameter in taken else ""
        annotation = ATTRIBUTE_TYPES[attr["kind"]]
        if attr["has_default"] or attr["name"] in inferred:
            optional.append(Parameter(parameter, annotation, None if attr["name"] in inferred else attr["default"], True))
        else:
            needed.append(Parameter(parameter, annotation))
        values.append((attr["name"], parameter))
    parameters = [Parameter(argument["name"], input_type(argument)) for argument in op["inputs"]] + needed + optional
    call = call_text(op, [safe(argument["name"]) for argument in op["inputs"]], values)
    is_list = any(output["is_list"] for output in op["outputs"])
    return function(name, parameters, result_type(op), docstring(op), f"{'_list' if is_list else '_node'}({call})")


def module_text(ops):
    functions = {}
    for op in ops:
        for constructor in op["constructors"]:
            functions[constructor["name"]] = of_constructor(op, constructor)
    for op in ops:
        name = snake_case(op["name"])
        if name.startswith("_") or any(constructor["name"] == name for constructor in op["constructors"]):
            continue
        functions[name + "_" if name in functions else name] = of_op(op, name + "_" if name in functions else name)
    return HEAD + "".join(functions[name] for name in sorted(functions)).lstrip("\n")


def main(extension, out):
    spec = importlib.util.spec_from_file_location("_troupe", extension)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = module_text(module.op_definitions(module.Runtime(threads=1)))
    pathlib.Path(out).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
