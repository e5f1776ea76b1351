"""The runtime that graphs use unless they are given another one."""
from __future__ import annotations

import threading
from typing import Optional

from ._troupe import Runtime

_lock = threading.Lock()
_default: Optional[Runtime] = None


def default_runtime() -> Runtime:
    """Returns the runtime of this process. The first call starts it, with a thread for each core. A process that was
    forked gets one of its own."""
    global _default
    with _lock:
        if _default is None or not _default.has_threads:
            _default = Runtime()
        return _default
