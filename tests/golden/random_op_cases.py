"""More calls of single ops: random numbers that are a function of the inputs alone, and candidates; op_cases.py says what a case is."""
import itertools

import numpy

from op_cases import CLOSE, case
from reference import FLOATS, f32, i32, i64, mixed, name_of, zeros


def stateless():
    for op, dtype in itertools.product(["StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal"], FLOATS):
        close = 0 if op == "StatelessRandomUniform" else 8 * CLOSE[name_of(dtype)]
        for shape, seed in (([], [1, 2]), ([7], [0, 0]), ([3, 5], [-1, 1 << 40]), ([0, 3], [5, 6]), ([2, 1, 41], [12345, -98765])):
            case(op, i32(shape), i64(seed), dtype=dtype, close=close, near=close)
    case("StatelessRandomUniform", i64([5]), i32([3, 4]))
    for seed in ([1], [1, 2, 3]):
        case("StatelessRandomNormal", i32([5]), i64(seed), fails=True)
    for dtype in (numpy.int32, numpy.int64):
        limits = numpy.iinfo(dtype)
        scalar = lambda x: numpy.array(x, dtype=dtype)
        for least, most in ((0, 10), (-7, 8), (limits.min, limits.max)):
            case("StatelessRandomUniformInt", i32([3, 7]), i64([4, 5]), scalar(least), scalar(most))
        case("StatelessRandomUniformInt", i32([2]), i64([4, 5]), scalar(3), scalar(3), fails=True)
    for dtype in (numpy.int32, numpy.int64, numpy.uint32, numpy.uint64):
        case("StatelessRandomUniformFullInt", i32([3, 7]), i64([4, 5]), dtype=dtype)
    for dtype in (numpy.float32, numpy.float64, numpy.float16, numpy.int32):
        case("StatelessMultinomial", mixed([1, 7], dtype, -2, 2), i32(33), i64([7, 8]))
    case("StatelessMultinomial", mixed([1, 3], f32(0).dtype), i32(0), i64([7, 8]), output_dtype=numpy.int32)
    case("StatelessMultinomial", f32([[0, -numpy.inf, 1, numpy.nan]]), i32(20), i64([7, 8]), output_dtype=numpy.int32)
    case("StatelessMultinomial", f32([1, 2]), i32(3), i64([7, 8]), fails=True)
    case("StatelessMultinomial", zeros([2, 0]), i32(3), i64([7, 8]), fails=True)


def counted():
    u64 = lambda values: numpy.array(values, dtype=numpy.uint64)
    key, counters = u64([1 << 63 | 12345]), (u64([0, 7]), u64([2**64 - 3, 2**64 - 1]), u64([1, 2, 3]))
    for op, dtype in itertools.product(["StatelessRandomUniformV2", "StatelessRandomNormalV2", "StatelessTruncatedNormalV2"], FLOATS):
        close = 0 if op == "StatelessRandomUniformV2" else 8 * CLOSE[name_of(dtype)]
        for shape, counter, alg in (([], counters[0], 1), ([3, 5], counters[1], 3), ([0, 3], counters[0], 1), ([2, 1, 41], counters[2], 1)):
            case(op, i32(shape), key, counter, i32(alg), dtype=dtype, close=close, near=close)
        case(op, i64([3]), u64([1, 2]), counters[0], i32(1), fails=True)
        case(op, i64([3]), key, u64(1), i32(1), fails=True)
        case(op, i64([3]), key, counters[0], i32(7), fails=True)
    for dtype in (numpy.int32, numpy.int64, numpy.uint32, numpy.uint64):
        case("StatelessRandomUniformFullIntV2", i32([3, 7]), key, counters[1], i32(1), dtype=dtype)
    for dtype in (numpy.int32, numpy.int64):
        limits = numpy.iinfo(dtype)
        scalar = lambda x: numpy.array(x, dtype=dtype)
        for least, most in ((0, 10), (-7, 8), (limits.min, limits.max)):
            case("StatelessRandomUniformIntV2", i32([3, 7]), key, counters[1], i32(1), scalar(least), scalar(most))
        case("StatelessRandomUniformIntV2", i32([3]), key, counters[0], i32(1), scalar(3), scalar(3), fails=True)
    for op in ("StatelessRandomGetKeyCounter", "StatelessRandomGetKeyCounterAlg"):
        case(op, i64([-1, 1 << 40]))
        case(op, i32([3, 4]))
        case(op, i32([3, 4, 5]), fails=True)
    case("StatelessRandomGetAlg")


def hits():
    case("ComputeAccidentalHits", i64([[1, 2], [0, 4], [3, 3]]), i64([3, 4, 0, 9]), num_true=2)
    case("ComputeAccidentalHits", i64([[1], [2]]), i64([2, 2]), num_true=1)
    case("ComputeAccidentalHits", i64(numpy.zeros([0, 2])), i64([3]), num_true=2)
    case("ComputeAccidentalHits", i64([[1, 2]]), i64([3]), num_true=1, fails=True)
    case("AllCandidateSampler", i64([[0, 2]]), num_true=2, num_sampled=4, unique=True)


def formats():
    for dtype in (numpy.int32, numpy.int64):
        case("DataFormatDimMap", numpy.array([-4, -3, -2, -1, 0, 1, 2, 3], dtype=dtype))
        case("DataFormatDimMap", numpy.array([[1, 3], [0, 2]], dtype=dtype), src_format="NHWC", dst_format="HWNC")
        case("DataFormatVecPermute", numpy.array([1, 2, 3, 4], dtype=dtype))
        case("DataFormatVecPermute", numpy.array([[1, 2], [3, 4], [5, 6], [7, 8]], dtype=dtype), src_format="NCHW", dst_format="NHWC")
        case("DataFormatVecPermute", numpy.array([1, 2], dtype=dtype), src_format="NHWC", dst_format="WHCN")
        case("DataFormatVecPermute", numpy.array([[1, 2], [3, 4]], dtype=dtype), src_format="NHWC", dst_format="WHCN")
    case("DataFormatDimMap", i32(3))
    case("DataFormatDimMap", i32([1]), src_format="NHWC", dst_format="NHW", fails=True)
    case("DataFormatVecPermute", i32([1, 2, 3]), fails=True)


FAMILIES = (stateless, counted, hits, formats)
