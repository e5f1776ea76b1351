"""More calls of single ops: positions, counts, sorted lists, vectors and patches; op_cases.py says what a case is."""
import itertools

import numpy

from layout_op_cases import NUMBERS, REALS
from op_cases import CLOSE, MOVED, case, filled
from reference import BFLOAT16, COMPLEX, FLOATS, INF, NAN, boolean, f32, i32, i64, mixed, name_of, ramp, text, zeros

SCATTERS = ("TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub", "TensorScatterMax", "TensorScatterMin", "ScatterNdNonAliasingAdd")


def dense_positions():
    why = "a scalar is an update of one element, as in ScatterNd"
    for op in SCATTERS:
        for dtype in MOVED:
            tensor, updates = filled([3, 2], dtype), filled([5, 2], dtype)[3:].copy()
            case(op, tensor, i32([[2], [0]]), updates, close=CLOSE["bfloat16"] if dtype == BFLOAT16 else 0)
        case(op, ramp([2, 3]), i64([[1, 2], [0, 0], [1, 2]]), f32([7, 8, 9]))
        case(op, ramp([2, 2, 2]), i32([[[1, 0]], [[0, 1]]]), ramp([2, 1, 2], first=20))
        case(op, zeros([0, 2]), zeros([0, 1], numpy.int32), zeros([0, 2]))
        for indices, updates in (([[3]], [[1, 2]]), ([[-1]], [[1, 2]]), ([[0]], [1, 2]), ([[0, 0, 0]], [1]), (0, [1, 2])):
            case(op, ramp([3, 2]), i32(indices), f32(updates), fails=True)
    case("TensorScatterAdd", ramp([3]), i32([1]), f32(9), ours=[f32([1, 11, 3])], why=why)


def rows_by_number():
    for dtype in MOVED:
        case("InplaceUpdate", filled([3, 2], dtype), i32([2, 0]), filled([5, 2], dtype)[3:].copy())
    for op, dtype in itertools.product(["InplaceAdd", "InplaceSub"], NUMBERS):
        close = CLOSE["bfloat16"] if dtype == BFLOAT16 else 0
        case(op, filled([3, 2], dtype), i32([2, 0]), filled([5, 2], dtype)[3:].copy(), close=close)
    for op in ("InplaceUpdate", "InplaceAdd", "InplaceSub"):
        case(op, ramp([3, 2, 2]), i32([-1, 4, -7]), ramp([3, 2, 2], first=20))
        case(op, ramp([4]), i32([3, 3, 0]), ramp([3], first=20))
        case(op, ramp([4]), zeros([0], numpy.int32), zeros([0]))
        case(op, zeros([0, 2]), i32([1]), ramp([1, 2]))
        case(op, zeros([2, 0]), i32([1]), zeros([1, 0]))
        for i, v in (([[0]], [[1, 2]]), ([0], [1, 2]), ([0, 1], [[1, 2]]), ([0], [[1, 2, 3]])):
            case(op, ramp([3, 2]), i32(i), f32(v), fails=True)


def sparse_positions():
    op = "SparseToDense"
    for dtype in MOVED:
        values, default = filled([3], dtype), filled([7], dtype)[6:].reshape([])
        case(op, i32([[0, 1], [1, 0], [2, 1]]), i32([3, 2]), values, default)
    case(op, i64([[2], [0], [3]]), i64([4]), f32([1, 2, 3]), f32(0), validate_indices=False)
    case(op, i64([2, 0, 2]), i64([4]), f32([1, 2, 3]), f32(0), validate_indices=False)
    case(op, i32([1, 3]), i32([4]), f32([1, 2]), f32(9))
    case(op, i32([1, 3]), i32([4]), f32(1), f32(9))
    case(op, i32(1), i32([4]), f32(1), f32(9))
    case(op, i32(1), i32([4]), f32([1]), f32(9))
    case(op, zeros([1, 0], numpy.int32), i32([]), f32([5]), f32(9))
    case(op, zeros([0], numpy.int32), i32([3]), f32([]), f32(9))
    case(op, zeros([0, 2], numpy.int32), i32([2, 0]), f32([]), f32(9))
    for indices, shape, values in (([2, 1], [3], [5, 6]), ([1, 1], [3], [5, 6]), ([1, 3], [3], [5, 6]), ([-1, 1], [3], [5, 6]),
                                   ([[1, 2]], [3], [5]), ([1, 2], [3], [5]), ([1, 2], [-3], [5, 6]), ([1], 3, [5]), ([[[1]]], [3], [5])):
        case(op, i32(indices), i32(shape), f32(values), f32(0), fails=True)
    case(op, i32([1]), i32([3]), f32([5]), f32([0]), fails=True)


def counts():
    for dtype in (numpy.int32, numpy.int64, numpy.float32, numpy.float64):
        weights = ramp([4], dtype)
        for op, size in (("Bincount", i32), ("DenseBincount", i32), ("DenseBincount", i64)):
            case(op, size([1, 3, 1, 9]), size(4), weights)
            case(op, size([1, 3, 1, 9]), size(4), zeros([0], dtype))
        case("DenseBincount", i32([[1, 3], [1, 9]]), i32(4), weights.reshape([2, 2]))
        case("DenseBincount", i32([[1, 1], [2, 9]]), i32(4), zeros([0], dtype), binary_output=True)
    for op in ("Bincount", "DenseBincount"):
        case(op, i32([]), i32(2), f32([]))
        case(op, i32([1]), i32(0), f32([]))
        case(op, i32(1), i32(2), f32(5))
        for numbers, size, weights in (([1, -1], 4, []), ([1], -4, []), ([1], [4], []), ([1, 1], 4, [3])):
            case(op, i32(numbers), i32(size), f32(weights), fails=True)
    case("Bincount", i32([[1], [1]]), i32(2), i32([[5], [6]]))
    case("DenseBincount", zeros([2, 0], numpy.int32), i32(3), f32([]))
    case("DenseBincount", i32([[1, 1]]), i32(3), i32([[7, 8]]), binary_output=True)
    case("DenseBincount", i32([[[1]]]), i32(3), f32([]), fails=True)


def sorted_lists():
    for op in ("LowerBound", "UpperBound"):
        for dtype, position in itertools.product(REALS, (numpy.int32, numpy.int64)):
            lists = numpy.array([[1, 2, 2, 5], [3, 3, 3, 9]], dtype=dtype)
            case(op, lists, numpy.array([[2, 0, 7], [3, 2, 10]], dtype=dtype), out_type=position)
        case(op, f32([[-INF, -0.0, 1, INF]]), f32([[NAN, 0.0, INF, -INF]]))
        case(op, zeros([2, 0]), ramp([2, 1]))
        case(op, zeros([0, 2]), zeros([0, 3]))
        for lists, values in (([1, 2], [1]), ([[1], [2]], [[1]]), ([[1, 2]], [1])):
            case(op, f32(lists), f32(values), fails=True)
    for dtype in (numpy.int32, numpy.int64, numpy.float32, numpy.float64):
        case("Bucketize", numpy.array([[0, 1, 2], [3, 4, 9]], dtype=dtype), boundaries=[1.0, 2.5, 3.0, 3.0])
        case("Bucketize", numpy.array(2, dtype=dtype), boundaries=[])
    case("Bucketize", i64([16777217]), boundaries=[16777216.0, 16777218.0])
    case("Bucketize", f32([NAN, -INF, INF, -0.0]), boundaries=[-1.0, 0.0])
    case("Bucketize", zeros([0, 2]), boundaries=[1.0])
    case("Bucketize", f32([1]), boundaries=[2.0, 1.0], fails=True)


def sequences_apart():
    op = "EditDistance"
    few = (i64([[0, 0], [0, 1], [2, 0]]), i64([3, 2]))
    more = (i64([[0, 0], [0, 1], [0, 2], [1, 0], [2, 3]]), i64([4, 5]))
    none = i64([]).reshape([0, 2])

    def compare(a, of_a, b, of_b, **attrs):
        case(op, a[0], of_a, a[1], b[0], of_b, b[1], **attrs)

    for dtype in MOVED:
        if dtype in COMPLEX:
            continue
        compare(few, filled([3], dtype), more, filled([5], dtype))
    compare(few, text(["a", "b", "c"]), more, text(["b", "b", "x", "y", "c"]), normalize=False)
    compare((none, i64([3, 2])), text([]), more, text(list("abcde")))
    compare(few, text(list("abc")), (none, i64([1, 0])), text([]))
    compare((i64([[0, 1, 0], [1, 0, 1]]), i64([2, 2, 2])), f32([1, 2]), (i64([[0, 1, 0], [1, 0, 1]]), i64([2, 2, 2])), f32([1, 3]))
    for indices, shape in (([[0, 0], [0, 1]], [3, 2]), ([[0, 0], [0, 1], [2, 0]], [3, 2, 1]), ([[0, 0], [0, 1], [2, 0]], [-3, 2])):
        compare((i64(indices), i64(shape)), text(list("abc")), more, text(list("abcde")), fails=True)


def vectors():
    for dtype in REALS:
        tolerance = 16 * CLOSE[name_of(dtype)] if dtype in FLOATS else 0
        case("Cross", ramp([2, 3], dtype), ramp([2, 3], dtype, 5), close=tolerance)
    case("Cross", mixed([2, 2, 3]), mixed([2, 2, 3], seed=2), close=1e-6, near=1e-6)
    case("Cross", zeros([0, 3]), zeros([0, 3]))
    for shape in ([2], [2, 4], [0]):
        case("Cross", ramp(shape), ramp(shape), fails=True)
    case("Cross", ramp([1, 3]), ramp([3]), fails=True)
    case("Cross", f32(1), f32(1), fails=True)


def patches():
    op = "ExtractImagePatches"

    def cut(size, stride, rate, padding):
        return dict(ksizes=[1, *size, 1], strides=[1, *stride, 1], rates=[1, *rate, 1], padding=padding)

    for padding in ("SAME", "VALID"):
        for dtype in NUMBERS:
            case(op, ramp([1, 3, 3, 2], dtype), **cut((2, 3), (1, 2), (1, 1), padding))
        image = ramp([2, 4, 5, 1])
        for size, stride, rate in (((2, 2), (1, 1), (2, 2)), ((3, 1), (2, 2), (1, 3)), ((1, 1), (3, 3), (1, 1)), ((3, 4), (2, 3), (1, 1))):
            case(op, image, **cut(size, stride, rate, padding))
        case(op, zeros([0, 3, 3, 1]), **cut((2, 2), (1, 1), (1, 1), padding))
        case(op, zeros([1, 3, 3, 0]), **cut((2, 2), (1, 1), (1, 1), padding))
        case(op, ramp([3, 3, 1]), **cut((2, 2), (1, 1), (1, 1), padding), fails=True)
    case(op, zeros([1, 2, 2, 1]), **cut((5, 5), (2, 2), (1, 1), "VALID"))
    case(op, zeros([1, 2, 2, 1]), **cut((5, 5), (1, 1), (1, 1), "VALID"), fails=True)
    op = "ExtractVolumePatches"
    for padding in ("SAME", "VALID"):
        for dtype in REALS:
            case(op, ramp([1, 3, 2, 3, 2], dtype), ksizes=[1, 2, 1, 3, 1], strides=[1, 1, 1, 2, 1], padding=padding)
        for size, stride in ((2, 1), (1, 3), (3, 2)):
            case(op, ramp([2, 4, 3, 5, 1]), ksizes=[1, size, 2, size, 1], strides=[1, stride, 1, stride, 1], padding=padding)
        case(op, zeros([0, 3, 3, 3, 1]), ksizes=[1, 2, 2, 2, 1], strides=[1, 1, 1, 1, 1], padding=padding)
        case(op, zeros([3, 3, 3, 1]), ksizes=[1, 2, 2, 2, 1], strides=[1, 1, 1, 1, 1], padding=padding, fails=True)
        case(op, zeros([1, 3, 3, 3, 1]), ksizes=[1, 2, 0, 2, 1], strides=[1, 1, 1, 1, 1], padding=padding, fails=True)
    case(op, zeros([1, 2, 2, 2, 1]), ksizes=[1, 5, 1, 1, 1], strides=[1, 2, 1, 1, 1], padding="VALID")
    case(op, zeros([1, 2, 2, 2, 1]), ksizes=[1, 5, 1, 1, 1], strides=[1, 1, 1, 1, 1], padding="VALID", fails=True)


def bits_and_numbers():
    op = "UnravelIndex"
    for index in (i32, i64):
        case(op, index([0, 5, 2, 4]), index([2, 3]))
        case(op, index(7), index([2, 2, 3]))
    case(op, i32([0, 0]), i32([]))
    case(op, i32([]), i32([2, 3]), ours=[zeros([2, 0], numpy.int32)], why="no numbers have no positions, as in TensorFlow 1.x")
    case(op, i32([70000]), i32([65536, 65536]), ours=[i32([[1], [4464]])], why="the product of dims may be a number of 64 bits")
    case(op, i32([-1]), i32([2, 3]), ours="fails", why="a negative number is outside of the tensor")
    for indices, dims in (([6], [2, 3]), ([1], []), ([0], [0]), ([0], [-1, -2]), ([[1]], [2]), ([0], 2)):
        case(op, i32(indices), i32(dims), fails=True)
    op, why = "CompareAndBitpack", "this TensorFlow has the op no more"
    for dtype in (numpy.float16, numpy.float32, numpy.float64, numpy.int8, numpy.int16, numpy.int32, numpy.int64):
        values = ramp([2, 3, 16], dtype) % 7
        case(op, values, numpy.array(3, dtype=dtype), ours=[numpy.packbits(values > 3, axis=-1)], why=why)
    values = ramp([16], numpy.int32) % 3 == 0
    for threshold in (False, True):
        case(op, values, boolean(threshold), ours=[numpy.packbits(values)], why=why)
    case(op, f32([NAN, INF, -INF, 0, 1, NAN, 2, 3]), f32(1), ours=[numpy.array([0b01000011], dtype=numpy.uint8)], why=why)
    case(op, zeros([0, 8]), f32(1), ours=[zeros([0, 1], numpy.uint8)], why=why)
    for shape, threshold in (([8, 3], 1), ([], 1), ([8], [1])):
        case(op, zeros(shape), f32(threshold), fails=True)


def summations():
    op = "Einsum"
    for dtype in FLOATS + [numpy.int32, numpy.int64] + COMPLEX:
        a, b = ramp([2, 3], dtype), ramp([3, 2], dtype, 4)
        tolerance = 8 * CLOSE[name_of(dtype)] if name_of(dtype) in CLOSE else 0
        case(op, [a, b], equation="ij,jk->ki", close=tolerance)
        case(op, [a], equation="ij->i", close=tolerance)
    matrix, other, box, square = mixed([2, 3]), mixed([3, 4], seed=2), mixed([2, 4, 3], seed=3), mixed([3, 3], seed=4)
    close = dict(close=4e-6, near=2e-6)
    for equation in ("ij->ji", "ij->", "ij->iji", "ij->jj", "...->...", "i...->...i"):
        case(op, [matrix], equation=equation, **close)
    for equation in ("ii->i", "ii->", "ii->ii", "...ii->...i"):
        case(op, [square], equation=equation, **close)
    for equation in ("ij,jk->ik", "ij,jk->ijk", "ij,jk->", "ij,kl->iljk", "ij,jk->iik"):
        case(op, [matrix, other], equation=equation, **close)
    for equation in ("bij,jk->bik", "...j,jk->...k", "bi...,...k->bik...", "bij,jk->bk"):
        case(op, [box, other], equation=equation, **close)
    for equation in ("bij,bkj->bik", "bij,bij->b", "...ij,...kj->i...k"):
        case(op, [box, box], equation=equation, **close)
    case(op, [mixed([2, 1, 3]), mixed([4, 3], seed=5)], equation="...j,...j->...", **close)
    case(op, [mixed([3, 1, 2]), mixed([3, 4, 5], seed=5)], equation="j...i,j...->...i", **close)
    case(op, [f32(2), f32(3)], equation=",->")
    case(op, [zeros([2, 0]), zeros([0, 3])], equation="ij,jk->ik")
    case(op, [zeros([0, 2])], equation="ij->j")
    case(op, [i32([2**30] * 3), i32([3] * 3)], equation="i,i->")
    for equation in ("ij,jk->ik", "ij,jk", "ij,jk->il", "ijk,jk->i", "i,jk->i", "ij->ij"):
        case(op, [matrix, matrix], equation=equation, fails=True)
    case(op, [box], equation="...ij->ij", fails=True)
    case(op, [matrix], equation="......ij->ij", fails=True)


FAMILIES = (dense_positions, rows_by_number, sparse_positions, counts, sorted_lists, sequences_apart, vectors, patches, bits_and_numbers, summations)
