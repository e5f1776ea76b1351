"""Arrays as NumPy compresses them: writes tests/golden/arrays.npz, which tests/apps/data/npy_test.cpp reads.
Run it again when arrays are added:   VENV/bin/python tests/golden/make_arrays.py   (VENV has numpy; made with 2.4.6)
"""
import pathlib

import numpy

numpy.savez_compressed(pathlib.Path(__file__).parent / "arrays.npz", image=numpy.arange(600, dtype=numpy.float32).reshape(200, 3),
                       label=numpy.arange(200) % 7)
