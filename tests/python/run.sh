#!/usr/bin/env bash
# Tests the package for Python in a folder. Skips if the interpreter has no pytest or NumPy.
#   run.sh PYTHON FOLDER [PYTEST_OPTION...]
set -euo pipefail
python=$(command -v "$1" || echo python3)
export PYTHONPATH=$2 PYTHONDONTWRITEBYTECODE=1
if ! "$python" -c 'import numpy, pytest' 2>/dev/null; then
  echo "skipped: $python has no numpy or no pytest (tests/requirements.txt)"
  exit 77
fi
exec "$python" -m pytest -q -p no:cacheprovider "$(dirname "$0")" "${@:3}"
