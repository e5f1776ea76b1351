"""More calls of single ops: products, rows and positions; op_cases.py says what a case is."""
import itertools

import numpy

from op_cases import CLOSE, MOVED, case, filled
from reference import BFLOAT16, COMPLEX, FLOATS, INF, INTEGERS, NAN, boolean, f32, f64, i32, i64, mixed, name_of, ramp, text, tf, zeros


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
        case("BatchMatMulV2", mixed([3, 4, 1], dtype, -4, 4, 24), right, adj_x=True, close=tolerance)
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


def looking_up_variables():
    for dtype in MOVED:
        case("ResourceGather", filled([3, 2], dtype), i32([2, 0, 2]), dtype=tf.string if dtype is object else dtype)
    case("ResourceGather", ramp([3, 2]), i64([[1], [0]]), dtype=numpy.float32)
    case("ResourceGather", ramp([3, 2]), i32(1), dtype=numpy.float32)
    case("ResourceGather", zeros([0, 2]), i32([]), dtype=numpy.float32)
    case("ResourceGather", ramp([2, 3, 2]), i32([[2, 0], [1, 1]]), dtype=numpy.float32, batch_dims=1)
    for wrong in (-1, 3):
        case("ResourceGather", ramp([3]), i32([0, wrong]), dtype=numpy.float32, fails=True)
        case("ResourceGatherNd", ramp([3]), i32([[0], [wrong]]), dtype=numpy.float32, fails=True)
    for dtype in MOVED:
        case("ResourceGatherNd", filled([3, 2], dtype), i32([[2, 0], [1, 1]]), dtype=tf.string if dtype is object else dtype)
    case("ResourceGatherNd", ramp([3, 2]), i64([[[1]], [[0]]]), dtype=numpy.float32)
    case("ResourceGatherNd", ramp([3, 2]), i32([[0, 0, 0]]), dtype=numpy.float32, fails=True)
    for out in (tf.int32, tf.int64):
        case("VariableShape", ramp([2, 3]), out_type=out)
        case("VariableShape", f32(1), out_type=out)


def writing_slices():
    for op in ("StridedSliceAssign", "ResourceStridedSliceAssign"):
        for dtype in MOVED:
            case(op, filled([4, 3], dtype), i32([1, 0]), i32([3, 3]), i32([1, 2]), filled([2, 2], dtype))
        variable, value = ramp([4, 3]), ramp([2, 3], numpy.float32) + 50
        case(op, variable, i64([0]), i64([4]), i64([2]), value)
        case(op, variable, i32([-1, 0]), i32([-5, 3]), i32([-2, 1]), value)
        case(op, variable, i32([0, 0, 1]), i32([2, 0, 3]), i32([1, 1, 1]), ramp([2, 1, 2]), begin_mask=1, new_axis_mask=2)
        case(op, variable, i32([1, 0]), i32([0, 3]), i32([1, 1]), f32([7, 8, 9]), shrink_axis_mask=1)
        case(op, variable, i32([0, 2]), i32([0, 3]), i32([1, 1]), ramp([4, 1]), ellipsis_mask=1)
        case(op, variable, i32([1]), i32([1]), i32([1]), zeros([0, 3]))
        case(op, f32(3), i32([]), i32([]), i32([]), f32(4))
        case(op, variable, i32([1]), i32([3]), i32([0]), value, fails=True)
        case(op, variable, i32([9]), i32([3]), i32([1]), f32([7, 8, 9]), shrink_axis_mask=1, fails=True)
        case(op, variable, i32([0]), i32([3]), i32([1]), value, fails=True)
    case("ResourceStridedSliceAssign", variable, i32([0]), i32([2]), i32([1]), f32(5))
    case("ResourceStridedSliceAssign", variable, i32([0]), i32([2]), i32([1]), f32([[1], [2]]))


def lines():
    for op in ("Cumsum", "Cumprod"):
        for dtype in FLOATS + INTEGERS + COMPLEX:
            tolerance = 8 * CLOSE[name_of(dtype)] if name_of(dtype) in CLOSE else 0
            case(op, ramp([2, 3], dtype), i32(1), close=tolerance)
        box = mixed([2, 3, 4])
        for exclusive, reverse in itertools.product((False, True), repeat=2):
            for axis in (0, 1, 2, -1):
                case(op, box, i32(axis), exclusive=exclusive, reverse=reverse, close=4e-6, near=1e-6)
        case(op, zeros([0, 2]), i64(0))
        case(op, ramp([3]), i32(1), fails=True)
        case(op, f32(1), i32(0), fails=True)
    op = "CumulativeLogsumexp"
    for dtype in FLOATS:
        # TensorFlow computes half and bfloat16 in half and bfloat16.
        case(op, mixed([2, 3], dtype), i32(1), close=8 * CLOSE[name_of(dtype)], near=CLOSE[name_of(dtype)])
    for exclusive, reverse in itertools.product((False, True), repeat=2):
        for axis in (0, 1, -1):
            case(op, mixed([2, 3, 4], low=-40, high=40), i32(axis), exclusive=exclusive, reverse=reverse, close=4e-6, near=1e-6)
    case(op, f32([-INF, -INF, 1, 2, 100, -INF, INF]), i32(0), close=1e-6)
    case(op, f32([INF, INF]), i32(0), ours=[f32([INF, INF])], why="the sum of two infinities is infinite; TensorFlow yields NaN")
    case(op, f32([1, NAN, 2]), i32(0), ours=[f32([1, NAN, NAN])], why="NaN gives NaN; TensorFlow adds 1 instead")
    case(op, zeros([0, 2]), i64(0))
    case(op, ramp([3]), i32(1), fails=True)
    case(op, f32(1), i32(0), fails=True)
    for dtype in MOVED:
        case("ReverseV2", filled([2, 3, 2], dtype), i32([0, -1]))
    case("ReverseV2", ramp([2, 3]), i64([]))
    case("ReverseV2", zeros([0, 3]), i32([1]))
    case("ReverseV2", f32(1), i32([]))
    case("ReverseV2", ramp([2, 3]), i32([2]), fails=True)
    case("ReverseV2", ramp([2, 3]), i32([0, -2]), fails=True)


def positions():
    for dtype in FLOATS + INTEGERS + COMPLEX + [numpy.bool_]:
        case("Where", numpy.array([[0, 1, 0], [2, 0, 3]], dtype=dtype))
    case("Where", f32([0.0, -0.0, NAN, INF]))
    for value in (0, 1):
        case("Where", f32(value), ours=[zeros([value, 0], numpy.int64)], why="of a scalar, too, there is one position or none")
    case("Where", zeros([0, 2]))
    for dtype in MOVED:
        on, off = filled([2], dtype)
        case("OneHot", i32([1, -1, 2, 5, 0]), i32(3), numpy.array(on, dtype=dtype), numpy.array(off, dtype=dtype))
    for dtype in (numpy.uint8, numpy.int8, numpy.int64):
        case("OneHot", numpy.array([1, 0, 2], dtype=dtype), i32(2), f32(5), f32(0))
    for axis in (-1, 0, 1, 2):
        case("OneHot", i32([[0, 1, 2], [2, -1, 7]]), i32(4), f32(1), f32(0), axis=axis)
    case("OneHot", i32(1), i32(3), f32(1), f32(0))
    case("OneHot", i32([1]), i32(0), f32(1), f32(0))
    case("OneHot", zeros([0, 2], numpy.int32), i32(3), f32(1), f32(0))
    case("OneHot", i32([1]), i32(-1), f32(1), f32(0), fails=True)
    case("OneHot", i32([1]), i32(2), f32([1]), f32(0), fails=True)
    case("OneHot", i32([1]), i32(2), f32(1), f32(0), axis=2, fails=True)


def differing():
    for dtype in FLOATS + INTEGERS:
        values = numpy.array([3, 1, 3, 2, 1, 1, 9], dtype=dtype)
        case("UniqueWithCounts", values)
        case("ListDiff", values, numpy.array([1, 9, 4], dtype=dtype))
    case("ListDiff", text(["b", "", "b", "a"]), text(["a"]), out_idx=tf.int64)
    case("ListDiff", i32([]), i32([1]))
    case("ListDiff", i32([1, 1]), i32([]))
    case("ListDiff", i32([[1]]), i32([1]), fails=True)
    case("UniqueWithCounts", i64([]), out_idx=tf.int64)
    for op in ("UniqueV2", "UniqueWithCountsV2"):
        box = f32([[[1, 2], [3, 4]], [[5, 6], [7, 8]], [[1, 2], [3, 4]]])
        for axis in (i64([0]), i32([1]), i64([-1])):
            case(op, box, axis)
        case(op, text([["a", "b", "a"], ["c", "c", "c"]]), i64([1]), out_idx=tf.int64)
        case(op, f32([NAN, -0.0, 0, NAN, 1]), i64([]))
        case(op, f32([[1, NAN], [0, 2], [-0.0, 2], [1, NAN]]), i64([0]))
        case(op, zeros([0, 2]), i64([0]))
        case(op, box, i64([]), fails=True)
        case(op, box, i64([0, 1]), fails=True)
        case(op, box, i64([3]), fails=True)


def channels():
    for dtype in FLOATS + INTEGERS + COMPLEX:
        tolerance = 8 * CLOSE[name_of(dtype)] if name_of(dtype) in CLOSE else 0
        box, last, second = ramp([2, 3, 4], dtype), ramp([4], dtype), ramp([3], dtype)
        case("BiasAdd", box, last, close=tolerance)
        case("BiasAdd", box, second, data_format="NCHW", close=tolerance)
        case("BiasAddV1", box, last, close=tolerance)
        for form in ("NHWC", "NCHW"):
            case("BiasAddGrad", box, data_format=form, close=tolerance)
    deep = mixed([2, 3, 2, 1, 2])
    case("BiasAdd", deep, f32([1, 2, 3]), data_format="NCHW")
    case("BiasAddGrad", deep, data_format="NCHW", close=4e-6)
    for op in ("BiasAdd", "BiasAddV1"):
        case(op, ramp([2, 3]), f32([1, 2, 3]))
        case(op, zeros([0, 2]), f32([1, 2]))
        case(op, ramp([2, 3]), f32([1, 2]), fails=True)
        case(op, ramp([2, 3]), f32([[1, 2, 3]]), fails=True)
        case(op, f32([1, 2]), f32([1, 2]), fails=True)
    case("BiasAddGrad", zeros([0, 2]))
    case("BiasAddGrad", zeros([0, 3, 2]), data_format="NCHW")
    case("BiasAddGrad", f32([1, 2]), fails=True)


def at_positions():
    for dtype in MOVED:
        case("GatherNd", filled([2, 3, 2], dtype), i32([[1, 2], [0, 0]]))
        case("ScatterNdUpdate", filled([3, 2], dtype), i32([[2], [0]]), filled([4, 2], dtype)[2:].copy())
        case("ResourceScatterNdUpdate", filled([3, 2], dtype), i32([[2], [0]]), filled([4, 2], dtype)[2:].copy())
        if dtype is not numpy.uint16:
            case("ScatterNd", i32([[2], [0], [2]]), filled([3, 2], dtype), i32([4, 2]))
    rows = ramp([2, 3])
    for indices in (i32([[1], [0], [1]]), i64([[[0, 1]], [[1, 2]]]), i32([1]), i32([1, 2]), zeros([2, 0], numpy.int32),
                    zeros([0, 2], numpy.int32)):
        case("GatherNd", rows, indices)
    case("GatherNd", zeros([0, 2]), zeros([0, 1], numpy.int32))
    for wrong in ([[0, 3]], [[-1, 0]], [[0, 1, 2]]):
        case("GatherNd", rows, i32(wrong), fails=True)
    case("GatherNd", rows, i32(1), fails=True)
    case("ScatterNd", i32([[0, 1], [1, 1], [0, 1]]), f32([5, 6, 7]), i32([2, 2]))
    case("ScatterNd", i64([[[0], [1]], [[1], [1]]]), ramp([2, 2, 2]), i64([2, 2]))
    case("ScatterNd", zeros([0, 1], numpy.int32), zeros([0]), i32([3]))
    for indices, updates, shape in (([[4]], [1], [4]), ([[-1]], [1], [4]), ([[0]], [1], [-1]), ([[0]], [[1, 2]], [3]), ([[0, 0, 0]], [1], [2, 2])):
        case("ScatterNd", i32(indices), f32(updates), i32(shape), fails=True)
    for op, dtype in itertools.product(("ScatterNdAdd", "ScatterNdSub", "ResourceScatterNdAdd", "ResourceScatterNdSub"),
                                       FLOATS + INTEGERS + COMPLEX):
        case(op, ramp([3, 2], dtype, 20), i32([[2], [0], [2]]), ramp([3, 2], dtype), close=CLOSE["bfloat16"] if dtype == BFLOAT16 else 0)
    for form, verb in itertools.product(("", "Resource"), ("Update", "Add", "Sub")):
        op = f"{form}ScatterNd{verb}"
        case(op, ramp([3, 2]), i64([[2, 1], [0, 0]]), f32([7, 8]))
        case(op, ramp([3, 2]), zeros([0, 1], numpy.int32), zeros([0, 2]))
        for wrong in ([[0, 2]], [[-1, 0]]):
            case(op, ramp([3, 2]), i32(wrong), f32([1]), fails=True)
        case(op, ramp([3, 2]), i32([[0]]), f32([1]), fails=True)


def segments():
    for op in ("SegmentSum", "SegmentMean", "SegmentMax", "SegmentMin"):
        for dtype in FLOATS + INTEGERS + ([] if op in ("SegmentMax", "SegmentMin") else COMPLEX):
            tolerance = 8 * CLOSE[name_of(dtype)] if name_of(dtype) in CLOSE else 0
            case(op, ramp([5, 2], dtype), i32([0, 0, 2, 2, 2]), close=tolerance)
        case(op, mixed([4, 2, 3]), i64([1, 1, 1, 3]), close=2e-6)
        case(op, f32([1, 2, 2, 1]), i32([0, 0, 0, 1]))
        case(op, zeros([0, 2]), i32([]))
        case(op, zeros([3, 0]), i32([0, 1, 1]))
        for wrong in ([1, 0, 1], [-1, 0, 1], [0, 1]):
            case(op, ramp([3]), i32(wrong), fails=True)
        case(op, f32(1), i32([0]), fails=True)
        case(op, ramp([2, 2]), i32([[0, 1], [1, 1]]), fails=True)


def leaking():
    for dtype in FLOATS:
        x, tolerance = mixed([2, 5], dtype, seed=70), CLOSE["bfloat16"] if dtype == BFLOAT16 else 0
        for alpha in (0.25, 0.2, -0.5, 1.5):
            case("LeakyRelu", x, alpha=alpha, close=tolerance)
        case("LeakyReluGrad", mixed([2, 5], dtype, seed=71), x, alpha=0.1, close=tolerance)
        case("LeakyRelu", zeros([0, 3], dtype))
        case("LeakyReluGrad", zeros([0], dtype), zeros([0], dtype))
    case("LeakyRelu", f32([-INF, INF, NAN, 0, -0.0]))
    case("LeakyReluGrad", f32([1, 2, 3]), f32([1, 2]), fails=True)


FAMILIES = (channels, at_positions, segments, leaking, products, looking_up_variables, writing_slices, lines, positions, differing)
