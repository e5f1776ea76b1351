"""More calls of single ops: padding, blocks, sequences and diagonals; op_cases.py says what a case is."""
import itertools

import numpy

from op_cases import MOVED, case, filled
from reference import COMPLEX, FLOATS, INTEGERS, boolean, f32, i32, i64, ramp, tf, zeros

NUMBERS = FLOATS + INTEGERS + COMPLEX
REALS = FLOATS + INTEGERS


def padding():
    for dtype in MOVED:
        box = filled([2, 3, 2], dtype)
        case("PadV2", box, i32([[0, 0], [1, 0], [0, 1]]), filled([7], dtype)[6:].reshape([]))
        for mode in ("SYMMETRIC", "REFLECT"):
            case("MirrorPad", box, i32([[1, 0], [1, 2], [0, 1]]), mode=mode)
    for dtype, mode in itertools.product(NUMBERS, ("SYMMETRIC", "REFLECT")):
        case("MirrorPadGrad", filled([3, 6, 3], dtype), i32([[1, 0], [1, 2], [0, 1]]), mode=mode)
    case("PadV2", f32(3), zeros([0, 2], numpy.int32), f32(7))
    case("PadV2", zeros([0, 2]), i64([[1, 1], [0, 0]]), f32(7))
    for wrong in ([[-1, 1]], [[1, 1], [0, 0]]):
        case("PadV2", ramp([2]), i32(wrong), f32(7), fails=True)
    case("PadV2", ramp([2]), i32([[1, 1]]), f32([7]), fails=True)
    case("MirrorPad", f32([1, 2, 3]), i64([[3, 3]]), mode="SYMMETRIC")
    case("MirrorPad", f32([1, 2, 3]), i64([[2, 2]]), mode="REFLECT")
    case("MirrorPad", f32(3), zeros([0, 2], numpy.int32), mode="REFLECT")
    case("MirrorPad", zeros([0, 3]), i32([[0, 0], [1, 1]]), mode="SYMMETRIC")
    case("MirrorPad", zeros([0, 3]), i32([[0, 0], [1, 1]]), mode="REFLECT", ours=[zeros([0, 5])],
         why="a dimension without elements that is not padded may be there in both modes")
    for wrong, mode in (([[4, 0]], "SYMMETRIC"), ([[0, 3]], "REFLECT"), ([[-1, 0]], "REFLECT"), ([[1, 1], [0, 0]], "SYMMETRIC")):
        case("MirrorPad", ramp([3]), i32(wrong), mode=mode, fails=True)
    case("MirrorPadGrad", ramp([5]), i64([[1, 1]]), mode="REFLECT")
    case("MirrorPadGrad", f32(1), zeros([0, 2], numpy.int32), mode="SYMMETRIC")
    for wrong, mode in (([[3, 0]], "SYMMETRIC"), ([[2, 1]], "REFLECT"), ([[3, 3]], "REFLECT")):
        case("MirrorPadGrad", ramp([5]), i32(wrong), mode=mode, fails=True)


def blocks():
    for dtype in MOVED:
        case("SpaceToDepth", filled([1, 2, 4, 3], dtype), block_size=2)
        case("DepthToSpace", filled([1, 1, 2, 12], dtype), block_size=2)
    for dtype in REALS:
        case("SpaceToBatch", filled([1, 2, 3, 2], dtype), i32([[0, 0], [1, 0]]), block_size=2)
        case("BatchToSpace", filled([4, 1, 2, 2], dtype), i32([[0, 0], [1, 0]]), block_size=2)
        case("SpaceToBatchND", filled([2, 3, 2], dtype), i32([3]), i32([[1, 2]]))
        case("BatchToSpaceND", filled([6, 2, 1], dtype), i32([3]), i32([[1, 2]]))
    case("SpaceToDepth", ramp([2, 3, 6, 1]), block_size=3)
    case("DepthToSpace", ramp([2, 1, 2, 9]), block_size=3)
    case("SpaceToDepth", zeros([0, 2, 2, 1]), block_size=2)
    case("DepthToSpace", zeros([1, 0, 2, 4]), block_size=2)
    for op in ("SpaceToDepth", "DepthToSpace"):
        case(op, ramp([1, 3, 2, 3]), block_size=2, fails=True)
        case(op, ramp([2, 2, 4]), block_size=2, fails=True)
    image = ramp([1, 4, 4, 2])
    case("SpaceToBatchND", image, i64([2, 2]), i64([[0, 0], [2, 0]]))
    case("SpaceToBatchND", image, i32([2, 1, 2]), i32([[1, 1], [0, 0], [3, 1]]))
    case("BatchToSpaceND", ramp([4, 2, 2, 2]), i64([2, 2]), i64([[1, 0], [0, 2]]))
    case("BatchToSpaceND", ramp([6, 2]), i32([3]), i32([[3, 3]]))
    case("SpaceToBatchND", zeros([0, 3]), i32([3]), i32([[0, 0]]))
    case("BatchToSpaceND", zeros([6, 0]), i32([3]), i32([[0, 0]]))
    case("SpaceToBatch", zeros([0, 2, 2, 1]), i64([[0, 0], [0, 0]]), block_size=2)
    case("BatchToSpace", zeros([0, 2, 2, 1]), i64([[0, 0], [0, 0]]), block_size=2)
    for block, margins in (([3], [[0, 0]]), ([0], [[0, 0]]), ([2], [[-1, 1]]), ([2, 2], [[0, 0]]), ([1, 1, 1, 1], [[0, 0]] * 4)):
        case("SpaceToBatchND", image, i32(block), i32(margins), fails=True)
        case("BatchToSpaceND", image, i32(block), i32(margins), fails=True)
    case("BatchToSpaceND", ramp([6, 2]), i32([3]), i32([[3, 4]]), fails=True)
    for op in ("SpaceToBatch", "BatchToSpace"):
        case(op, ramp([1, 2, 3, 2]), i32([[0, 0], [0, 0]]), block_size=2, fails=True)
        case(op, ramp([4, 2, 2]), i32([[0, 0], [0, 0]]), block_size=2, fails=True)
        case(op, ramp([4, 2, 2, 1]), i32([[0, 0], [0, -2]]), block_size=2, fails=True)


def sequences():
    for dtype in MOVED:
        case("ReverseSequence", filled([2, 3, 2], dtype), i64([3, 2]), seq_dim=1)
    case("ReverseSequence", ramp([3, 2, 2]), i32([0, 3]), seq_dim=0, batch_dim=1)
    case("ReverseSequence", ramp([2, 3]), i32([2, 1, 0]), seq_dim=0, batch_dim=1)
    case("ReverseSequence", zeros([0, 3]), i64([]), seq_dim=1)
    for lengths, axes in (([2, 4], (1, 0)), ([2, -1], (1, 0)), ([2, 2, 2], (1, 0)), ([2, 2], (0, 0)), ([2, 2], (2, 0))):
        case("ReverseSequence", ramp([2, 3]), i64(lengths), seq_dim=axes[0], batch_dim=axes[1], fails=True)


ALIGNMENTS = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")


def later_diagonals(version, **attrs):
    """Of the second and third version."""
    none, matrices, fill = i32(-1), ramp([2, 3, 4]), f32(9)
    for packed, k, rows, columns in ((ramp([2, 3, 3]), [-1, 1], -1, -1), (ramp([3]), 0, -1, 5), (ramp([2, 2]), [1, 2], 2, 4),
                                     (ramp([2, 2]), -1, 3, 2), (zeros([0, 2]), 0, -1, -1), (zeros([2, 0]), 1, -1, -1)):
        case(f"MatrixDiag{version}", packed, i32(k), i32(rows), i32(columns), fill, **attrs)
    for k in ([-1, 2], [0, 0], [-2, -1], 3, -2, [2]):
        case(f"MatrixDiagPart{version}", matrices, i32(k), fill, **attrs)
    case(f"MatrixDiagPart{version}", zeros([0, 3]), i32(0), fill, **attrs)
    case(f"MatrixSetDiag{version}", matrices, f32(9) + ramp([2, 4, 3]), i32([-1, 2]), **attrs)
    case(f"MatrixSetDiag{version}", matrices, f32(9) + ramp([2, 1]), i32(-2), **attrs)
    case(f"MatrixSetDiag{version}", zeros([0, 3]), zeros([0]), i32(0), **attrs)
    for packed, k, rows, columns in ((ramp([2, 3]), [-1, 1], -1, -1), (ramp([2, 2]), [1, 0], -1, -1), (ramp([3]), 0, 2, -1),
                                     (ramp([3]), 0, 4, 4), (f32(1), 0, -1, -1), (ramp([3]), [0, 0, 0], -1, -1)):
        case(f"MatrixDiag{version}", packed, i32(k), i32(rows), i32(columns), fill, fails=True, **attrs)
    case(f"MatrixDiag{version}", ramp([2]), i32(0), none, none, f32([1]), fails=True, **attrs)
    for k in ([1, 0], [-3, 0], 4):
        case(f"MatrixDiagPart{version}", matrices, i32(k), fill, fails=True, **attrs)
        case(f"MatrixSetDiag{version}", matrices, ramp([2, 2, 3]), i32(k), fails=True, **attrs)
    case(f"MatrixDiagPart{version}", ramp([3]), i32(0), fill, fails=True, **attrs)
    case(f"MatrixSetDiag{version}", matrices, ramp([2, 4]), i32(0), fails=True, **attrs)


def diagonals():
    for dtype in NUMBERS + [numpy.bool_]:
        diagonal, matrices, fill = filled([2, 2], dtype), filled([2, 2, 3], dtype), filled([7], dtype)[6:].reshape([])
        case("Diag", diagonal)
        case("DiagPart", filled([2, 3, 2, 3], dtype))
        case("MatrixBandPart", matrices, i64(0), i64(1))
        case("MatrixDiag", diagonal)
        case("MatrixDiagPart", matrices)
        case("MatrixSetDiag", matrices, diagonal)
        for version in ("V2", "V3"):
            case(f"MatrixDiag{version}", diagonal, i32([0, 1]), i32(-1), i32(-1), fill)
            case(f"MatrixDiagPart{version}", matrices, i32([0, 2]), fill)
            case(f"MatrixSetDiag{version}", matrices, diagonal, i32(1))
    for shape in ([0], [3], [2, 1, 2]):
        case("Diag", ramp(shape))
        case("DiagPart", ramp(shape + shape))
    case("Diag", f32(1), fails=True)
    for shape in ([3], [2, 3], [2, 2, 2]):
        case("DiagPart", ramp(shape), fails=True)
    for lower, upper in ((0, 0), (-1, 0), (1, -1), (3, 4), (-9, -9)):
        case("MatrixBandPart", ramp([3, 4]), i64(lower), i64(upper))
        case("MatrixBandPart", ramp([2, 4, 3]), i32(lower), i32(min(upper, 3)))
    for shape in ([0, 3], [3, 0], [0, 2, 2]):
        case("MatrixBandPart", zeros(shape), i64(0), i64(0))
        case("MatrixDiagPart", zeros(shape))
    case("MatrixBandPart", ramp([3, 4]), i64(4), i64(0), fails=True)
    case("MatrixBandPart", ramp([3, 4]), i64(0), i64(5), fails=True)
    case("MatrixBandPart", ramp([3]), i64(0), i64(0), fails=True)
    case("MatrixDiag", ramp([2, 1, 2]))
    case("MatrixDiag", zeros([2, 0]))
    case("MatrixDiag", f32(1), fails=True)
    case("MatrixDiagPart", ramp([3, 2]))
    case("MatrixDiagPart", ramp([3]), fails=True)
    case("MatrixSetDiag", ramp([3, 2]), ramp([2], first=20))
    case("MatrixSetDiag", ramp([2, 3, 2]), ramp([2, 3]), fails=True)
    case("MatrixSetDiag", ramp([3]), ramp([3]), fails=True)
    later_diagonals("V2")
    for align in ALIGNMENTS:
        later_diagonals("V3", align=align)


def seen_otherwise():
    for dtype in MOVED:
        case("EnsureShape", filled([2, 3], dtype), shape=tf.TensorShape([None, 3]))
    case("EnsureShape", f32(1), shape=tf.TensorShape([]))
    case("EnsureShape", zeros([0, 2]), shape=tf.TensorShape([None, None]))
    for wrong in ([2, None], [None, 3, 1], []):
        case("EnsureShape", ramp([3, 3]), shape=tf.TensorShape(wrong), fails=True)
    for dtype in NUMBERS:
        for other in NUMBERS:
            ratio = numpy.dtype(other).itemsize // numpy.dtype(dtype).itemsize
            if ratio <= 1 or dtype == numpy.uint8:
                case("Bitcast", numpy.arange(1, 1 + 2 * max(ratio, 1)).astype(dtype).reshape([2] + [ratio] * (ratio > 1)), type=other)
    case("Bitcast", zeros([0, 2]), type=numpy.int64)
    case("Bitcast", f32(1), type=numpy.int32)
    for wrong in (f32([1, 2, 3]), f32(1), zeros([0])):
        case("Bitcast", wrong, type=numpy.int64, fails=True)
    for array in (i32, i64):
        case("BroadcastArgs", array([2, 1, 3, 1]), array([4, 1, 5]))
        case("BroadcastArgs", array([]), array([3]))
        case("BroadcastArgs", array([0, 1]), array([1, 3]))
        case("BroadcastArgs", array([2, 4]), array([3]), fails=True)
        case("BroadcastArgs", array(2), array([3]), fails=True)


def turning():
    for dtype in MOVED:
        case("Reverse", filled([2, 3], dtype), boolean([True, False]))
        case("ConjugateTranspose", filled([2, 3], dtype), i32([1, 0]))
        case("ParallelConcat", [filled([1, 2], dtype), filled([1, 2], dtype)], shape=tf.TensorShape([2, 2]))
    for dtype in MOVED:
        case("Roll", filled([2, 3], dtype), i32([1, -1]), i32([0, 1]))
    for shift, axis in ((i32(4), i64(-1)), (i64([1, 2, 1]), i32([0, 1, 0])), (i32([]), i32([]))):
        case("Roll", ramp([3, 2, 5]), shift, axis)
    case("Roll", zeros([0, 2]), i32(1), i32(0))
    case("Roll", f32(1), i32(1), i32(0), fails=True)
    case("Roll", ramp([3, 2]), i32(1), i32(2), fails=True)
    case("Roll", ramp([3, 2]), i32([1, 2]), i32([1]), fails=True)
    for dtype in COMPLEX:
        case("ConjugateTranspose", numpy.array([[1 + 2j, -1j], [3, 4 - 1j]], dtype=dtype), i64([1, 0]))
    case("Reverse", ramp([2, 3, 2]), boolean([True, False, True]))
    case("Reverse", f32(3), boolean([]))
    case("Reverse", ramp([2, 3]), boolean([True]), fails=True)
    case("Reverse", ramp([2, 3]), boolean([[True, False]]), fails=True)
    case("ConjugateTranspose", ramp([2, 3]), i32([1, 1]), fails=True)
    case("ConjugateTranspose", ramp([2, 3]), i32([0]), fails=True)
    case("ParallelConcat", [ramp([1, 2, 2])], shape=tf.TensorShape([1, 2, 2]))
    case("ParallelConcat", [ramp([2, 2]), ramp([1, 2])], shape=tf.TensorShape([2, 2]), fails=True)
    case("ParallelConcat", [ramp([1, 2]), ramp([1, 3])], shape=tf.TensorShape([2, 2]), fails=True)
    for dtype in MOVED:
        case("Empty", i32([2, 3]), dtype=tf.string if dtype is object else dtype, init=True)
        case("GuaranteeConst", filled([2], dtype))
        case("DeepCopy", filled([2], dtype))
    case("Empty", i32([]), dtype=tf.float32, init=True)
    case("Empty", i32([0, 3]), dtype=tf.float32, init=True)
    case("Empty", i32([-1]), dtype=tf.float32, init=True, fails=True)
    case("Empty", i32([[1]]), dtype=tf.float32, init=True, fails=True)
    case("DebugGradientIdentity", ramp([2, 3]))


FAMILIES = (turning, padding, blocks, sequences, diagonals, seen_otherwise)
