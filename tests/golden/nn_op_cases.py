"""More calls of single ops: pooling and normalisation; op_cases.py says what a case is."""
import itertools

import numpy

from op_cases import CLOSE, case
from reference import BFLOAT16, FLOATS, INF, INTEGERS, NAN, f32, i32, i64, mixed, name_of, ramp, tensorflow_outputs, tf, zeros

IMAGES = [  # shape, ksize, strides, padding
    ([2, 5, 4, 3], [1, 3, 2, 1], [1, 2, 1, 1], "SAME"), ([1, 4, 5, 2], [1, 2, 3, 1], [1, 2, 2, 1], "VALID"),
    ([1, 3, 3, 1], [1, 5, 1, 1], [1, 1, 3, 1], "SAME"), ([0, 3, 3, 2], [1, 2, 2, 1], [1, 1, 1, 1], "VALID")]
VOLUMES = [([1, 3, 4, 3, 2], [1, 2, 3, 2, 1], [1, 1, 2, 2, 1], "SAME"), ([2, 2, 3, 3, 1], [1, 2, 2, 2, 1], [1, 2, 1, 1, 1], "VALID")]
WRONG = [([1, 2, 2, 1], [1, 0, 1, 1]), ([1, 0, 2, 1], [1, 1, 1, 1]), ([1, 2, 2], [1, 1, 1, 1])]


def shuffled(shape, dtype=numpy.float32, seed=90):
    """All different where the type has so many values."""
    count = int(numpy.prod(shape))
    return (numpy.random.RandomState(seed).permutation(count) % 120 + 1).astype(dtype).reshape(shape)


def tolerance(dtype, factor=8):
    return factor * CLOSE[name_of(dtype)] if name_of(dtype) in CLOSE else 0


def pooled(op, x, **attrs):
    return tensorflow_outputs(op, (x,), attrs)[0]


def max_pooling():
    types = FLOATS + [numpy.int32, numpy.int64, numpy.uint8, numpy.int16, numpy.int8, numpy.uint16]
    for dtype, (shape, ksize, strides, padding) in itertools.product(types, IMAGES):
        case("MaxPool", shuffled(shape, dtype), ksize=ksize, strides=strides, padding=padding)
    for shape, ksize, strides, padding in IMAGES:
        x = shuffled(shape)
        y = pooled("MaxPool", x, ksize=ksize, strides=strides, padding=padding)
        case("MaxPoolV2", x, i32(ksize), i32(strides), padding=padding)
        dy, ddx = mixed(y.shape, seed=91), mixed(shape, seed=92)
        case("MaxPoolGrad", x, y, dy, ksize=ksize, strides=strides, padding=padding, close=1e-6)
        case("MaxPoolGradV2", x, y, dy, i32(ksize), i32(strides), padding=padding, close=1e-6)
        case("MaxPoolGradGrad", x, y, ddx, ksize=ksize, strides=strides, padding=padding)
        case("MaxPoolGradGradV2", x, y, ddx, i32(ksize), i32(strides), padding=padding)
    pads = [0, 0, 1, 2, 0, 1, 0, 0]
    case("MaxPool", shuffled([1, 4, 3, 2]), ksize=[1, 3, 2, 1], strides=[1, 2, 1, 1], padding="EXPLICIT", explicit_paddings=pads)
    case("MaxPool", shuffled([2, 2, 3, 6]), ksize=[1, 1, 1, 3], strides=[1, 1, 1, 3], padding="VALID")
    case("MaxPool", f32([1, NAN, 2, 0, NAN, 5]).reshape([1, 1, 6, 1]), ksize=[1, 1, 3, 1], strides=[1, 1, 3, 1], padding="VALID")
    least = numpy.full([1, 1, 2, 1], -INF, numpy.float32)
    case("MaxPool", least, ksize=[1, 1, 2, 1], strides=[1, 1, 2, 1], padding="VALID", ours=[least[:, :, :1]],
         why="the greatest of infinities is one, not the least finite number")
    ties = f32([[1, 2, 2], [2, 1, 2], [0, 2, 1]]).reshape([1, 3, 3, 1])
    case("MaxPoolGrad", ties, numpy.full([1, 2, 2, 1], 2, numpy.float32), ramp([1, 2, 2, 1]), ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1],
         padding="VALID")
    for ksize, strides in WRONG:
        case("MaxPool", ramp([1, 4, 4, 1]), ksize=ksize, strides=strides, padding="VALID", fails=True)
        case("MaxPoolV2", ramp([1, 4, 4, 1]), i32(ksize), i32(strides), padding="VALID", fails=True)
    case("MaxPool", ramp([4, 4, 1]), ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="VALID", fails=True)
    for dtype in FLOATS + INTEGERS:
        x = shuffled([1, 4, 4, 2], dtype)
        attrs = {"ksize": [1, 3, 3, 1], "strides": [1, 1, 1, 1], "padding": "VALID"}
        y = pooled("MaxPool", x.astype(numpy.float64), **attrs).astype(dtype)
        case("MaxPoolGrad", x, y, shuffled([1, 2, 2, 2], dtype), close=tolerance(dtype), **attrs)
        if dtype in (numpy.float32, numpy.float64, numpy.int32):
            case("MaxPoolGradGrad", x, y, shuffled([1, 4, 4, 2], dtype, 93), **attrs)


def max_pooling_of_volumes():
    for dtype, (shape, ksize, strides, padding) in itertools.product([numpy.float32, numpy.float16, BFLOAT16], VOLUMES):
        attrs = {"ksize": ksize, "strides": strides, "padding": padding}
        x = shuffled(shape, dtype)
        case("MaxPool3D", x, **attrs)
        if dtype == numpy.float32:
            y = pooled("MaxPool3D", x, **attrs)
            case("MaxPool3DGrad", x, y, mixed(y.shape, dtype, seed=94), close=1e-6, **attrs)
            case("MaxPool3DGradGrad", x, y, mixed(shape, dtype, seed=95), **attrs)
    case("MaxPool3D", ramp([1, 2, 2, 2, 1]), ksize=[1, 2, 2, 2, 1], strides=[1, 1, 0, 1, 1], padding="SAME", fails=True)


def greatest_and_where():
    for shape, ksize, strides, padding in IMAGES[:3]:
        for whole, out in itertools.product((False, True), (tf.int32, tf.int64)):
            attrs = {"ksize": ksize, "strides": strides, "padding": padding, "include_batch_in_index": whole}
            for dtype in (numpy.float32, numpy.uint8, BFLOAT16):
                if dtype != numpy.float32 or out == tf.int64:  # TensorFlow's gradient takes no others
                    case("MaxPoolWithArgmax", shuffled(shape, dtype), Targmax=out, **attrs)
            x = shuffled(shape)
            y, at = tensorflow_outputs("MaxPoolWithArgmax", (x,), dict(attrs, Targmax=out))
            case("MaxPoolGradWithArgmax", x, mixed(y.shape, seed=96), at, close=1e-6, **attrs)
    case("MaxPoolWithArgmax", f32([NAN, 1, 1, NAN]).reshape([1, 1, 4, 1]), ksize=[1, 1, 2, 1], strides=[1, 1, 2, 1], padding="VALID")


def averaging():
    for dtype, (shape, ksize, strides, padding) in itertools.product(FLOATS, IMAGES):
        attrs = {"ksize": ksize, "strides": strides, "padding": padding}
        x = mixed(shape, dtype, seed=97)
        case("AvgPool", x, close=tolerance(dtype), near=tolerance(dtype), **attrs)
        y = pooled("AvgPool", x, **attrs)
        case("AvgPoolGrad", i32(shape), y, close=tolerance(dtype), near=tolerance(dtype), **attrs)
    for dtype, (shape, ksize, strides, padding) in itertools.product(FLOATS, VOLUMES):
        attrs = {"ksize": ksize, "strides": strides, "padding": padding}
        x = mixed(shape, dtype, seed=98)
        case("AvgPool3D", x, close=tolerance(dtype), near=tolerance(dtype), **attrs)
        if dtype == numpy.float32:
            case("AvgPool3DGrad", i32(shape), pooled("AvgPool3D", x, **attrs), close=1e-5, near=1e-6, **attrs)
    for ksize, strides in WRONG:
        case("AvgPool", ramp([1, 4, 4, 1]), ksize=ksize, strides=strides, padding="VALID", fails=True)


NONE = zeros([0])


def normalising():
    shapes = [([2, 3, 2, 4], "NHWC"), ([2, 4, 3, 2], "NCHW"), ([1, 1, 1, 3], "NHWC")]
    for version, (shape, form) in itertools.product(("", "V2", "V3"), shapes):
        forward, backward = f"FusedBatchNorm{version}", f"FusedBatchNormGrad{version}"
        channels = shape[-1 if form[-1] == "C" else 1]
        scale, offset, mean = (mixed([channels], low=0.5, seed=seed) for seed in (100, 101, 102))
        variance = mixed([channels], low=0.5, high=3, seed=103)
        for dtype in [numpy.float32] if version == "" else [numpy.float32, numpy.float16, BFLOAT16]:
            x, dy, near = mixed(shape, dtype, 1, 9, 104), mixed(shape, dtype, seed=105), tolerance(dtype, 2)
            attrs = {"data_format": form, "epsilon": 0.01}
            case(forward, x, scale, offset, NONE, NONE, is_training=True, close=near, near=near, **attrs)
            case(forward, x, scale, offset, mean, variance, is_training=True, exponential_avg_factor=0.25, close=near, near=near,
                 **attrs)
            for training in (False, True) if form == "NHWC" else (True,):
                last = [NONE] if version == "V3" else []
                case(backward, dy, x, scale, mean, variance, *last, is_training=training, close=4 * near, near=4 * near, **attrs)
        case(forward, ramp(shape), scale[:-1], offset, NONE, NONE, data_format=form, fails=True)
        case(forward, ramp(shape), scale, offset, NONE, NONE, data_format=form, is_training=False, fails=True)
    volume = mixed([1, 2, 2, 3, 2], low=1, high=9, seed=106)
    case("FusedBatchNormV3", volume, f32([1, 2]), f32([0, 1]), NONE, NONE, data_format="NDHWC", close=2e-6, near=2e-6)
    case("FusedBatchNormV3", ramp([2, 3]), f32([1, 2, 3]), f32([0, 1, 2]), NONE, NONE, fails=True)


def fractional_maxima(x, rows, columns, overlapping):
    more = 1 if overlapping else 0
    regions = [[x[:, r:rows[i + 1] + more, c:columns[k + 1] + more] for k, c in enumerate(columns[:-1])] for i, r in enumerate(rows[:-1])]
    return numpy.stack([numpy.stack([region.max(axis=(1, 2)) for region in row], axis=1) for row in regions], axis=1)


def fractional_pooling():
    rows, columns = i64([0, 2, 3, 4, 5, 7]), i64([0, 1, 3, 4])
    for dtype in (numpy.int32, numpy.int64, numpy.float32, numpy.float64):
        for overlapping in (False, True):
            x, dy = shuffled([2, 7, 4, 3], dtype), ramp([2, 5, 3, 3], dtype)
            y = fractional_maxima(x, rows, columns, overlapping)
            case("FractionalMaxPoolGrad", x, y, dy, rows, columns, overlapping=overlapping)
            case("FractionalAvgPoolGrad", i64([2, 7, 4, 3]), dy, rows, columns, overlapping=overlapping, close=1e-6)
    x, dy = ramp([1, 7, 4, 1]), ramp([1, 5, 3, 1])
    y = fractional_maxima(x, rows, columns, False)
    case("FractionalMaxPoolGrad", x[0], y, dy, rows, columns, fails=True)
    case("FractionalMaxPoolGrad", x, y, dy, rows[:2], columns, fails=True)
    case("FractionalAvgPoolGrad", i64([1, 7, 4]), dy, rows, columns, fails=True)
    case("FractionalAvgPoolGrad", i64([1, 7, 4, 1]), dy, rows, columns[:2], fails=True)
    case("FractionalAvgPoolGrad", i64([1, 7, 4, 1]), dy, -rows, columns, fails=True)


FAMILIES = (fractional_pooling, max_pooling, max_pooling_of_volumes, greatest_and_where, averaging, normalising)
