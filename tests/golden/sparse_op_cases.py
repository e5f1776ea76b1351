"""Calls of ops on sparse tensors; op_cases.py says what a case is."""
import itertools

import numpy

from op_cases import CLOSE, MOVED, case, filled
from layout_op_cases import NUMBERS, REALS
from reference import BFLOAT16, COMPLEX, FLOATS, INF, NAN, f32, i32, i64, mixed, name_of, ramp, text, tf, zeros

PAIRS = i64([[0, 0], [0, 2], [1, 1], [2, 0], [2, 3]])
SHUFFLED = PAIRS[[4, 1, 0, 3, 2]]
SHAPE = i64([3, 4])
NONE = zeros([0, 2], numpy.int64)
ORDER = "positions must be in order; TensorFlow does not check them"
BOUNDS = "a position outside the shape is an error; TensorFlow does not check it"


def tolerance(dtype, factor=4):
    return factor * CLOSE[name_of(dtype)] if name_of(dtype) in CLOSE else 0


def triple(dtype=numpy.float32, indices=PAIRS, shape=SHAPE):
    return indices, filled([len(indices)], dtype), shape


def segments():
    for op in ("SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN"):
        for dtype in REALS if op == "SparseSegmentSum" else FLOATS:
            close = tolerance(dtype)
            for index in (i32, i64):
                case(op, ramp([4, 3], dtype), index([3, 0, 0, 2]), i32([0, 0, 2, 2]), close=close)
            case(op + "WithNumSegments", ramp([4, 3], dtype), i32([3, 0, 0, 2]), i32([0, 0, 2, 2]), i32(5), close=close)
            case(op + "Grad", ramp([3, 3], dtype), i32([3, 0, 0, 2]), i32([0, 0, 2, 2]), i32(5), close=close)
            case(op + "GradV2", ramp([3, 3], dtype), i32([3, 0, 0, 2]), i32([0, 0, 2, 2]), i32(5), close=close)
        data = mixed([5, 2, 3])
        case(op, data, i32([4, 1, 1]), i64([0, 1, 3]), close=1e-6)
        case(op, data, i32([]), i32([]))
        case(op, zeros([0, 3]), i32([]), i32([]))
        case(op, mixed([9]), i32([1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3]), i32([0] * 11), close=2e-6)
        case(op + "WithNumSegments", data, i32([]), i32([]), i64(2))
        case(op + "WithNumSegments", data, i64([1, 2]), i64([1, 1]), i64(2), close=1e-6)
        case(op + "Grad", mixed([2, 2]), i64([0, 1, 3]), i64([0, 1, 1]), i32(4), close=1e-6)
        case(op + "GradV2", mixed([2, 2]), i64([3, 1, 3]), i64([0, 1, 1]), i32(4), close=1e-6)
        case(op + "GradV2", mixed([2, 2]), i32([]), i32([]), i32(4))
        for indices, ids in (([5], [0]), ([-1], [0]), ([0, 0], [1, 0]), ([0], [-1]), ([0, 1], [0])):
            case(op, data, i32(indices), i32(ids), fails=True)
            case(op + "WithNumSegments", data, i32(indices), i32(ids), i32(4), fails=True)
        case(op + "WithNumSegments", data, i32([0, 1]), i32([0, 4]), i32(4), fails=True)
        case(op + "WithNumSegments", data, i32([0, 1]), i32([0, 4]), i32(-4), fails=True)
        for indices, ids, rows in (([4], [0], 4), ([-1], [0], 4), ([0], [2], 4), ([0], [-1], 4), ([0, 1], [0], 4), ([0], [0], [4])):
            case(op + "Grad", mixed([2, 2]), i32(indices), i32(ids), i32(rows), fails=True)
        case(op, f32(1), i32([0]), i32([0]), fails=True)


def products():
    op = "SparseTensorDenseMatMul"
    twice = i64([[2, 3], [0, 0], [2, 3], [1, 0]])
    for dtype, a, b in itertools.product([*FLOATS, numpy.int32, numpy.int64, *COMPLEX], (False, True), (False, True)):
        inner = 3 if a else 4
        values = filled([4], dtype) if dtype in (numpy.int32, numpy.int64) else mixed([4], dtype, seed=3)
        case(op, twice, values, SHAPE, ramp([2, inner] if b else [inner, 2], dtype), adjoint_a=a, adjoint_b=b, close=tolerance(dtype),
             near=tolerance(dtype, 16))
    case(op, i32([[0, 1]]), f32([2]), i64([2, 2]), ramp([2, 3]))
    case(op, NONE, f32([]), SHAPE, ramp([4, 2]))
    case(op, NONE, f32([]), i64([2, 0]), zeros([0, 3]))
    case(op, PAIRS, mixed([5]), SHAPE, zeros([4, 0]))
    case(op, PAIRS, mixed([5]), SHAPE, mixed([4, 70], seed=2), close=1e-6, near=1e-6)
    for indices, shape, b in ((PAIRS, SHAPE, ramp([3, 2])), (i64([[0, 4]] * 5), SHAPE, ramp([4, 2])), (i64([[3, 0]] * 5), SHAPE, ramp([4, 2])),
                              (i64([[0, -1]] * 5), SHAPE, ramp([4, 2])), (PAIRS, i64([3, 4, 1]), ramp([4, 2])), (PAIRS, SHAPE, ramp([4])),
                              (PAIRS[:4], SHAPE, ramp([4, 2]))):
        case(op, indices, ramp([5]), shape, b, fails=True)
    op = "SparseMatMul"
    for left, right in itertools.product((numpy.float32, BFLOAT16), repeat=2):
        for a, b in itertools.product((False, True), repeat=2):
            case(op, mixed([3, 2] if a else [2, 3], left), mixed([4, 3] if b else [3, 4], right, seed=2), transpose_a=a, transpose_b=b,
                 a_is_sparse=b, b_is_sparse=a, close=1e-6, near=1e-6)
    case(op, zeros([2, 0]), zeros([0, 3]))
    case(op, ramp([2, 3]), ramp([2, 3]), fails=True)
    case(op, ramp([2]), ramp([2, 3]), fails=True)


def entries():
    for dtype in MOVED:
        case("SparseReorder", *triple(dtype, SHUFFLED))
        case("SparseConcat", [PAIRS, SHUFFLED], [filled([5], dtype), filled([5], dtype)], [SHAPE, i64([3, 6])], concat_dim=1)
        case("SparseSplit", i64(1), *triple(dtype), num_split=3)
        case("SparseSlice", *triple(dtype), i64([0, 1]), i64([2, 2]))
        case("SparseFillEmptyRows", *triple(dtype, PAIRS[[0, 1, 3]]), filled([4], dtype)[3:].reshape([]))
    case("SparseReorder", *triple())
    case("SparseReorder", NONE, f32([]), SHAPE)
    case("SparseReorder", i64([[1, 0, 1], [0, 1, 0]]), f32([1, 2]), i64([2, 2, 2]))
    case("SparseReorder", i64([[5, 5]]), f32([1]), SHAPE, ours="fails", why=BOUNDS)
    case("SparseReorder", PAIRS, f32([1]), SHAPE, fails=True)
    op = "SparseReshape"
    for shape in ([12], [2, 6], [-1], [2, -1, 3], [1, 12, 1], [6, -1]):
        case(op, SHUFFLED, SHAPE, i64(shape))
    case(op, NONE, i64([0, 4]), i64([2, 0]))
    case(op, zeros([1, 3], numpy.int64), i64([1, 1, 1]), i64([1]))
    for indices, old, new in ((PAIRS, SHAPE, [13]), (PAIRS, SHAPE, [-1, -1]), (PAIRS, SHAPE, [5, -1]), (PAIRS, SHAPE, [-2, 6]),
                              (PAIRS, i64([3, -4]), [12]), (PAIRS, i64([3, 4, 1]), [12])):
        case(op, indices, old, i64(new), fails=True)
    op = "SparseConcat"
    for dim in (0, 1, -1, -2):
        other = i64([2, 4]) if dim % 2 == 0 else i64([3, 5])
        case(op, [SHUFFLED, PAIRS[:3], NONE], [ramp([5]), ramp([3], first=9), f32([])], [SHAPE, other, SHAPE], concat_dim=dim)
        case(op, [PAIRS, PAIRS[:3]], [ramp([5]), ramp([3])], [SHAPE, i64([4, 5])], concat_dim=dim, fails=True)
    for dim in (2, -3):
        case(op, [PAIRS, PAIRS], [ramp([5]), ramp([5])], [SHAPE, SHAPE], concat_dim=dim, fails=True)
    op = "SparseSplit"
    for dim, parts in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 4)):
        case(op, i64(dim), *triple(), num_split=parts)
    for dim, parts in ((0, 4), (2, 1), (-3, 1)):
        case(op, i64(dim), *triple(), num_split=parts, fails=True)
    op = "SparseSlice"
    for start, size in (([0, 0], [3, 4]), ([1, 0], [9, 9]), ([0, 0], [1, 1]), ([2, 3], [1, 1]), ([3, 0], [1, 4]), ([0, 1], [3, 0])):
        case(op, *triple(), i64(start), i64(size))
    case(op, NONE, f32([]), SHAPE, i64([0, 0]), i64([2, 2]))
    case(op, *triple(), i64([0]), i64([1, 1]), fails=True)
    for dtype in NUMBERS:
        case("SparseSliceGrad", ramp([2], dtype), PAIRS, i64([1, 0]), i64([[0, 1], [1, 0]]))
    case("SparseSliceGrad", f32([]), PAIRS, i64([1, 0]), NONE)
    case("SparseSliceGrad", ramp([3]), PAIRS, i64([1, 0]), i64([[0, 1], [1, 0]]), fails=True)


def empty_rows():
    op = "SparseFillEmptyRows"
    case(op, *triple(), f32(9))
    case(op, SHUFFLED[[0, 3, 1]], f32([1, 2, 3]), i64([5, 4]), f32(9))
    case(op, NONE, f32([]), i64([3, 2]), f32(9))
    case(op, NONE, f32([]), i64([0, 2]), f32(9))
    case(op, i64([[2]]), f32([1]), i64([3]), f32(9))
    for indices, shape, default in ((i64([[3, 0]]), SHAPE, f32(9)), (i64([[-1, 0]]), SHAPE, f32(9)), (i64([[0, 0]]), SHAPE, f32([9])),
                                    (i64([[0, 0]]), i64([0, 4]), f32(9))):
        case(op, indices, f32([1]), shape, default, fails=True)
    op = "SparseFillEmptyRowsGrad"
    for dtype in NUMBERS:
        case(op, i64([3, 0, 4]), ramp([6], dtype), close=tolerance(dtype))
    case(op, i64([]), ramp([3]))
    case(op, i64([0]), f32([]), fails=True)
    for places in ([3], [-1]):
        case(op, i64(places), ramp([3]), fails=True)


def unions():
    other = i64([[0, 1], [0, 2], [1, 0], [2, 3]])
    for dtype in NUMBERS:
        real = {numpy.complex64: numpy.float32, numpy.complex128: numpy.float64}.get(dtype, dtype)
        case("SparseAdd", PAIRS, ramp([5], dtype), SHAPE, other, ramp([4], dtype, 2), SHAPE, numpy.array(4, dtype=real))
        case("SparseAddGrad", ramp([4], dtype), PAIRS, other, i64([[0, 1], [0, 2], [2, 0], [2, 3]]))
        if dtype not in COMPLEX:
            for op in ("SparseSparseMaximum", "SparseSparseMinimum"):
                case(op, PAIRS, ramp([5], dtype), SHAPE, other, ramp([4], dtype, 2), SHAPE)
    negative = f32([-1, 0, -3, 2, -0.5])
    for threshold in (-1, 0, 1, NAN):
        case("SparseAdd", PAIRS, negative, SHAPE, other, f32([1, 0, -9, NAN]), SHAPE, f32(threshold))
    for op in ("SparseSparseMaximum", "SparseSparseMinimum"):
        case(op, PAIRS, negative, SHAPE, other, f32([1, 0, -9, -INF]), SHAPE)
        case(op, PAIRS, negative, SHAPE, NONE, f32([]), SHAPE)
        case(op, NONE, f32([]), SHAPE, NONE, f32([]), SHAPE)
        case(op, PAIRS, negative, SHAPE, other, ramp([4]), i64([3, 5]), fails=True)
        case(op, PAIRS, negative, SHAPE, other, ramp([3]), SHAPE, fails=True)
    case("SparseAdd", NONE, f32([]), SHAPE, other, ramp([4]), SHAPE, f32(0))
    case("SparseAdd", PAIRS[[0, 0, 1]], ramp([3]), SHAPE, PAIRS[[0, 1, 1]], ramp([3]), SHAPE, f32(0))
    case("SparseAdd", PAIRS, negative, SHAPE, other, ramp([4]), i64([3, 5]), f32(0), fails=True)
    case("SparseAdd", PAIRS, negative, SHAPE, other, ramp([3]), SHAPE, f32(0), fails=True)
    case("SparseAdd", PAIRS, negative, SHAPE, other, ramp([4]), SHAPE, f32([0]), fails=True)
    case("SparseAdd", SHUFFLED, negative, SHAPE, other, ramp([4]), SHAPE, f32(0), ours="fails", why=ORDER)
    case("SparseAddGrad", f32([]), PAIRS, NONE, NONE)
    case("SparseAddGrad", ramp([2]), PAIRS, NONE, NONE, fails=True)


def with_dense():
    twice = i64([[2, 3], [0, 0], [2, 3], [1, 0]])
    for dtype in NUMBERS:
        close = tolerance(dtype)
        for index in (i32, i64):
            case("SparseTensorDenseAdd", index(twice), ramp([4], dtype), index([3, 4]), ramp([3, 4], dtype), close=close)
        for op in ("SparseDenseCwiseAdd", "SparseDenseCwiseMul", "SparseDenseCwiseDiv"):
            case(op, PAIRS, ramp([5], dtype, 3), SHAPE, ramp([4], dtype, 1), close=close)
    case("SparseTensorDenseAdd", NONE, f32([]), i64([0, 4]), zeros([0, 4]))
    case("SparseTensorDenseAdd", i64([[1, 0, 1]]), f32([5]), i64([2, 2, 2]), ramp([2, 2, 2]))
    for indices, shape, b in ((i64([[3, 0]]), SHAPE, ramp([3, 4])), (i64([[0, -1]]), SHAPE, ramp([3, 4])), (i64([[0, 0]]), SHAPE, ramp([4, 3])),
                              (i64([[0, 0]]), SHAPE, ramp([4]))):
        case("SparseTensorDenseAdd", indices, f32([1]), shape, b, fails=True)
    for op in ("SparseDenseCwiseAdd", "SparseDenseCwiseMul", "SparseDenseCwiseDiv"):
        for dense in ([3, 4], [3, 1], [1, 4], [1], []):
            case(op, SHUFFLED, mixed([5]), SHAPE, mixed(dense, low=0.5, seed=4), close=1e-6)
        case(op, NONE, f32([]), SHAPE, ramp([4]))
        for dense in ([3], [2, 4], [1, 3, 4]):
            case(op, PAIRS, mixed([5]), SHAPE, ramp(dense), fails=True)


def reductions():
    for op, dtypes in (("SparseReduceSum", NUMBERS), ("SparseReduceMax", REALS)):
        for dtype in dtypes:
            for name in (op, op + "Sparse"):
                case(name, PAIRS, ramp([5], dtype), SHAPE, i32([1]), close=tolerance(dtype))
        cube = i64([[0, 0, 0], [0, 1, 2], [1, 0, 2], [1, 1, 1], [1, 1, 2]])
        for name, keep in itertools.product((op, op + "Sparse"), (False, True)):
            for axes in ([0], [1], [-1], [0, 1], [], 0, [-2, 0]):
                case(name, SHUFFLED, f32([-1, 2, -3, 4, -5]), SHAPE, i32(axes), keep_dims=keep)
            for axes in ([0, 2], [1], [2, 1], [0, 1, 2]):
                case(name, cube, ramp([5]), i64([2, 2, 3]), i32(axes), keep_dims=keep)
            case(name, NONE, f32([]), SHAPE, i32([1]), keep_dims=keep)
            for axes in ([2], [-3]):
                case(name, PAIRS, ramp([5]), SHAPE, i32(axes), keep_dims=keep, fails=True)
    op = "SparseSoftmax"
    for dtype in (numpy.float32, numpy.float64, numpy.float16):
        case(op, PAIRS, mixed([5], dtype), SHAPE, close=tolerance(dtype), near=tolerance(dtype))
    case(op, i64([[0, 0, 0], [0, 0, 2], [0, 1, 1], [1, 0, 0], [1, 0, 1]]), mixed([5]), i64([2, 2, 3]), close=2e-6)
    case(op, NONE, f32([]), SHAPE)
    case(op, i64([[0]]), f32([1]), i64([3]), fails=True)


def sets():
    types = (numpy.int8, numpy.int16, numpy.int32, numpy.int64, numpy.uint8, numpy.uint16, object)
    operations = ("a-b", "B-A", "intersection", "Union")

    def values(numbers, dtype):
        return text([str(number) for number in numbers]) if dtype == object else numpy.array(numbers, dtype=dtype)

    for dtype in types:
        few, shape = values([5, 12, 5, 12, 9], dtype), SHAPE
        dense = values([3, 1, 3, 2, 9, 9, 9, 9, 12, 5, 12, 5], dtype).reshape([3, 4])
        other = values([2, 5, 2, 9, 8, 7, 5, 6, 12], dtype).reshape([3, 3])
        case("SetSize", PAIRS, few, shape)
        for operation in operations:
            case("DenseToDenseSetOperation", dense, other, set_operation=operation)
            case("DenseToSparseSetOperation", dense, PAIRS, few, shape, set_operation=operation)
            case("SparseToSparseSetOperation", PAIRS, few, shape, PAIRS[1:4], values([12, 5, 1], dtype), i64([3, 7]), set_operation=operation)
    cube = i64([[0, 1, 0], [0, 1, 1], [1, 0, 0]])
    case("SetSize", cube, text(["b", "", "a"]), i64([2, 2, 3]), validate_indices=False)
    case("SetSize", NONE, i32([]), SHAPE)
    case("SetSize", NONE, i32([]), i64([0, 4]))
    empty = zeros([3, 0], numpy.int32)
    for operation in operations:
        case("DenseToDenseSetOperation", empty, ramp([3, 2], numpy.int32), set_operation=operation)
        case("DenseToSparseSetOperation", empty, PAIRS, i32([1, 2, 3, 4, 5]), SHAPE, set_operation=operation)
        case("SparseToSparseSetOperation", NONE, i32([]), SHAPE, PAIRS, i32([1, 2, 3, 4, 5]), SHAPE, set_operation=operation)
    five = i32([1, 2, 3, 4, 5])
    for indices, shape in ((SHUFFLED, SHAPE), (PAIRS, i64([3, 3])), (PAIRS[[0, 0, 1, 2, 3]], SHAPE), (PAIRS, i64([3, 4, 1])), (PAIRS, i64([3, -4]))):
        case("SetSize", indices, five, shape, fails=True)
        case("DenseToSparseSetOperation", ramp([3, 2], numpy.int32), indices, five, shape, set_operation="union", fails=True)
        case("SparseToSparseSetOperation", indices, five, shape, PAIRS, five, SHAPE, set_operation="union", fails=True)
    case("SetSize", i64([[0]]), i32([1]), i64([1]), fails=True)
    case("DenseToDenseSetOperation", ramp([3, 2], numpy.int32), ramp([2, 2], numpy.int32), set_operation="union", fails=True)
    case("DenseToDenseSetOperation", ramp([3], numpy.int32), ramp([3], numpy.int32), set_operation="union", fails=True)
    case("DenseToDenseSetOperation", ramp([3, 2], numpy.int32), ramp([3, 2], numpy.int32), set_operation="a+b", fails=True)
    case("DenseToSparseSetOperation", ramp([2, 2], numpy.int32), PAIRS, five, SHAPE, set_operation="union", fails=True)
    case("SparseToSparseSetOperation", PAIRS, five, SHAPE, PAIRS, five, i64([4, 4]), set_operation="union", fails=True)


def protos(*sparse):
    """Each sparse tensor as three strings."""
    rows = [[tf.make_tensor_proto(part).SerializeToString() for part in tensor] for tensor in sparse]
    return numpy.array(rows, dtype=object)


def serialized():
    for op in ("SerializeSparse", "SerializeManySparse"):
        for dtype in MOVED:
            case(op, *triple(dtype))
        case(op, i64([[0, 1, 2], [2, 0, 0], [2, 1, 1]]), f32([1, 2, 3]), i64([4, 2, 3]))
        case(op, NONE, f32([]), SHAPE)
    case("SerializeSparse", PAIRS, f32([1, 2]), SHAPE, ours="fails", why="values and positions differ in number; TensorFlow does not check")
    case("SerializeManySparse", PAIRS, f32([1, 2]), SHAPE, fails=True)
    case("SerializeSparse", SHUFFLED, f32([1, 2, 3, 4, 5]), SHAPE)
    case("SerializeManySparse", SHUFFLED, f32([1, 2, 3, 4, 5]), SHAPE, fails=True)
    case("SerializeManySparse", i64([[2]]), f32([1]), i64([3]), fails=True)
    one, other = triple(), (i64([[1, 8]]), f32([7]), i64([2, 9]))
    for op in ("DeserializeManySparse", "DeserializeSparse"):
        for dtype in MOVED:
            case(op, protos(triple(dtype), triple(dtype)), dtype=tf.as_dtype(dtype))
        case(op, protos(one, (NONE, f32([]), i64([0, 3])), other), dtype=tf.float32)
        case(op, protos(one), dtype=tf.float64, fails=True)
        case(op, protos(one, (i64([[1]]), f32([1]), i64([2]))), dtype=tf.float32, fails=True)
        case(op, protos(one)[:, :2], dtype=tf.float32, fails=True)
        case(op, protos(one)[:0], dtype=tf.float32, fails=True)
        case(op, protos((PAIRS, f32([1]), SHAPE)), dtype=tf.float32, fails=True)
        case(op, numpy.array([[b"", b"", b""]], dtype=object), dtype=tf.float32, fails=True)
    case("DeserializeSparse", protos(one)[0], dtype=tf.float32)
    case("DeserializeSparse", protos(one, other).reshape([2, 1, 3]), dtype=tf.float32)
    case("DeserializeManySparse", protos(one)[0], dtype=tf.float32, fails=True)


FAMILIES = (serialized, sets, segments, products, entries, empty_rows, unions, with_dense, reductions)
