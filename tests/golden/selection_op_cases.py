"""More calls of single ops: those that rank the elements of rows; op_cases.py says what a case is. TensorFlow has TopK only in graphs of
versions before 7: TopKV2 stands for both."""
import numpy

from layout_op_cases import REALS
from op_cases import case
from reference import COMPLEX, FLOATS, INF, INTEGERS, NAN, f32, i32, mixed, ramp, tf, zeros

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


def histograms():
    for dtype in (numpy.int32, numpy.int64, numpy.float32, numpy.float64):
        for out in (tf.int32, tf.int64):
            case("HistogramFixedWidth", numpy.array([[-1, 0, 1], [2, 5, 15]], dtype=dtype), numpy.array([0, 5], dtype=dtype), i32(5), dtype=out)
        case("HistogramFixedWidth", zeros([0], dtype), numpy.array([0, 5], dtype=dtype), i32(3))
        case("HistogramFixedWidth", numpy.array([1], dtype=dtype), numpy.array([5, 5], dtype=dtype), i32(3), fails=True)
        case("HistogramFixedWidth", numpy.array([1], dtype=dtype), numpy.array([5], dtype=dtype), i32(3), fails=True)
    case("HistogramFixedWidth", f32([-INF, INF, 0.5, 4.999, 1]), f32([0, 5]), i32(5))
    case("HistogramFixedWidth", f32([1, NAN]), f32([0, 5]), i32(5), fails=True)
    case("HistogramFixedWidth", f32([1]), f32([0, NAN]), i32(5), fails=True)
    for bins in (i32(0), i32(-1)):
        case("HistogramFixedWidth", f32([1]), f32([0, 5]), bins, fails=True)


def nearness():
    for dtype in FLOATS + INTEGERS:
        case("ApproximateEqual", numpy.array([1, 2, 3], dtype=dtype), numpy.array([1, 3, 5], dtype=dtype))
        case("ApproximateEqual", numpy.array([1, 2, 3], dtype=dtype), numpy.array([1, 3, 5], dtype=dtype), tolerance=1.5)
    for dtype in COMPLEX:
        case("ApproximateEqual", numpy.array([1 + 1j, 2], dtype=dtype), numpy.array([1 + 1j, 2.5j], dtype=dtype))
    case("ApproximateEqual", f32([1, NAN, INF, 0]), f32([1.000001, NAN, INF, 1e-6]))
    case("ApproximateEqual", f32([1, 2]), f32([1]), fails=True)


FAMILIES = (histograms, nearness, greatest, among_the_greatest, nth)
