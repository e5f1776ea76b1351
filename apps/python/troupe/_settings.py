"""Settings of run files, as --set takes them."""
from __future__ import annotations

import json
import os
from typing import Any, Mapping, Sequence, Union

import numpy

#: Values by their paths, {"train.max_epochs": 3}, or texts such as "train.max_epochs=3".
Settings = Union[Mapping[str, Any], Sequence[str]]
Path = Union[str, "os.PathLike[str]"]


def as_toml(value: Any) -> str:
    """Returns a value as run files have it."""
    if isinstance(value, (numpy.generic, numpy.ndarray)):
        value = value.tolist()
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(name)} = {as_toml(one)}" for name, one in value.items()) + " }"
    if isinstance(value, Sequence):
        return "[" + ", ".join(as_toml(one) for one in value) + "]"
    raise TypeError(f"a setting must be a number, text, path, list or dictionary, but is {value!r}")


def _key(name: Any) -> str:
    if not isinstance(name, str):
        raise TypeError(f"the keys of a setting must be texts, but one is {name!r}; values in the order of classes are a list")
    return name if name.replace("_", "").replace("-", "").isalnum() and name.isascii() else json.dumps(name)


def as_list(settings: Settings) -> list[str]:
    if isinstance(settings, str):
        raise TypeError(f"settings are a dictionary or a list, not one text: {settings!r}")
    if isinstance(settings, Mapping):
        return [f"{path}={as_toml(value)}" for path, value in settings.items()]
    return list(settings)


def as_paths(paths: Union[Path, Sequence[Path]]) -> list[str]:
    """Returns one path, or several, as a list."""
    return [os.fspath(path) for path in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)]
