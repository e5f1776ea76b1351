"""More calls of single ops: trigonometric and special functions, products in which a zero decides, bits; op_cases.py says what a case is."""
import itertools

import numpy

from op_cases import CLOSE, SPECIAL, case
from reference import COMPLEX, FLOATS, INF, INTEGERS, NAN, f32, i32, i64, mixed, name_of, ramp, zeros

WIDE = (numpy.float32, numpy.float64)


def trigonometric():
    for op, dtype in itertools.product(["Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh"], FLOATS):
        close = 8 * CLOSE[name_of(dtype)]
        special = [x for x in SPECIAL if not (op == "Tan" and 1e29 < abs(x) < INF)]
        case(op, numpy.array(special, dtype=dtype), close=close)
        low, high = (1, 9) if op == "Acosh" else (-0.9, 0.9)
        case(op, mixed([2, 9], dtype, low, high), close=close)
        case(op, zeros([0, 3], dtype))
    for op, dtype in itertools.product(["Tan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh", "Asin", "Acos", "Atan"], COMPLEX):
        case(op, numpy.array([1 + 2j, -1 + 0.5j, 0.5 - 0.25j, -2 - 1j], dtype=dtype), close=16 * CLOSE[name_of(dtype)])


def zero_safe():
    values = [-INF, -2.5, -1, -0.0, 0, 0.5, 3, INF, NAN]
    for op, dtype in itertools.product(["MulNoNan", "Xdivy", "Xlogy", "Xlog1py"], FLOATS):
        column = numpy.array(values, dtype=dtype).reshape(-1, 1)
        close = 4 * CLOSE[name_of(dtype)]
        case(op, column, column.reshape(1, -1), close=close)
        case(op, mixed([2, 5], dtype, 0.5, 3, 1), mixed([5], dtype, 0.5, 3, 2), close=close)
        case(op, f32([1, 2]), f32([1, 2, 3]), fails=True)
    for op, dtype in itertools.product(["MulNoNan", "Xdivy", "Xlogy", "Xlog1py"], COMPLEX):
        case(op, numpy.array([1 + 2j, 0, 2], dtype=dtype), numpy.array([[0.5 - 1j], [2]], dtype=dtype),
             close=16 * CLOSE[name_of(dtype)])


def gamma():
    for op, dtype in itertools.product(["Lgamma", "Digamma"], FLOATS):
        close = 64 * CLOSE[name_of(dtype)]
        case(op, mixed([2, 9], dtype, 0.01, 20), close=close, near=close)
        case(op, numpy.array([-2.5, -1.5, -0.5, 0.5, 1, 1.5, 2.5, NAN, INF], dtype=dtype), close=close, near=close)
    for op, dtype in itertools.product(["Igamma", "Igammac", "IgammaGradA", "RandomGammaGrad"], WIDE):
        rounded = {"close": 2e-5, "near": 1e-7} if dtype is numpy.float32 else {"close": 1e-12, "near": 1e-14}
        case(op, mixed([3, 1], dtype, 0.1, 4, 1), mixed([5], dtype, 0.1, 9, 2), **rounded)
        case(op, mixed([7], dtype, 1, 40, 3), mixed([7], dtype, 1, 40, 4), **rounded)
        if op in ("Igamma", "Igammac"):
            case(op, numpy.array([-1, 0, 1, 1, NAN, 2], dtype=dtype), numpy.array([1, 1, -1, 0, 1, INF], dtype=dtype), **rounded)
    for op, dtype in itertools.product(["Polygamma", "Zeta"], WIDE):
        close = 1e-5 if dtype is numpy.float32 else 1e-12
        whole = numpy.array([[1], [2], [3], [5]], dtype=dtype)
        case(op, whole, mixed([6], dtype, 0.2, 9, 5), close=close)
        case(op, numpy.array([1.5, 2.5, -1, 1, NAN], dtype=dtype), numpy.array([2, 3, 2, -2.5, 1], dtype=dtype), close=close)
        case(op, numpy.array([1, 2, 1], dtype=dtype), numpy.array([INF, INF, 1e30], dtype=dtype), close=close, near=2e-30)
    for dtype in WIDE:
        case("Zeta", numpy.array([1e30, 200, INF], dtype=dtype), numpy.array([[4], [1], [0.5]], dtype=dtype), close=1e-6)
    for dtype in WIDE:
        close = 2e-5 if dtype is numpy.float32 else 1e-12
        x = mixed([9], dtype, 0, 1, 8)
        case("Betainc", mixed([9], dtype, 0.1, 5, 6), mixed([9], dtype, 0.1, 5, 7), x, close=close, near=close)
        case("Betainc", numpy.array(2, dtype=dtype), numpy.array(0.5, dtype=dtype), x, close=close)
        case("Betainc", numpy.array([-1, 1, 0, 1, 2], dtype=dtype), numpy.array([1, -1, 1, 0, 2], dtype=dtype),
             numpy.array([0.5, 0.5, 0.5, 0.5, 1.5], dtype=dtype), close=close)
    case("Betainc", f32([1, 2]), f32([1, 2, 3]), f32(0.5), fails=True)


def others():
    for op, dtype in itertools.product(["Ndtri", "Erfinv", "BesselI0e", "BesselI1e"], FLOATS):
        close = 16 * CLOSE[name_of(dtype)]
        low, high = {"Ndtri": (0.001, 0.999), "Erfinv": (-0.99, 0.99)}.get(op, (-20, 20))
        case(op, mixed([2, 9], dtype, low, high), close=close, near=1e-7 if dtype is numpy.float32 else 1e-15)
        case(op, numpy.array([-2, 0, 0.5, 1, 2, NAN], dtype=dtype), close=close, near=1e-7)
    for dtype in FLOATS:
        case("Rint", numpy.array([x for x in SPECIAL], dtype=dtype))
    for dtype in WIDE:
        column = numpy.array([-INF, -1, -0.0, 0, 1, 1.5, INF, NAN], dtype=dtype).reshape(-1, 1)
        case("NextAfter", column, column.reshape(1, -1))


def bessel():
    for name, dtype in itertools.product(["I0", "I1", "J0", "J1", "K0", "K0e", "K1", "K1e", "Y0", "Y1"], FLOATS):
        rounded = {"close": 16 * CLOSE[name_of(dtype)], "near": 16 * CLOSE[name_of(dtype)]}
        case("Bessel" + name, mixed([2, 9], dtype, 0.05, 9), **rounded)
        case("Bessel" + name, numpy.array([0.5, 1, 2, 2.5, 8, NAN] + ([-1, -3, 0] if name[0] in "IJ" else []), dtype=dtype), **rounded)
        case("Bessel" + name, zeros([0, 3], dtype))


def segments():
    rows = mixed([4, 3], seed=9)
    ids = i32([0, 1, 1, 3])
    for dtype in FLOATS + INTEGERS + COMPLEX:
        case("SegmentProd", ramp([4, 2], dtype), ids, close=CLOSE.get(name_of(dtype), 0))
    case("SegmentProd", zeros([0, 3]), i32([]))
    for op in ("UnsortedSegmentProd", "UnsortedSegmentMax", "UnsortedSegmentMin"):
        for dtype in FLOATS + INTEGERS + (COMPLEX if op == "UnsortedSegmentProd" else []):
            case(op, ramp([4, 2], dtype), i32([1, 0, 1, 3]), i32(4), close=CLOSE.get(name_of(dtype), 0))
        case(op, rows, i64([[0, 1, 1], [2, 2, 2], [0, 0, 0], [1, 1, 2]]), i32(3), close=1e-6)
        case(op, zeros([0, 3]), i32([]), i32(2))
        case(op, rows, i32([0, -1, 2, 1]), i64(3))
        case(op, f32([2, 0, 3, 0, 0, 5]), i32([0, 0, 1, 1, 1, 2]), i32(3))
        case(op, rows, i32([0, 1, 2, 3]), i32(3), fails=True)


def bits():
    for dtype in INTEGERS:
        limits = numpy.iinfo(dtype)
        values = numpy.array([limits.min, limits.max, 0, 1, 6, 100] + ([-1, -7] if limits.min < 0 else []), dtype=dtype)
        for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
            case(op, values.reshape(-1, 1), values)
        for op in ("LeftShift", "RightShift"):
            shifts = [0, 1, 3, 7, 8, 31, 64] + ([-1] if limits.min < 0 else [])
            case(op, values.reshape(-1, 1), numpy.array(shifts, dtype=dtype))
        for op in ("Invert", "PopulationCount"):
            case(op, values)
    case("BitwiseAnd", i32([1, 2]), i32([1, 2, 3]), fails=True)


def limits():
    for dtype in FLOATS + INTEGERS[:6]:
        scalar = lambda x: numpy.array(x, dtype=dtype)
        case("ClipByValue", ramp([2, 5], dtype), scalar(3), scalar(7))
        case("ClipByValue", ramp([3], dtype), numpy.array([2, 2, 4], dtype=dtype), numpy.array([3, 3, 2], dtype=dtype))
    t, low, high = mixed([2, 3]), mixed([2, 3], seed=2), mixed([2, 3], seed=3)
    for lowest, highest in itertools.product((low, f32(-0.5)), (high, f32(0.5))):
        case("ClipByValue", t, lowest, highest)
    case("ClipByValue", f32([NAN, INF, -INF, 0]), f32(-1), f32(1))
    case("ClipByValue", f32(5), f32(3), f32(1))
    case("ClipByValue", zeros([0, 2]), f32(-1), f32(1))
    case("ClipByValue", t, f32([1, 2, 3]), f32(1), fails=True)
    case("ClipByValue", t, f32(1), f32([[1], [2]]), fails=True)


FAMILIES = (trigonometric, zero_safe, gamma, others, bessel, segments, bits, limits)
