"""More calls of single ops: normalisation over channels, dilation, softsign, and rounding to the steps of a range; op_cases.py says
what a case is."""
import itertools

import numpy

from layout_op_cases import REALS
from op_cases import CLOSE, SPECIAL, case
from reference import FLOATS, f32, mixed, name_of, ramp, tensorflow_outputs, zeros


def softsign():
    for dtype in FLOATS:
        tolerance = CLOSE[name_of(dtype)]
        special = numpy.array([x for x in SPECIAL if abs(x) < 1e29], dtype=dtype)
        case("Softsign", special, close=tolerance)
        case("Softsign", mixed([2, 9], dtype), close=tolerance)
        case("SoftsignGrad", mixed([2, 9], dtype), mixed([2, 9], dtype, seed=2), close=2 * tolerance)
    case("Softsign", zeros([0, 3]))
    case("SoftsignGrad", zeros([0, 3]), zeros([0, 3]))
    case("SoftsignGrad", zeros([2]), zeros([3]), fails=True)


def local_responses():
    settings = [dict(), dict(depth_radius=1, bias=2.0, alpha=0.5, beta=0.75), dict(depth_radius=2, bias=1.0, alpha=0.25, beta=1.0),
                dict(depth_radius=0, alpha=0.1, beta=0.6), dict(depth_radius=90, bias=1.5, alpha=0.125, beta=0.5)]
    for dtype, attrs in itertools.product([numpy.float32, numpy.float16], settings):
        # TensorFlow computes half in half.
        tolerance = {"close": 1e-5, "near": 1e-6} if dtype == numpy.float32 else {"close": 10 * CLOSE[name_of(dtype)], "near": 0.02}
        for shape in ([1, 2, 2, 7], [2, 1, 1, 33]):
            x, dy = mixed(shape, dtype), mixed(shape, dtype, seed=2)
            y = tensorflow_outputs("LRN", (x,), attrs)[0]
            case("LRN", x, **attrs, **tolerance)
            case("LRNGrad", dy, x, y, **attrs, **tolerance)
    case("LRN", zeros([0, 2, 2, 3]))
    case("LRN", zeros([2, 2, 3]), fails=True)
    case("LRNGrad", zeros([1, 2, 2, 3]), zeros([1, 2, 2, 3]), zeros([1, 2, 2, 4]), fails=True)


def dilation():
    images = [  # input, filter, strides, rates, padding
        ([2, 5, 4, 3], [2, 3, 3], 1, 1, "VALID"), ([1, 5, 6, 2], [2, 2, 2], 2, 2, "SAME"), ([1, 4, 4, 1], [3, 2, 1], 1, 2, "SAME"),
        ([0, 3, 3, 2], [2, 2, 2], 1, 1, "SAME")]
    for dtype, (shape, filter_shape, stride, rate, padding) in itertools.product(REALS, images):
        tolerance = CLOSE[name_of(dtype)] if dtype in FLOATS else 0
        x, f = mixed(shape, dtype, -9, 9), mixed(filter_shape, dtype, -3, 3, 2)
        if dtype not in FLOATS:
            x, f = ramp(shape, dtype), ramp(filter_shape, dtype)
        attrs = dict(strides=[1, stride, stride, 1], rates=[1, rate, rate, 1], padding=padding)
        case("Dilation2D", x, f, **attrs, close=tolerance)
        if 0 in shape:
            continue
        y = tensorflow_outputs("Dilation2D", (x, f), attrs)[0]
        dy = mixed(y.shape, dtype, seed=3) if dtype in FLOATS else (ramp(y.shape, numpy.int64) % 5).astype(dtype)
        for op in ("Dilation2DBackpropInput", "Dilation2DBackpropFilter"):
            case(op, x, f, dy, **attrs, close=16 * tolerance, near=4 * tolerance)
    attrs = dict(strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="VALID")
    for shape, filter_shape in (([4, 4, 1], [2, 2, 1]), ([1, 4, 4, 1], [2, 2]), ([1, 4, 4, 1], [2, 2, 2])):
        case("Dilation2D", zeros(shape), zeros(filter_shape), **attrs, fails=True)
    case("Dilation2D", zeros([1, 4, 4, 1]), zeros([2, 2, 1]), **{**attrs, "strides": [2, 1, 1, 1]}, fails=True)
    case("Dilation2DBackpropInput", zeros([1, 4, 4, 1]), zeros([2, 2, 1]), zeros([1, 4, 3, 1]), **attrs, fails=True)


def rounding_to_steps():
    rounded = {"close": 1e-6, "near": 2e-6}
    x = mixed([3, 4], low=-9, high=9)
    dy = mixed([3, 4], seed=2)
    for bits, narrow in ((8, False), (2, True), (16, False), (4, True)):
        attrs = dict(num_bits=bits, narrow_range=narrow)
        for low, high in ((-6.0, 6.0), (-0.7, 5.1), (0.0, 3.0), (1.0, 5.0), (-5.0, -1.0)):
            limits = dict(min=low, max=high)
            case("FakeQuantWithMinMaxArgs", x, **limits, **attrs, **rounded)
            case("FakeQuantWithMinMaxArgsGradient", dy, x, **limits, **attrs, near=1e-9)  # of two zeros either
            case("FakeQuantWithMinMaxVars", x, f32(low), f32(high), **attrs, **rounded)
            case("FakeQuantWithMinMaxVarsGradient", dy, x, f32(low), f32(high), **attrs, close=1e-6, near=1e-6)
        low, high = f32([-6, -0.7, 0, 0]), f32([6, 5.1, 3, 0])
        case("FakeQuantWithMinMaxVarsPerChannel", x, low, high, **attrs, **rounded)
        case("FakeQuantWithMinMaxVarsPerChannelGradient", dy, x, low, high, **attrs, close=1e-6, near=1e-6)
    case("FakeQuantWithMinMaxVars", x, f32(0), f32(0))
    case("FakeQuantWithMinMaxVarsGradient", dy, x, f32(0), f32(0), near=1e-9)
    case("FakeQuantWithMinMaxArgs", f32(1), **rounded)
    case("FakeQuantWithMinMaxArgs", zeros([0, 3]))
    for bits in (1, 17):
        case("FakeQuantWithMinMaxArgs", x, num_bits=bits, fails=True)
        case("FakeQuantWithMinMaxVars", x, f32(-1), f32(1), num_bits=bits, fails=True)
    case("FakeQuantWithMinMaxArgs", x, min=1.0, max=1.0, fails=True)
    case("FakeQuantWithMinMaxVars", x, f32([-1]), f32([1]), fails=True)
    case("FakeQuantWithMinMaxVarsPerChannel", x, f32([-1]), f32([1]), fails=True)


FAMILIES = (softsign, local_responses, dilation, rounding_to_steps)
