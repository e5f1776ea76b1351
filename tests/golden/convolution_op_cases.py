"""More calls of single ops: convolutions and their gradients; op_cases.py says what a case is. TensorFlow has them on CPUs with the
channels last only."""
import itertools

import numpy

from op_cases import CLOSE, case
from reference import FLOATS, i32, i64, mixed, name_of, zeros

FLAT = ("Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter")
CUBE = ("Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2")
DEPTHWISE = ("DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2dNativeBackpropFilter")


def passes(ops, images, filters, outputs, dtype=numpy.float32, **attrs):
    """The three passes over images, a filter and outputs of these shapes."""
    near = 64 * CLOSE.get(name_of(dtype), 1e-7)
    x, w, y = mixed(images, dtype, -1, 1, 41), mixed(filters, dtype, -1, 1, 42), mixed(outputs, dtype, -1, 1, 43)
    case(ops[0], x, w, close=near, near=near, **attrs)
    case(ops[1], i32(images), w, y, close=near, near=near, **attrs)
    case(ops[2], x, i32(filters), y, close=near, near=near, **attrs)


def flat():
    unit = dict(strides=[1, 1, 1, 1])
    for dtype in FLOATS:
        passes(FLAT, [2, 5, 4, 3], [3, 2, 3, 4], [2, 5, 4, 4], dtype, padding="SAME", **unit)
    passes(FLAT, [1, 6, 5, 2], [3, 3, 2, 2], [1, 2, 3, 2], padding="VALID", strides=[1, 2, 1, 1])
    passes(FLAT, [2, 7, 6, 2], [3, 2, 2, 3], [2, 4, 3, 3], padding="SAME", strides=[1, 2, 2, 1])
    case("Conv2D", mixed([1, 7, 6, 2], seed=48), mixed([3, 2, 2, 3], seed=49), padding="VALID", dilations=[1, 2, 2, 1], close=1e-5,
         near=1e-5, **unit)
    passes(FLAT, [1, 3, 4, 1], [2, 3, 1, 2], [1, 3, 2, 2], padding="EXPLICIT", explicit_paddings=[0, 0, 1, 2, 0, 1, 0, 0],
           strides=[1, 2, 2, 1])
    passes(FLAT, [2, 9, 8, 32], [3, 3, 32, 32], [2, 9, 8, 32], padding="SAME", **unit)
    passes(FLAT, [2, 4, 4, 6], [1, 1, 6, 5], [2, 4, 4, 5], padding="VALID", **unit)
    passes(FLAT, [0, 4, 4, 2], [3, 3, 2, 3], [0, 4, 4, 3], padding="SAME", **unit)
    case("Conv2D", mixed([1, 4, 4, 4], seed=44), mixed([3, 3, 2, 6], seed=45), padding="SAME", close=1e-5, near=1e-5, **unit)
    same = dict(padding="SAME", **unit)
    x, w = zeros([1, 4, 4, 2]), zeros([3, 3, 2, 2])
    case("Conv2D", x, zeros([3, 3, 3, 2]), fails=True, **same)
    case("Conv2D", x, w, fails=True, padding="SAME", strides=[1, 0, 1, 1])
    case("Conv2D", x, w, fails=True, padding="SAME", strides=[2, 1, 1, 1])
    case("Conv2D", x, zeros([7, 7, 2, 2]), fails=True, padding="VALID", **unit)
    case("Conv2DBackpropInput", i32([2, 4, 4, 2]), w, x, fails=True, **same)
    case("Conv2DBackpropFilter", x, i32([3, 3, 2, 5]), x, fails=True, **same)


def padded():
    x, w = mixed([1, 5, 4, 3], seed=50), mixed([3, 2, 3, 4], seed=51)  # of several images, TensorFlow 2.21 computes only the first rightly
    for mode, padding in itertools.product(("REFLECT", "SYMMETRIC"), ("SAME", "VALID")):
        attrs = dict(mode=mode, padding=padding, strides=[1, 2, 1, 1], close=1e-5, near=1e-5)
        case("FusedPadConv2D", x, i32([[0, 0], [1, 2], [3, 0], [0, 0]]), w, **attrs)
        case("FusedPadConv2D", x, i32([[0, 0]] * 4), w, **attrs)
    attrs = dict(mode="REFLECT", padding="SAME", strides=[1, 1, 1, 1])
    case("FusedPadConv2D", x, i32([[0, 0], [5, 0], [0, 0], [0, 0]]), w, fails=True, **attrs)
    case("FusedPadConv2D", x, i32([[0, 0], [-1, 0], [0, 0], [0, 0]]), w, fails=True, **attrs)
    case("FusedPadConv2D", x, i32([[0, 0]] * 4), w[:, :, :2], fails=True, **attrs)


def cube():
    unit = dict(strides=[1, 1, 1, 1, 1])
    for dtype in FLOATS:
        passes(CUBE, [1, 3, 4, 3, 2], [2, 3, 2, 2, 3], [1, 3, 4, 3, 3], dtype, padding="SAME", **unit)
    passes(CUBE, [2, 4, 3, 5, 1], [2, 2, 1, 1, 2], [2, 2, 2, 3, 2], padding="VALID", strides=[1, 2, 1, 2, 1])
    case("Conv3DBackpropInputV2", i64([1, 2, 2, 2, 1]), mixed([1, 1, 1, 1, 2], seed=46), mixed([1, 2, 2, 2, 2], seed=47), padding="SAME",
         close=1e-6, near=1e-6, **unit)
    for op in ("Conv3DBackpropInput", "Conv3DBackpropFilter"):
        for dtype in (numpy.float32, numpy.float64, numpy.float16):
            x, w, y = (mixed(shape, dtype, -1, 1, seed) for shape, seed in (([1, 3, 4, 3, 2], 41), ([2, 3, 2, 2, 3], 42), ([1, 3, 4, 3, 3], 43)))
            close = 64 * CLOSE[name_of(dtype)]
            case(op, x, w, y, close=close, near=close, padding="SAME", **unit)
        case(op, mixed([2, 4, 3, 5, 1], seed=41), mixed([2, 2, 1, 1, 2], seed=42), mixed([2, 2, 2, 3, 2], seed=43), padding="VALID",
             strides=[1, 2, 1, 2, 1], close=1e-5, near=1e-5)
        case(op, zeros([1, 3, 3, 3, 2]), zeros([2, 2, 2, 2, 3]), zeros([1, 3, 3, 3, 2]), fails=True, padding="SAME", **unit)
    case("Conv3D", zeros([1, 3, 3, 3, 2]), zeros([2, 2, 2, 3, 2]), fails=True, padding="SAME", **unit)
    case("Conv3DBackpropFilterV2", zeros([1, 3, 3, 3, 2]), i32([2, 2, 2, 2, 7]), zeros([1, 3, 3, 3, 2]), fails=True, padding="SAME", **unit)


def depthwise():
    unit = dict(strides=[1, 1, 1, 1])
    for dtype in FLOATS:
        passes(DEPTHWISE, [2, 5, 4, 3], [3, 2, 3, 2], [2, 5, 4, 6], dtype, padding="SAME", **unit)
    passes(DEPTHWISE, [1, 5, 6, 2], [3, 3, 2, 1], [1, 2, 2, 2], padding="VALID", strides=[1, 2, 2, 1])
    passes(DEPTHWISE, [1, 6, 6, 17], [3, 3, 17, 1], [1, 6, 6, 17], padding="SAME", **unit)
    case("DepthwiseConv2dNative", zeros([1, 4, 4, 2]), zeros([3, 3, 3, 2]), fails=True, padding="SAME", **unit)
    case("DepthwiseConv2dNativeBackpropFilter", zeros([1, 4, 4, 2]), i32([3, 3, 2, 1]), zeros([1, 4, 4, 3]), fails=True, padding="SAME",
         **unit)


FAMILIES = (flat, padded, cube, depthwise)
