"""Every family of cases: the FAMILIES of op_cases.py, then those of each *_op_cases.py, by name."""
import importlib
import pathlib

NAMES = ["op_cases"] + sorted(path.stem for path in pathlib.Path(__file__).parent.glob("*_op_cases.py"))
MODULES = {name: importlib.import_module(name) for name in NAMES}
FAMILIES = tuple(family for module in MODULES.values() for family in module.FAMILIES)
