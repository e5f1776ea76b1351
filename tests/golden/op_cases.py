"""Calls of single ops, for tests/golden/op_values/ and for the cases of ops/.

A case is one call:  case("Sum", f32([[1, 2], [3, 4]]), i32([0]), keep_dims=True)
  an input     an array of numpy, a list of arrays where the op takes N of them; what an op takes as reference or resource
               becomes a variable with that value, and the outputs are then the new values of the variables
  close=R      floats may differ by R of their size (default: the same, the sign of a zero too); CLOSE[dtype] fits one operation
  near=A       and by A, where they are differences of larger numbers
  fails=True   TensorFlow refuses it, and so does Troupe
  ours=[...]   what Troupe yields where it differs on purpose ("fails": it refuses); why="..." says why
"""
import itertools
import typing

import numpy

from reference import (BFLOAT16, COMPLEX, FLOATS, INF, INTEGERS, NAN, boolean, f32, f64, i32, i64, mixed, name_of, ramp,
                       tensorflow_outputs, text, tf, u8, zeros)

# Half and bfloat16 are computed in float and rounded once; TensorFlow computes some ops in half and bfloat16, with a rounding per step.
CLOSE = {"float32": 1e-6, "float64": 2e-15, "float16": 1e-3, "bfloat16": 8e-3, "complex64": 1e-6, "complex128": 2e-15}


class Case(typing.NamedTuple):
    op: str
    inputs: tuple
    attrs: dict
    close: float
    near: float
    fails: bool
    ours: typing.Any
    why: str

    def arrays(self):
        return [one for value in self.inputs for one in (value if isinstance(value, list) else [value])]


recorded = []


def case(op, *inputs, close=0, near=0, fails=False, ours=None, why=None, **attrs):
    recorded.append(Case(op, inputs, attrs, close, near, fails, ours, why))


def cases_of(family):
    recorded.clear()
    family()
    return list(recorded)


SPECIAL = [-INF, -1e30, -2.5, -1.5, -1, -0.5, -0.0, 0, 0.5, 1, 1.5, 2.5, 1e30, INF, NAN]


def elementwise_unary():
    plain = ["Neg", "Abs", "Sign", "Square", "Floor", "Ceil", "Round", "Relu", "Relu6"]
    rounded = ["Sqrt", "Reciprocal", "Inv", "Rsqrt", "Exp", "Log", "Log1p", "Sin", "Cos", "Elu", "Softplus", "Sigmoid", "Tanh",
               "Selu", "Expm1", "Erf", "Erfc"]
    for op, dtype in itertools.product(plain + rounded, FLOATS):
        tolerance = 0 if op in plain else CLOSE[name_of(dtype)]
        if op == "Square" and dtype == BFLOAT16:
            tolerance = CLOSE["bfloat16"]
        if op == "Softplus" and dtype == BFLOAT16:
            tolerance = 2 * CLOSE["bfloat16"]
        if op in ("Relu", "Relu6"):
            tolerance = 1e-9  # of two zeros either
        # TensorFlow's Erf of an infinite double is NaN
        special = [x for x in SPECIAL if not (op in ("Sin", "Cos") and 1e29 < abs(x) < INF) and not (op == "Erf" and abs(x) == INF)]
        case(op, numpy.array(special, dtype=dtype), close=tolerance)
        positive = op in ("Sqrt", "Rsqrt", "Log", "Log1p")
        case(op, mixed([2, 9], dtype, 0.01 if positive else -9, 9), close=tolerance)
        case(op, zeros([0, 3], dtype))
        case(op, numpy.array(2.25, dtype=dtype), close=tolerance)
    for op, dtype in itertools.product(["Neg", "Abs", "Sign", "Square", "Relu", "Relu6"], INTEGERS):
        limits = numpy.iinfo(dtype)
        case(op, numpy.array([limits.min, limits.max, 0, 1, 7, 100] + ([-1, -7] if limits.min < 0 else []), dtype=dtype))
    for op, dtype in itertools.product(
            ["Neg", "Sign", "Square", "Sqrt", "Rsqrt", "Reciprocal", "Inv", "Exp", "Expm1", "Log", "Log1p", "Sin", "Cos", "Sigmoid",
             "Tanh", "Conj"],
            COMPLEX):
        case(op, numpy.array([1 + 2j, -1 + 0.5j, 0.5 - 0.25j, -2 - 1j, 3, 1j], dtype=dtype), close=4 * CLOSE[name_of(dtype)])
    case("Log1p", numpy.array([1e-12 + 1e-12j, -1e-9, 1e-9j, 1e9 - 1j]), close=1e-12, near=1e-17)
    case("Log1p", numpy.array([1e30, -1e30 + 2j, 1e30j, 3 + 2e25j], numpy.complex64), close=1e-6)
    for dtype in (numpy.int32, numpy.int64):
        whole = numpy.array([-7, 0, numpy.iinfo(dtype).max], dtype=dtype)
        case("Round", whole, ours=[whole], why="an integer is round, as in TensorFlow 1.x; TensorFlow 2 makes 0 of it")
    for op, dtype in itertools.product(["IsNan", "IsInf", "IsFinite"], FLOATS):
        case(op, numpy.array(SPECIAL, dtype=dtype))
    case("LogicalNot", boolean([True, False]))
    for value in (i32(0), i32(-3), i32([]), i32([0]), f32(0), f32(0.5), boolean(True), text(""), text("a"), text([])):
        case("ToBool", value)
    for op in ["SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad", "SigmoidGrad", "TanhGrad", "ReluGrad", "Relu6Grad", "EluGrad",
               "SeluGrad", "SoftplusGrad"]:
        for dtype in FLOATS:
            a, b = mixed([2, 5], dtype, -0.9, 0.9, 2), mixed([2, 5], dtype, 0.5, 7, 3)
            # ReluGrad(gradients, features) and those like it; SqrtGrad(y, dy) and those like it
            pair = (b, a) if op in ("ReluGrad", "EluGrad", "SeluGrad", "SoftplusGrad") else (b, b) if op == "Relu6Grad" else (a, b)
            case(op, *pair, close=4 * CLOSE[name_of(dtype)])
            case(op, zeros([0], dtype), zeros([0], dtype))
        if op in ("ReluGrad", "Relu6Grad"):
            case(op, f32([5, 5, 5, 5, 5]), f32([-1, 0, 3, 6, 7]))
            for dtype in INTEGERS:
                case(op, ramp([4], dtype), numpy.array([0, 1, 6, 9], dtype=dtype))
        elif op not in ("EluGrad", "SeluGrad", "SoftplusGrad"):
            for dtype in COMPLEX:
                case(op, numpy.array([1 + 2j, -0.5j], dtype=dtype), numpy.array([0.5 - 1j, 2], dtype=dtype),
                     close=8 * CLOSE[name_of(dtype)])


def elementwise_binary():
    arithmetic = ["Add", "AddV2", "Sub", "Mul", "Div", "RealDiv", "DivNoNan", "TruncateDiv", "FloorDiv", "FloorMod", "Mod", "TruncateMod",
                  "Maximum", "Minimum", "SquaredDifference", "Pow", "Atan2"]
    comparisons = ["Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual"]
    pairs = [-INF, -7.5, -2, -0.0, 0, 2, 7.5, INF, NAN]
    for op, dtype in itertools.product(arithmetic + comparisons, FLOATS):
        exact = op in comparisons or (op not in ("Pow", "Atan2") and dtype in (numpy.float32, numpy.float64))
        tolerance = 1e-9 if op in ("Maximum", "Minimum") else 0 if exact else 4 * CLOSE[name_of(dtype)]
        column = numpy.array(pairs, dtype=dtype).reshape(-1, 1)
        case(op, column, column.reshape(1, -1), close=tolerance)
        case(op, mixed([3, 1, 4], dtype, 0.5, 9, 4), mixed([2, 1], dtype, 0.5, 3, 5), close=tolerance)
        case(op, mixed([5], dtype, 0.5, 9, 6), numpy.array(1.5, dtype=dtype), close=tolerance)
        case(op, zeros([0, 3], dtype), zeros([1, 3], dtype))
    for op, dtype in itertools.product(arithmetic + comparisons, INTEGERS):
        limits = numpy.iinfo(dtype)
        x = [limits.min, limits.max, 0, 1, 2, 7, 100] + ([-1, -7] if limits.min < 0 else [])
        y = [1, 2, 3, 5] + ([-2, -3] if limits.min < 0 and op != "Pow" else [])
        case(op, numpy.array(x, dtype=dtype).reshape(-1, 1), numpy.array(y, dtype=dtype))
        if op in ("Div", "TruncateDiv", "FloorDiv", "FloorMod", "Mod", "TruncateMod"):
            case(op, numpy.array([4, 5], dtype=dtype), numpy.array([2, 0], dtype=dtype), fails=True)
    for dtype in (numpy.int32, numpy.int64):
        least = numpy.iinfo(dtype).min
        case("Pow", numpy.array([2, 3], dtype=dtype), numpy.array([1, -1], dtype=dtype), fails=True)
        for op in ("Add", "Sub", "Mul"):
            case(op, numpy.array([least, least], dtype=dtype), numpy.array([-1, 3], dtype=dtype))
    for op, dtype in itertools.product(
            ["Add", "AddV2", "Sub", "Mul", "Div", "RealDiv", "DivNoNan", "SquaredDifference", "Pow", "Equal", "NotEqual"], COMPLEX):
        case(op, numpy.array([1 + 2j, -1 + 0.5j, 2], dtype=dtype), numpy.array([[0.5 - 1j], [2]], dtype=dtype),
             close=8 * CLOSE[name_of(dtype)])
    case("Add", text(["a", "b"]), text(["c"]))
    for op in ("Equal", "NotEqual"):
        case(op, text(["a", "b", ""]), text(["b"]))
        case(op, boolean([True, False]), boolean([[True], [False]]))
        case(op, f32([1, 2]), f32([1, 2, 3]), incompatible_shape_error=False)
        case(op, f32([[1, 2]]), f32([[1], [2]]), incompatible_shape_error=False)
        case(op, zeros([0]), zeros([2]), incompatible_shape_error=False)
    for op in ("LogicalAnd", "LogicalOr"):
        case(op, boolean([True, False]), boolean([[True], [False]]))
    for op in arithmetic + comparisons:
        case(op, f32([1, 2]), f32([1, 2, 3]), fails=True)


def reductions():
    cube = mixed([2, 3, 4], seed=7)
    for op, keep in itertools.product(["Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm"], [False, True]):
        tolerance = 0 if op in ("Max", "Min") else 2e-6
        for axes in ([], [0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2], [-1], [-3, 1]):
            case(op, cube, i32(axes), keep_dims=keep, close=tolerance)
        case(op, cube, i32(1), keep_dims=keep, close=tolerance)
        case(op, cube, i64([1]), keep_dims=keep, close=tolerance)
    for op in ["Sum", "Mean", "Prod", "Max", "Min"]:
        for dtype in FLOATS + INTEGERS + COMPLEX:
            tolerance = 4 * CLOSE[name_of(dtype)] if name_of(dtype) in CLOSE else 0
            case(op, ramp([3, 3], dtype), i32([1]), close=tolerance)
            for shape, axes in (([0, 2], [0]), ([2, 0], [0]), ([0], [0]), ([], [])):
                if op == "Mean" and dtype in INTEGERS and 0 in shape and axes == [0] and shape[0] == 0:
                    case(op, zeros(shape, dtype), i32(axes), ours="fails", why="the mean of no integers has no value")
                    continue
                if op == "Mean" and dtype in COMPLEX and shape[:1] == [0]:
                    case(op, zeros(shape, dtype), i32(axes), ours=[numpy.full(shape[1:], complex(NAN, NAN), dtype)],
                         why="the mean of nothing is NaN, as that of floats is")
                    continue
                case(op, zeros(shape, dtype), i32(axes))
        case(op, f32([[1, NAN, 2], [INF, 1, -INF], [NAN, NAN, NAN]]), i32([1]))
        case(op, f32([[INF, INF], [-INF, -INF]]), i32([1]))
        case(op, i32([[2**31 - 1, 1, 5], [-2**31, -1, 5]]), i32([1]))
        case(op, i64([2**62, 2**62, 3]), i32([0]))
        case(op, u8([200, 250, 255, 0]), i32([0]))
        case(op, cube, i32([3]), fails=True)
        case(op, cube, i32([-4]), fails=True)
        case(op, cube, i32([0, -3]), fails=True)
    op = "EuclideanNorm"
    for dtype in FLOATS + INTEGERS[:2] + COMPLEX:
        tolerance = 4 * CLOSE[name_of(dtype)] if name_of(dtype) in CLOSE else 0
        case(op, ramp([3, 3], dtype), i32([1]), close=tolerance)
        for shape, axes in (([0, 2], [0]), ([2, 0], [0]), ([0], [0]), ([], [])):
            case(op, zeros(shape, dtype), i32(axes))
    case(op, numpy.array([1 + 2j, -3j, 2], numpy.complex64), i32([0]), close=1e-6)
    case(op, f32([[1, NAN, 2], [INF, 1, -INF], [-3, 0, 4]]), i32([1]), close=1e-6)
    for axes in (3, -4):
        case(op, cube, i32([axes]), fails=True)
    for op in ("All", "Any"):
        values = boolean([[True, False, True], [True, True, True], [False, False, False]])
        for axes, keep in (([0], False), ([1], False), ([0, 1], False), ([1], True), ([], False)):
            case(op, values, i32(axes), keep_dims=keep)
        case(op, zeros([0, 2], numpy.bool_), i32([0]))
        case(op, zeros([2, 0], numpy.bool_), i32([0]))
    for op in ("ArgMax", "ArgMin"):
        for axis in (0, 1, 2, -1, -3):
            case(op, mixed([2, 3, 4], seed=8), i32(axis))
        for dtype in FLOATS + INTEGERS:
            case(op, numpy.array([[3, 1, 3], [1, 3, 1]], dtype=dtype), i32(1))
        case(op, f32([1, 3, 3, 0, 0]), i64(0), output_type=tf.int32)
        case(op, f32([[-INF, INF], [INF, -INF]]), i32(1))
        case(op, zeros([2, 0]), i32(0))
        case(op, zeros([0, 2]), i32(1))
        case(op, zeros([0, 2]), i32(0), fails=True)
        case(op, f32([1, 2]), i32(1), fails=True)
    for dtype in FLOATS:
        case("L2Loss", mixed([3, 5], dtype, seed=9), close=4 * CLOSE[name_of(dtype)])
        case("L2Loss", zeros([0], dtype))
        case("L2Loss", numpy.array(3, dtype=dtype))


def losses():
    for op, dtype in itertools.product(("Softmax", "LogSoftmax"), FLOATS):
        tolerance = 8 * CLOSE[name_of(dtype)]
        near = tolerance if op == "LogSoftmax" else 0
        case(op, mixed([3, 5], dtype, -5, 5, 10), close=tolerance, near=near)
        case(op, numpy.array([[0, 1000], [-1000, -1000], [0, 0]], dtype=dtype), close=tolerance, near=near)
        case(op, mixed([2, 2, 3], dtype, seed=11), close=tolerance, near=near)
        case(op, mixed([3], dtype, seed=11), close=tolerance, near=near)
        case(op, zeros([0, 3], dtype))
        case(op, numpy.array([[7]], dtype=dtype), close=tolerance)
    for op in ("Softmax", "LogSoftmax"):
        case(op, f32([[NAN, 1], [INF, 1], [-INF, 1]]), close=1e-6)
        case(op, f32(1), fails=True)
    for dtype in FLOATS:
        tolerance = 16 * CLOSE[name_of(dtype)]
        labels = numpy.array([[0.25, 0.25, 0.5], [0, 1, 0]], dtype=dtype)
        case("SoftmaxCrossEntropyWithLogits", mixed([2, 3], dtype, seed=12), labels, close=tolerance)
        case("SoftmaxCrossEntropyWithLogits", zeros([0, 3], dtype), zeros([0, 3], dtype))
        for index in (i32, i64):
            case("SparseSoftmaxCrossEntropyWithLogits", mixed([2, 3], dtype, seed=13), index([2, 0]), close=tolerance)
        case("SparseSoftmaxCrossEntropyWithLogits", zeros([0, 3], dtype), i64([]))
    big = f32([[1000, 0], [-1000, 1000]])
    case("SoftmaxCrossEntropyWithLogits", big, f32([[1, 0], [0, 1]]), close=1e-6)
    case("SparseSoftmaxCrossEntropyWithLogits", big, i64([0, 0]), close=1e-6)
    for label in (-1, 3):
        case("SparseSoftmaxCrossEntropyWithLogits", zeros([2, 3]), i32([0, label]), fails=True)
    case("SoftmaxCrossEntropyWithLogits", zeros([2, 3]), zeros([3, 2]), fails=True)
    case("SoftmaxCrossEntropyWithLogits", zeros([3]), zeros([3]), fails=True)
    for dtype, shape in itertools.product((numpy.float32, numpy.float16), ([1, 3], [2, 1], [1, 1], [3], [])):
        large, small = mixed([2, 3], dtype, seed=14), mixed(shape, dtype, 0.1, 0.9, seed=15)
        case("SoftmaxCrossEntropyWithLogits", large, small, close=16 * CLOSE[name_of(dtype)])
        case("SoftmaxCrossEntropyWithLogits", small, large, close=16 * CLOSE[name_of(dtype)], near=CLOSE[name_of(dtype)])
    case("SoftmaxCrossEntropyWithLogits", mixed([2, 1]), mixed([1, 3]), close=1e-5)


MOVED = FLOATS + INTEGERS + COMPLEX + [numpy.bool_, object]


def filled(shape, dtype):
    values = ramp(shape)
    if dtype is object:
        return numpy.array([str(int(x)) for x in values.reshape(-1)], dtype=object).reshape(shape)
    return values.astype(dtype) if dtype is not numpy.bool_ else values % 2 == 0


def moving():
    for dtype in MOVED:
        box, row = filled([2, 3, 2], dtype), filled([2], dtype)
        case("IdentityN", [box, row])
        for op in ("Identity", "Snapshot", "StopGradient", "PreventGradient"):
            case(op, box)
        case("Reshape", box, i32([4, -1]))
        case("Transpose", box, i32([2, 0, 1]))
        case("Slice", box, i32([0, 1, 0]), i32([2, 2, 1]))
        case("StridedSlice", box, i32([0, 2, 0]), i32([2, 0, 2]), i32([1, -1, 1]))
        case("StridedSliceGrad", i32([3]), i32([0]), i32([3]), i32([2]), row)
        case("Tile", row, i32([3]))
        case("Concat", i32(0), [row, row])
        case("ConcatV2", [box, box], i32(1))
        case("Pack", [row, row], axis=1)
        case("Unpack", box, num=3, axis=1)
        case("Split", i32(1), box, num_split=3)
        case("SplitV", box, i64([1, 2]), i32(1), num_split=2)
        case("Gather", box, i32([[1, 0], [1, 1]]))
        case("Select", boolean([True, False]), box, box[::-1].copy())
        case("SelectV2", boolean([[True], [False], [True]]), box, row)
        case("Select", boolean(False), row, row[::-1].copy())
        case("Select", boolean([True, False]), row, row[::-1].copy())
        case("ExpandDims", row, i32(1))
        case("Squeeze", filled([1, 2, 1], dtype))
        case("BroadcastTo", filled([2, 1], dtype), i32([3, 2, 2]))
        case("Fill", i32([2]), row[1:].reshape([]))
        case("ZerosLike", row)
        case("OnesLike", row)
        case("Pad", box, i32([[0, 0], [1, 0], [0, 1]]))
        for op in ("Shape", "Size", "Rank"):
            case(op, box)


def shapes():
    box, empty, scalar = ramp([2, 3, 4]), zeros([0, 2]), f32(5)
    for shape in ([24], [-1], [2, -1, 2], [4, 3, 2, 1], [1, 24, 1]):
        case("Reshape", box, i32(shape))
        case("Reshape", box, i64(shape))
    for value, shape in ((empty, [0]), (empty, [3, 0]), (empty, [2, -1]), (scalar, []), (scalar, [1, 1]), (f32([5]), [])):
        case("Reshape", value, i32(shape))
    for value, shape in (([0, 6], [0, -1, 3]), ([0, 6], [0, -1, 4]), ([0, 6], [-1, 0]), ([2, 0, 3], [0, -1, 6]), ([0, 0], [0, -1, 0]),
                         ([2, 0], [-1, 3]), ([0], [0, -1])):
        case("Reshape", zeros(value), i32(shape))
    case("Reshape", zeros([6]), i32([0, -1]), fails=True)
    for shape in ([5, -1], [23], [-1, -1], [-2, 12], []):
        case("Reshape", box, i32(shape), fails=True)
    for out in (tf.int32, tf.int64):
        for value in (box, empty, scalar):
            case("Shape", value, out_type=out)
            case("Size", value, out_type=out)
        case("ShapeN", [box, empty, scalar], out_type=out)
    case("Rank", empty)
    case("Rank", scalar)
    for axis in (0, 1, 3, -1, -4):
        case("ExpandDims", box, i32(axis))
    for axis in (4, -5):
        case("ExpandDims", box, i32(axis), fails=True)
    case("Squeeze", zeros([1, 0, 1]))
    case("Squeeze", ramp([1, 2, 1, 3]), squeeze_dims=[0])
    case("Squeeze", ramp([1, 2, 1, 3]), squeeze_dims=[-2, 0])
    case("Squeeze", scalar)
    case("Squeeze", ramp([1, 2]), squeeze_dims=[1], fails=True)
    for first, second in (([2, 3], [3]), ([2, 1, 3], [4, 1]), ([], [2, 3]), ([1], [1]), ([5], [5]), ([0, 1], [3]), ([1, 1], [2, 1])):
        case("BroadcastGradientArgs", i32(first), i32(second))
        case("BroadcastGradientArgs", i64(first), i64(second))
    case("BroadcastGradientArgs", i32([2, 3]), i32([4]), fails=True)
    case("BroadcastTo", scalar, i32([2, 2]))
    case("BroadcastTo", zeros([0, 1]), i32([0, 3]))
    case("BroadcastTo", ramp([3]), i64([0, 3]))
    case("BroadcastTo", ramp([3]), i32([3, 2]), fails=True)
    case("Fill", i32([2, 0]), f32(7))
    case("Fill", i32([]), f32(7))
    case("Fill", i64([2, 3]), f32(7))
    case("Fill", i32([2, -1]), f32(7), fails=True)
    case("Fill", i32([2]), f32([7]), fails=True)
    for arguments in ((0, 5, 1), (5, 0, -2), (3, 3, 1), (-3, 4, 3), (0, 10, 4)):
        for dtype in (i32, i64, f32, f64):
            case("Range", *map(dtype, arguments))
    case("Range", f32(0), f32(1), f32(0.25))
    case("Range", f32(0), f32(0.9), f32(0.3), close=1e-6)
    case("Range", f64(1), f64(0), f64(-0.1), close=1e-14)
    for dtype in (numpy.float16, numpy.float32):  # how many there are follows from the rounded quotient
        for arguments in ((0, 1, 0.1), (0, 0.6, 0.2), (-3, 100, 0.7), (5, -5, -0.3)):
            case("Range", *[numpy.array(value, dtype=dtype) for value in arguments])
    case("Range", *[numpy.array(value, dtype=BFLOAT16) for value in (0, 1, 0.1)], close=CLOSE["bfloat16"])
    for arguments in ((0, 5, 0), (0, 5, -1), (5, 0, 1)):
        case("Range", *map(i32, arguments), fails=True)
    for start, stop, count in ((0, 1, 5), (1, 0, 3), (2, 7, 1), (-1, 1, 2), (5, 5, 3)):
        case("LinSpace", f32(start), f32(stop), i32(count), close=1e-6)
        case("LinSpace", f64(start), f64(stop), i64(count), close=1e-15)
    case("LinSpace", f32(0), f32(1), i32(0), fails=True)


def joining():
    a, b, none = ramp([2, 3]), ramp([2, 1], first=100), zeros([2, 0])
    for axis in (1, -1):
        case("ConcatV2", [a, b], i32(axis))
        case("ConcatV2", [a, none, b], i64(axis))
        case("Concat", i32(axis), [b, a])
    case("ConcatV2", [none, none], i32(0))
    case("ConcatV2", [a, b], i32(0), fails=True)
    case("ConcatV2", [a, b], i32(2), fails=True)
    case("ConcatV2", [f32(1), f32(2)], i32(0), fails=True)
    case("ConcatOffset", i32(1), [i32([2, 3]), i32([2, 0]), i32([2, 5])])
    case("ConcatOffset", i32(-1), [i32([2, 3]), i32([2, 4])])
    case("ConcatOffset", i32(0), [i32([2, 3]), i32([2, 4])], fails=True)
    case("ConcatOffset", i32(1), [i64([2, 3]), i64([2, 2**40]), i64([2, 5])])
    for axis in (0, 1, 2, -1, -3):
        case("Pack", [a, a + 10, a + 20], axis=axis)
    case("Pack", [f32(1), f32(2)])
    case("Pack", [zeros([0, 2]), zeros([0, 2])], axis=1)
    case("Pack", [a], axis=3, fails=True)
    case("Pack", [a, b], fails=True)
    case("Unpack", a, num=2)
    case("Unpack", a, num=3, axis=-1)
    case("Unpack", zeros([0, 2]), num=0)
    case("Unpack", zeros([2, 0]), num=2)
    case("Unpack", a, num=3, fails=True)
    case("Split", i32(1), a, num_split=3)
    case("Split", i32(-2), a, num_split=2)
    case("Split", i32(0), zeros([0, 2]), num_split=3)
    case("Split", i32(1), a, num_split=2, fails=True)
    case("SplitV", a, i64([2, 0, 1]), i32(1), num_split=3)
    case("SplitV", a, i32([1, -1]), i32(-1), num_split=2)
    case("SplitV", a, i32([1, 1]), i32(1), num_split=2, fails=True)
    case("SplitV", a, i32([-1, -1]), i32(1), num_split=2, fails=True)
    case("SplitV", a, i32([4, -1]), i32(1), num_split=2, fails=True)
    for count in (1, 2, 3):
        case("AddN", [a] * count)
    for dtype in FLOATS + INTEGERS + COMPLEX:
        case("AddN", [ramp([3], dtype), ramp([3], dtype, 100)])
        case("AccumulateNV2", [ramp([3], dtype), ramp([3], dtype, 100)], shape=tf.TensorShape([3]))
    case("AddN", [zeros([0]), zeros([0])])
    case("AddN", [a, b], fails=True)
    case("AddN", [f32([INF, NAN, 1]), f32([-INF, 1, 2])])


def cutting():
    box, row = ramp([2, 3, 4]), ramp([7])
    for begin, size in (([0, 0, 0], [2, 3, 4]), ([1, 1, 2], [1, -1, 2]), ([2, 0, 0], [0, 1, 1]), ([0, 3, 0], [-1, -1, -1])):
        case("Slice", box, i32(begin), i32(size))
        case("Slice", box, i64(begin), i64(size))
    case("Slice", f32(1), i32([]), i32([]))
    for begin, size in (([0, 0, 3], [1, 1, 2]), ([-1, 0, 0], [1, 1, 1]), ([0, 0, 0], [-2, 1, 1]), ([3, 0, 0], [-1, 1, 1]), ([0], [1])):
        case("Slice", box, i32(begin), i32(size), fails=True)
    for begin, end, stride in itertools.product((0, 2, -3, 6, 9, -9), (0, 3, 7, -1, 9, -9), (1, 2, -1, -3)):
        case("StridedSlice", row, i32([begin]), i32([end]), i32([stride]))
    for bits in range(4):
        case("StridedSlice", row, i32([5]), i32([2]), i32([-1]), begin_mask=bits & 1, end_mask=bits >> 1)
        case("StridedSlice", row, i32([2]), i32([5]), i32([2]), begin_mask=bits & 1, end_mask=bits >> 1)
    masks = [dict(shrink_axis_mask=1), dict(shrink_axis_mask=3), dict(new_axis_mask=1), dict(ellipsis_mask=1), dict(ellipsis_mask=2),
             dict(new_axis_mask=3), dict(ellipsis_mask=1, shrink_axis_mask=2), dict(ellipsis_mask=2, new_axis_mask=1),
             dict(new_axis_mask=1, shrink_axis_mask=1), dict(new_axis_mask=2, ellipsis_mask=1, begin_mask=3, end_mask=3)]
    for mask in masks:
        case("StridedSlice", box, i32([1, 1]), i32([2, 2]), i32([1, 1]), **mask)
        shape = tensorflow_outputs("StridedSlice", [box, i32([1, 1]), i32([2, 2]), i32([1, 1])], mask)[0].shape
        case("StridedSliceGrad", i32([2, 3, 4]), i32([1, 1]), i32([2, 2]), i32([1, 1]), ramp(shape), **mask)
    case("StridedSlice", box, i32([-1, -2, -1]), i32([0, 0, 0]), i32([1, 1, 1]), shrink_axis_mask=5, end_mask=2)
    case("StridedSlice", box, i64([1, 2]), i64([0, 0]), i64([-1, -2]), end_mask=2)
    case("StridedSlice", f32(4), i32([]), i32([]), i32([]))
    case("StridedSlice", f32(4), i32([0]), i32([0]), i32([1]), new_axis_mask=1)
    case("StridedSlice", f32(4), i32([0]), i32([0]), i32([1]), ellipsis_mask=1)
    for begin, end, stride, mask in (([0], [1], [0], {}), ([7], [8], [1], dict(shrink_axis_mask=1)),
                                     ([-8], [8], [1], dict(shrink_axis_mask=1)), ([0, 0], [1, 1], [1, 1], {}),
                                     ([0], [1], [-1], dict(shrink_axis_mask=1)), ([0, 0], [1, 1], [1, 1], dict(ellipsis_mask=3))):
        case("StridedSlice", row, i32(begin), i32(end), i32(stride), fails=True, **mask)
    case("StridedSliceGrad", i32([7]), i32([6]), i32([0]), i32([-2]), f32([1, 2, 3]))
    case("StridedSliceGrad", i64([7]), i64([1]), i64([3]), i64([1]), f32([1, 2]))
    case("StridedSliceGrad", i32([7]), i32([1]), i32([3]), i32([1]), f32([1, 2, 3]), fails=True)
    case("Pad", row, i32([[2, 1]]))
    case("Pad", box, i64([[0, 1], [2, 0], [0, 0]]))
    case("Pad", f32(3), numpy.zeros([0, 2], numpy.int32))
    case("Pad", zeros([0, 2]), i32([[1, 1], [0, 0]]))
    case("Pad", row, i32([[-1, 1]]), fails=True)
    case("Pad", row, i32([[1, 1], [0, 0]]), fails=True)
    for multiples in ([1, 1, 1], [2, 1, 3], [1, 0, 2]):
        case("Tile", box, i32(multiples))
    case("Tile", f32(3), i32([]))
    case("Tile", zeros([0, 2]), i64([2, 2]))
    case("Tile", box, i32([1, 2]), fails=True)
    case("Tile", box, i32([1, 2, -1]), fails=True)
    for permutation in itertools.permutations(range(3)):
        case("Transpose", box, i32(permutation))
    case("Transpose", zeros([0, 2, 3]), i64([2, 0, 1]))
    case("Transpose", f32(3), i32([]))
    case("Transpose", ramp([1, 2, 1, 3, 2]), i32([4, 0, 3, 2, 1]))
    for permutation in ([0, 1], [0, 0, 1], [0, 1, 3]):
        case("Transpose", box, i32(permutation), fails=True)
    case("InvertPermutation", i32([3, 0, 2, 1]))
    case("InvertPermutation", i64([]))
    for wrong in ([0, 0], [0, 2], [-1, 0]):
        case("InvertPermutation", i32(wrong), fails=True)


def choosing():
    rows = ramp([4, 3])
    for indices in (i32([]), i32(2), i32([3, 0, 3]), i64([[1, 2], [0, 0]])):
        case("Gather", rows, indices)
    case("Gather", zeros([3, 0]), i32([1, 1]))
    case("Gather", zeros([0, 3]), i32([]))
    for wrong in (4, -1):
        case("Gather", rows, i32([0, wrong]), fails=True)
    case("Gather", zeros([0, 3]), i32([0]), fails=True)
    case("Gather", f32(1), i32([0]), fails=True)
    box = ramp([2, 3, 4])
    for axis, indices in itertools.product((0, 1, 2, -1, -3), ([1, 0], 1, [[1, 1], [0, 1]], [])):
        case("GatherV2", box, i32(indices), i32(axis))
    for dtype in MOVED:
        case("GatherV2", filled([2, 3, 2], dtype), i64([2, 0]), i64(1))
    for axis, count, indices in ((1, 1, [[2, 0], [1, 1]]), (2, 1, [[3, 0], [1, 1]]), (2, 2, [[0, 1, 3], [2, 2, 1]]), (1, -1, [[2, 0], [1, 1]]),
                                 (2, 1, [1, 2]), (1, 0, [[2, 0], [1, 1]])):
        case("GatherV2", box, i32(indices), i32(axis), batch_dims=count)
    case("GatherV2", zeros([2, 0]), i32([]), i32(1))
    case("GatherV2", zeros([0, 3]), i32([2, 2]), i32(1))
    for wrong in ([0, 3], [-1, 0]):
        case("GatherV2", box, i32(wrong), i32(1), fails=True)
    case("GatherV2", box, i32([0]), i32(3), fails=True)
    case("GatherV2", box, i32([[0], [0]]), i32(0), batch_dims=1, fails=True)
    case("GatherV2", box, i32([[0], [0], [0]]), i32(1), batch_dims=1, fails=True)
    case("GatherV2", box, i32([0]), i32(2), batch_dims=2, fails=True)
    for dtype in FLOATS + INTEGERS + COMPLEX:
        case("UnsortedSegmentSum", ramp([4, 2], dtype), i32([1, 0, 1, 3]), i32(4))
    case("UnsortedSegmentSum", rows, i64([[0, 1, 1], [2, 2, 2], [0, 0, 0], [1, 1, 2]]), i32(3))
    case("UnsortedSegmentSum", zeros([0, 3]), i32([]), i32(2))
    case("UnsortedSegmentSum", rows, i32([0, 0, 0, 0]), i32(1))
    case("UnsortedSegmentSum", rows, i32([0, 1, 2, 3]), i32(3), fails=True)
    case("UnsortedSegmentSum", rows, i32([0, -1, 2, 1]), i32(3))
    case("UnsortedSegmentSum", rows, i64([-5, 0, 0, -1]), i64(2))
    case("UnsortedSegmentSum", ramp([2, 2]), i32([[0, -1], [1, 0]]), i64(2))
    case("UnsortedSegmentSum", rows, i32([0, 0, 0, 0]), i32(-1), fails=True)
    for dtype in MOVED:
        dealt = filled([4, 2], dtype)
        case("DynamicPartition", dealt, i32([2, 0, 2, 0]), num_partitions=3)
        for op in ("DynamicStitch", "ParallelDynamicStitch"):
            case(op, [i32([3, 0]), i32(1), i32([2])], [dealt[:2].copy(), dealt[2], dealt[3:].copy()])
    case("DynamicPartition", ramp([2, 3]), i32([[0, 1, 0], [1, 1, 0]]), num_partitions=2)
    case("DynamicPartition", zeros([0, 3]), i32([]), num_partitions=2)
    for wrong in (2, -1):
        case("DynamicPartition", rows, i32([0, 1, wrong, 0]), num_partitions=2, fails=True)
    case("DynamicPartition", rows, i32([0, 1]), num_partitions=2, fails=True)
    case("DynamicStitch", [i32([0, 1, 1])], [f32([1, 2, 3])])
    case("DynamicStitch", [i32([[3, 1], [0, 2]]), i32([])], [ramp([2, 2, 2]), zeros([0, 2])])
    case("DynamicStitch", [i32([])], [zeros([0, 2])])
    case("DynamicStitch", [i32([0, -1])], [f32([1, 2])], fails=True)
    case("DynamicStitch", [i32([0, 1])], [f32([1, 2, 3])], fails=True)
    case("DynamicStitch", [i32([0]), i32([1])], [ramp([1, 2]), ramp([1, 3])], fails=True)
    case("Select", boolean([[True, False], [False, True]]), ramp([2, 2]), ramp([2, 2], first=10))
    case("Select", boolean(True), f32(1), f32(2))
    case("Select", zeros([0], numpy.bool_), zeros([0, 2]), zeros([0, 2]))
    case("Select", boolean([True]), ramp([2, 2]), ramp([2, 2]), fails=True)
    case("Select", boolean([True, False]), ramp([2, 2]), ramp([2, 3]), fails=True)
    for dtype in [numpy.float32, numpy.float64, *INTEGERS]:
        case("Unique", numpy.array([3, 1, 3, 2, 1, 1, 9], dtype=dtype))
    case("Unique", text(["b", "", "b"]), out_idx=tf.int64)
    case("Unique", i64([]))
    case("Unique", i32([[1, 2]]), fails=True)
    case("Unique", f32([NAN, -0.0, 0, NAN, 1]))
    for shapes in (([2], [2, 2], []), ([2, 1], [1, 3], [2, 3]), ([], [3], [3]), ([3], [3], [3]), ([1, 1, 2], [], [0, 2])):
        condition, t, e = (ramp(shape, first=10 * i) for i, shape in enumerate(shapes))
        case("SelectV2", condition % 2 == 0, t, e)
    case("SelectV2", boolean([True, False]), text(["a"]), text([["b"], ["c"]]))
    case("SelectV2", boolean([True, False]), ramp([3]), ramp([3]), fails=True)
    for dtype in FLOATS:
        case("Print", mixed([4], dtype), [i32(1)], first_n=0)
        case("CheckNumerics", mixed([4], dtype), message="m")
        for wrong in (NAN, INF, -INF):
            case("CheckNumerics", numpy.array([1, wrong], dtype=dtype), message="m", fails=True)


def casts():
    numbers = FLOATS + INTEGERS + COMPLEX + [numpy.bool_]
    for source_type, target in itertools.product(numbers, numbers):
        if source_type is numpy.bool_:
            values = boolean([True, False])
        elif source_type in INTEGERS:
            limits = numpy.iinfo(source_type)
            values = numpy.array([0, 1, 100, limits.max, limits.min], dtype=source_type)
        elif target in INTEGERS:  # beyond the range of the target C++ leaves open what happens
            values = numpy.array([0, 0.5, 1.5, 2.75, 100] + ([-0.5, -1.5, -2.75] if numpy.iinfo(target).min < 0 else []),
                                 dtype=source_type)
        else:
            values = numpy.array([0, -1.5, 2.75, 1e4, 3.14159265358979] + ([] if source_type in COMPLEX else [INF, -INF, NAN]),
                                 dtype=source_type)
        case("Cast", values, DstT=tf.as_dtype(target))
    # Of several elements TensorFlow's answer depends on which of its instructions took one.
    for source_type, target in itertools.product((numpy.float32, numpy.float64, numpy.float16), INTEGERS):
        for beyond in (NAN, INF, -INF, 1e20, -1e20, 1.5e19, 3e9, -3e9, 300.7, -300.7, 70000, -1.5):
            case("Cast", numpy.array([beyond], dtype=source_type), DstT=tf.as_dtype(target))
    values = numpy.array([1 + 2**-8, 1 + 3 * 2**-8, -1 - 2**-8, 1 + 2**-8 + 2**-20, 3.3e38, 3.4e38, 1e-40], dtype=numpy.float32)
    for truncate in (False, True):
        case("Cast", values, DstT=tf.bfloat16, Truncate=truncate)
    for source_type, target in ((numpy.float32, numpy.float16), (numpy.float64, numpy.float32), (numpy.float64, numpy.float16),
                                (numpy.complex128, numpy.complex64), (numpy.float32, numpy.float64), (numpy.float64, numpy.int32)):
        values = numpy.array([1 + 2**-11 + 2**-30, -1 - 2**-11, 65519, 3.14159265358979, 1e-7, 0], dtype=source_type)
        case("Cast", values, DstT=tf.as_dtype(target), Truncate=True)
        case("Cast", numpy.array([INF, -INF, NAN] if target != numpy.int32 else [2.75], dtype=source_type), DstT=tf.as_dtype(target), Truncate=True)
    case("Cast", zeros([0, 2]), DstT=tf.int32)
    case("Cast", numpy.array([0, 1j, 2, 3 - 1j], numpy.complex64), DstT=tf.bool)


SCATTERS = ("Update", "Add", "Sub", "Mul", "Div", "Min", "Max")


def variables():
    for dtype in FLOATS + INTEGERS + COMPLEX:
        tolerance = CLOSE["bfloat16"] if dtype == BFLOAT16 else 0
        case("AssignAdd", ramp([3], dtype), ramp([3], dtype, 10), close=tolerance)
        case("AssignSub", ramp([3], dtype, 10), ramp([3], dtype), close=tolerance)
        case("AssignAddVariableOp", ramp([3], dtype), ramp([3], dtype, 10), close=tolerance)
        case("AssignSubVariableOp", ramp([3], dtype, 10), ramp([3], dtype), close=tolerance)
        for prefix, verb in itertools.product(("", "Resource"), SCATTERS):
            case(f"{prefix}Scatter{verb}", ramp([3, 2], dtype, 20), i32([2, 0, 2]), ramp([3, 2], dtype), close=tolerance)
    case("Assign", ramp([3]), ramp([3], first=10))
    case("AssignVariableOp", ramp([3]), ramp([3], first=10))
    case("AssignVariableOp", ramp([3]), ramp([3], first=10), validate_shape=True)
    case("Assign", ramp([3]), ramp([2, 2], first=10), validate_shape=False)
    case("AssignAdd", ramp([3]), ramp([2]), fails=True)
    for op in [f"{prefix}Scatter{verb}" for prefix in ("", "Resource") for verb in SCATTERS]:
        case(op, ramp([3, 2]), i64(1), ramp([2]))
        case(op, ramp([3]), i32([[0, 1], [2, 0]]), ramp([2, 2]))
        case(op, ramp([3]), i32([]), zeros([0]))
        case(op, ramp([3, 2]), i32([2, 0, 2]), f32(4))
        case(op, ramp([3]), i32([[0, 2]]), f32(4))
        case(op, ramp([3]), i32([3]), f32(4), fails=True)
        for wrong in (3, -1):
            case(op, ramp([3]), i32([0, wrong]), ramp([2]), fails=True)
        case(op, ramp([3, 2]), i32([0]), ramp([2, 2]), fails=True)
    case("ScatterUpdate", text(["a", "b"]), i32([1]), text(["c"]))
    case("ScatterDiv", i32([3, 2]), i32([]), i32(0))


FAMILIES = (elementwise_unary, elementwise_binary, reductions, losses, moving, shapes, joining, cutting, choosing, casts, variables)
