"""More calls of single ops: products, rows and positions; op_cases.py says what a case is."""
import itertools

import numpy

from op_cases import CLOSE, case
from reference import COMPLEX, FLOATS, INF, NAN, f32, mixed, name_of, zeros


def products():
    for dtype in FLOATS + [numpy.int16, numpy.int32, numpy.int64] + COMPLEX:
        tolerance = 8 * CLOSE[name_of(dtype)] if name_of(dtype) in CLOSE else 0
        for a, b in itertools.product((False, True), repeat=2):
            left, right = mixed([3, 4], dtype, -4, 4, 20), mixed([4, 2], dtype, -4, 4, 21)
            case("MatMul", left.T.copy() if a else left, right.T.copy() if b else right, transpose_a=a, transpose_b=b, close=tolerance)
        batch = mixed([2, 2, 3], dtype, -4, 4, 22)
        if dtype in COMPLEX:
            batch = batch + 1j * mixed([2, 2, 3], dtype, -4, 4, 23)
        for op in ("BatchMatMul", "BatchMatMulV2"):
            case(op, batch, batch, adj_x=True, close=tolerance)
            case(op, batch, batch, adj_y=True, close=tolerance)
        for a, b in itertools.product((False, True), repeat=2):
            matrix = right.T.copy() if b else right
            wide = mixed([2, 4, 3] if a else [2, 3, 4], dtype, -4, 4, 23)
            case("BatchMatMulV2", wide, matrix, adj_x=a, adj_y=b, close=tolerance)
            case("BatchMatMulV2", left.T.copy() if a else left, numpy.stack([matrix, matrix + 1]), adj_x=a, adj_y=b, close=tolerance)
            case("BatchMatMulV2", wide.reshape([2, 1] + list(wide.shape[1:])), numpy.stack([matrix, matrix + 1, matrix + 2]), adj_x=a,
                 adj_y=b, close=tolerance)
        case("MatMul", zeros([0, 3], dtype), zeros([3, 2], dtype))
        case("MatMul", zeros([2, 0], dtype), zeros([0, 3], dtype))
        case("BatchMatMul", zeros([0, 2, 3], dtype), zeros([0, 3, 2], dtype))
        case("BatchMatMul", zeros([2, 2, 0], dtype), zeros([2, 0, 2], dtype))
    case("MatMul", f32([[NAN, 1], [INF, 0]]), f32([[1, 0], [0, 1]]))
    case("MatMul", zeros([2, 3]), zeros([2, 3]), fails=True)
    case("MatMul", zeros([3]), zeros([3, 1]), fails=True)
    for op in ("BatchMatMul", "BatchMatMulV2"):
        case(op, zeros([2, 2, 3]), zeros([3, 3, 2]), fails=True)
        case(op, zeros([2, 2, 3]), zeros([2, 2, 3]), fails=True)
        case(op, zeros([3]), zeros([3, 1]), fails=True)
    case("BatchMatMulV2", zeros([0, 2, 3]), zeros([3, 2]))
    case("BatchMatMulV2", zeros([2, 2, 0]), zeros([0, 3]))


FAMILIES = (products,)
