"""Loads the extension module so that the libraries it needs are its own. TensorFlow shows the symbols of its protobuf to the whole
process, and Troupe's functions for GraphDefs must not call that one."""
from __future__ import annotations

import os
import sys


def load() -> None:
    deep = getattr(os, "RTLD_DEEPBIND", 0) if "tensorflow" in sys.modules else 0
    flags = sys.getdlopenflags()
    sys.setdlopenflags(flags | deep)
    try:
        from . import _troupe
        _troupe.load_numpy()
    finally:
        sys.setdlopenflags(flags)
