"""More calls of single ops: those that rank the elements of rows; op_cases.py says what a case is. TensorFlow has TopK only in graphs of
versions before 7: TopKV2 stands for both."""
import numpy

from layout_op_cases import REALS
from op_cases import case
from reference import INF, NAN, f32, i32, mixed, ramp, zeros

EQUAL = [[2, 1, 2, 3, 2], [1, 1, 1, 1, 1]]


def greatest():
    for dtype in REALS:
        rows = numpy.array(EQUAL, dtype=dtype)
        case("TopKV2", rows, i32(4))
    for index in (numpy.int32, numpy.int64):  # TensorFlow has no gradient by int16 indices
        case("TopKV2", f32(EQUAL), numpy.array(2, dtype=index), index_type=index)
    for shape, k in (([9], 1), ([2, 3, 17], 5), ([4, 3], 0), ([0, 3], 2), ([3, 0], 0), ([2, 6], 6)):
        case("TopKV2", mixed(shape), i32(k))
    case("TopKV2", mixed([5, 200]), i32(150))
    case("TopKV2", f32([INF, -INF, 0, -0.0, 1]), i32(5))
    for rows, k in ((1, 1), ([1, 2], 3)):
        case("TopKV2", f32(rows), i32(k), fails=True)
    case("TopKV2", f32([1, 2]), i32(-1), fails=True)
    case("TopKV2", f32([1, 2]), i32([1]), fails=True)


def among_the_greatest():
    scores = f32([[1, 2, 3], [2, 2, 1], [INF, 1, 0], [1, NAN, 3], [1, 1, 1]])
    for target in (numpy.int32, numpy.int64):
        for k in (-1, 0, 1, 2, 9):
            targets = numpy.array([1, 1, 1, 2, 3], dtype=target)
            case("InTopK", scores, targets, k=k)
            case("InTopKV2", scores, targets, numpy.array(k, dtype=target))
    case("InTopK", mixed([9, 7]), i32([0, 1, 2, 3, 4, 5, 6, 7, -1]), k=3)
    case("InTopKV2", zeros([0, 3]), i32([]), i32(1))
    for rows, targets in (([[1, 2]], [0, 1]), ([1, 2], [0]), ([[1, 2]], [[0]])):
        case("InTopK", f32(rows), i32(targets), k=1, fails=True)
        case("InTopKV2", f32(rows), i32(targets), i32(1), fails=True)


def nth():
    for dtype in REALS:
        for reverse in (False, True):
            case("NthElement", numpy.array(EQUAL, dtype=dtype), i32(3), reverse=reverse)
    for shape, n in (([9], 4), ([2, 3, 17], 16), ([4, 3], 0), ([0, 3], 2)):
        case("NthElement", mixed(shape), i32(n))
        case("NthElement", mixed(shape), i32(n), reverse=True)
    case("NthElement", f32([INF, -INF, 1]), i32(0))
    for rows, n in ((1, 0), ([1, 2], 2), ([1, 2], -1), ([], 0)):
        case("NthElement", f32(rows), i32(n), fails=True)
    case("NthElement", ramp([2]), i32([0]), fails=True)


FAMILIES = (greatest, among_the_greatest, nth)
