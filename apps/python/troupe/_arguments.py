"""What is wrong with arguments that a function of the extension module does not take, said without the types of C++."""
from __future__ import annotations

import os
import re
from typing import Any, Callable, Iterable, Mapping, NamedTuple, Optional, Sequence

from . import _troupe

_REFUSAL = re.compile(r"(\w+)\(\): incompatible (function|constructor) arguments\. .*?:\n(.*?)\n\nInvoked with: ", re.S)
_SIGNATURE = re.compile(r"^    \d+\. ([\w.]*)\((.*)\)(?: -> .*)?$", re.M)
_GENERIC = re.compile(r"(\w+)\[(.*)\]", re.S)
_CAST = re.compile(r"Unable to cast Python instance of type <class '([^']*)'> to C\+\+ type '(.*)'")
_CPP_TYPES = {"double": "a number", "float": "a number", "int": "an integer", "long": "an integer", "unsigned": "an integer",
              "bool": "True or False", "std::__cxx11::basic_string": "text", "std::string": "text", "std::pair": "a pair",
              "std::vector": "a list", "std::map": "a dictionary"}
#: What a function of the package gives by itself.
_OWN = ("self", "scope")


class Type(NamedTuple):
    """A type of an argument: what it is called for one value and for several, and which values pybind11 takes for it."""

    one: str
    many: str
    fits: Callable[[Any], bool]


def _is_integer(value: Any) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, float)


def _is_list(value: Any) -> bool:
    return hasattr(value, "__getitem__") and hasattr(value, "__len__") and not isinstance(value, (str, bytes, dict))


_TYPES = {
    "int": Type("an integer", "integers", _is_integer),
    "float": Type("a number", "numbers", lambda value: hasattr(value, "__float__") or hasattr(value, "__index__")),
    "bool": Type("True or False", "truth values", lambda value: value is None or hasattr(value, "__bool__")),
    "str": Type("text", "texts", lambda value: isinstance(value, (str, bytes))),
    "bytes": Type("bytes", "bytes", lambda value: isinstance(value, bytes)),
    "dict": Type("a dictionary", "dictionaries", lambda value: isinstance(value, dict)),
    "list": Type("a list", "lists", lambda value: isinstance(value, list)),
    "tuple": Type("a tuple", "tuples", lambda value: isinstance(value, tuple)),
    "os.PathLike": Type("a path", "paths", lambda value: isinstance(value, (str, bytes, os.PathLike))),
}
_ANY = Type("another value", "other values", lambda value: True)
_FUNCTION = Type("a function", "functions", callable)


def _type_of(name: str) -> Type:
    """Returns the type that a signature of pybind11 names; one that takes all values if it is not known here."""
    generic = _GENERIC.fullmatch(name)
    if generic is None:
        known = getattr(_troupe, name[len("troupe._troupe."):], None) if name.startswith("troupe._troupe.") else None
        return _of_class(known) if isinstance(known, type) else _TYPES.get(name, _ANY)
    if generic[1] == "Callable":
        return _FUNCTION
    inner = [_type_of(part) for part in _parts(generic[2])]
    if generic[1] == "Optional":
        return Type(inner[0].one + " or None", inner[0].many + " or None", lambda value: value is None or inner[0].fits(value))
    if generic[1] == "List":
        return Type(f"a list of {inner[0].many}", f"lists of {inner[0].many}",
                    lambda value: _is_list(value) and all(map(inner[0].fits, value)))
    if generic[1] == "Dict":
        return Type(f"a dictionary of {inner[0].many} to {inner[1].many}", "dictionaries", lambda value: isinstance(value, dict) and
                    all(inner[0].fits(key) and inner[1].fits(one) for key, one in value.items()))
    return _ANY


def _of_class(known: type) -> Type:
    return Type(f"of type {known.__name__}", f"values of type {known.__name__}", lambda value: isinstance(value, known))


class Parameter(NamedTuple):
    name: str
    type: str
    is_needed: bool
    by_position: bool


def _parts(text: str) -> list[str]:
    """Returns what commas part, but for those in brackets and in quotes."""
    parts, depth, quote = [""], 0, ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        else:
            depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0 and not quote:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def _parameters(text: str) -> list[Parameter]:
    result: list[Parameter] = []
    by_position = True
    for part in _parts(text):
        if part.startswith("*"):
            by_position = False
            continue
        declared, equals, _ = part.partition(" = ")
        name, _, type_name = declared.partition(": ")
        result.append(Parameter(name, type_name, not equals, by_position))
    return result


def _listed(parameters: Iterable[Parameter]) -> str:
    return ", ".join(parameter.name for parameter in parameters if parameter.name not in _OWN) or "none"


def _counted(arguments: int) -> str:
    return "1 argument" if arguments == 1 else f"{arguments} arguments"


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:  # of a class of the user
        return f"a value of type {type(value).__name__}"
    return f"{text if len(text) <= 100 else text[:100] + '...'} of type {type(value).__name__}"


def _wrong_call(name: str, parameters: Sequence[Parameter], takes_any: bool, args: Sequence[Any],
                kwargs: Mapping[str, Any]) -> Optional[str]:
    """Returns what is wrong with the number or the names of arguments."""
    ordered = [parameter.name for parameter in parameters if parameter.by_position]
    own = sum(one in _OWN for one in ordered)
    if len(args) > len(ordered) and not takes_any:
        return f"{name}() takes at most {_counted(len(ordered) - own)} by position, not {len(args) - own}"
    known = [parameter.name for parameter in parameters]
    for key in kwargs:
        if key not in known:
            return f"{name}() has no argument '{key}'; it takes {_listed(parameters)}"
        if key in ordered[:len(args)]:
            return f"{name}() got the argument '{key}' twice"
    for parameter in parameters:
        if parameter.is_needed and parameter.name not in kwargs and parameter.name not in ordered[:len(args)]:
            return f"{name}() needs the argument '{parameter.name}'"
    return None


def _wrong_value(name: str, parameters: Sequence[Parameter], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Optional[str]:
    """Returns which value does not fit, if it can be found."""
    ordered = [parameter.name for parameter in parameters if parameter.by_position]
    values = {**dict(zip(ordered, args)), **kwargs}
    given = [(parameter, values[parameter.name]) for parameter in parameters if parameter.name in values]
    for parameter, value in given:
        wanted = _type_of(parameter.type)
        if not wanted.fits(value):
            return f"the argument '{parameter.name}' of {name}() must be {wanted.one}, not {_shown(value)}"
    for parameter, value in given:
        if parameter.type in ("int", "Optional[int]") and value is not None and not 0 <= value < 2 ** 31:
            return f"the argument '{parameter.name}' of {name}() cannot be {value}"
    return None


def _of_call(refusal: re.Match[str], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Optional[str]:
    signatures = _SIGNATURE.findall(refusal[3])
    if not signatures:
        return None
    is_constructor = refusal[2] == "constructor"
    name = signatures[0][0].rpartition(".")[2] if is_constructor else refusal[1]
    overloads = [_parameters(text) for _, text in signatures]
    if len(overloads) == 1:
        given = args[1:] if is_constructor else args
        takes_any = "*args" in signatures[0][1]
        found = _wrong_call(name, overloads[0], takes_any, given, kwargs) or _wrong_value(name, overloads[0], given, kwargs)
        if found:
            return found
    return f"{name}() does not take these arguments; it takes {', or '.join(map(_listed, overloads))}"


def _of_value(cast: re.Match[str]) -> str:
    wanted = next((words for name, words in _CPP_TYPES.items() if cast[2].startswith(name)), "another type")
    return f"a value of type {cast[1]} is given where {wanted} is needed"


def explained(text: str, args: Sequence[Any], kwargs: Optional[Mapping[str, Any]]) -> Optional[str]:
    """Returns a text in place of that of pybind11's TypeError for a call with these arguments; None if it is another TypeError."""
    refusal, cast = _REFUSAL.match(text), _CAST.match(text)
    return _of_call(refusal, args, kwargs or {}) if refusal else _of_value(cast) if cast else None
