"""More calls of single ops: quantised integers; op_cases.py says what a case is."""
import itertools

import numpy

from op_cases import CLOSE, case
from reference import FLOATS, INF, NAN, f32, i32, i64, mixed, name_of, quantized, tf, zeros

TYPES = (tf.quint8, tf.qint8, tf.quint16, tf.qint16, tf.qint32)
MODES = ("MIN_COMBINED", "MIN_FIRST", "SCALED")


def steps(values, dtype=tf.quint8):
    return quantized(values, dtype)


def some_steps(shape, seed=1, dtype=tf.quint8):
    low, high = (0, 256) if dtype == tf.quint8 else (-128, 128) if dtype == tf.qint8 else (-2**31, 2**31)
    return steps(numpy.random.RandomState(seed).randint(low, high, size=shape, dtype=numpy.int64), dtype)


def to_steps():
    x = f32([-3, -1.5, -0.5, -0.1, 0, 0.1, 0.5, 1, 2, 2.5])
    for T, mode, narrow in itertools.product(TYPES, MODES, (False, True)):
        for ends in ((-2, 3), (0, 4), (-7, 0.5), (1, 3)):
            if T != tf.qint32 or max(x) <= ends[1] and mode != "SCALED":  # TensorFlow converts 2^31, which is no int32
                case("QuantizeV2", x, f32(ends[0]), f32(ends[1]), T=T, mode=mode, narrow_range=narrow, close=1e-6)
        if T != tf.qint32:
            case("QuantizeV2", x.reshape([2, 5]), f32([-2, 0]), f32([3, 1]), T=T, mode=mode, narrow_range=narrow, axis=0, close=1e-6)
            case("QuantizeV2", x.reshape([5, 2]), f32([-2, 0]), f32([3, 1]), T=T, mode=mode, narrow_range=narrow, axis=1, close=1e-6)
            case("QuantizeV2", f32([0.5, 1.5, 2.5]), f32(0), f32(3), T=T, mode="SCALED", round_mode="HALF_TO_EVEN", narrow_range=narrow)
    case("QuantizeV2", f32([NAN, INF, -INF]), f32(-2), f32(3), T=tf.quint8)
    case("QuantizeV2", x, f32(0), f32(0), T=tf.quint8, mode="SCALED", close=1e-6)
    case("QuantizeV2", x, f32(0), f32(0), T=tf.quint8, mode="MIN_FIRST", ensure_minimum_range=1.0, close=1e-6)
    case("QuantizeV2", zeros([0, 3]), f32(0), f32(1), T=tf.qint8)
    case("QuantizeV2", f32(1.5), f32(0), f32(2), T=tf.qint8)
    case("QuantizeV2", x, f32(3), f32(1), T=tf.quint8, fails=True)
    case("QuantizeV2", x, f32([1, 2]), f32([3, 4]), T=tf.quint8, fails=True)
    case("QuantizeV2", x, f32(1), f32(3), T=tf.quint8, axis=0, fails=True)
    case("QuantizeV2", x, f32(1), f32(3), T=tf.quint8, axis=1, fails=True)
    case("QuantizeV2", x, f32(1), f32(3), T=tf.quint8, round_mode="HALF_TO_EVEN", fails=True)


def to_floats():
    for T, mode, narrow in itertools.product(TYPES, MODES, (False, True)):
        limits = numpy.iinfo(T.as_numpy_dtype[0] if isinstance(T.as_numpy_dtype, list) else numpy.dtype(T.as_numpy_dtype)[0])
        x = steps([limits.min, 0, 5, 100, limits.max if T != tf.qint32 else 2**30], T)
        for ends in ((-2, 3), (0, 4), (1, 1)):
            case("Dequantize", x, f32(ends[0]), f32(ends[1]), mode=mode, narrow_range=narrow, close=1e-6, near=1e-6)
        case("Dequantize", x[:4].reshape([2, 2]), f32([-2, 0]), f32([3, 1]), mode=mode, narrow_range=narrow, axis=1, close=1e-6, near=1e-6)
    case("Dequantize", steps([0, 100, 255]), f32(-2), f32(3), dtype=tf.bfloat16, close=8e-3)
    case("Dequantize", some_steps([0, 2]), f32(-2), f32(3))
    case("Dequantize", some_steps([3]), f32([1, 2]), f32([3, 4]), fails=True)
    case("Dequantize", some_steps([3]), f32(1), f32(3), axis=2, fails=True)


def there_and_back():
    for dtype in FLOATS:
        x = mixed([3, 4], dtype, -3, 3)
        close = {"close": 8 * CLOSE[name_of(dtype)], "near": 8 * CLOSE[name_of(dtype)]}
        low, high = numpy.array(-2, dtype=dtype), numpy.array(1.5, dtype=dtype)
        for signed, given in itertools.product((False, True), repeat=2):
            case("QuantizeAndDequantizeV2", x, low, high, signed_input=signed, range_given=given, **close)
            case("QuantizeAndDequantizeV2", x, low, high, signed_input=signed, range_given=given, round_mode="HALF_UP", num_bits=3, **close)
            case("QuantizeAndDequantizeV3", x, low, high, i32(5), signed_input=signed, range_given=given, **close)
    x, low, high = mixed([3, 4], low=-3), f32([-1, -2, 0]), f32([1, 0.5, 2])
    for given in (False, True):
        if not given:  # TensorFlow refuses ranges of an axis in V2
            case("QuantizeAndDequantizeV2", x, low, high, range_given=given, narrow_range=True, axis=0, close=1e-6)
        case("QuantizeAndDequantizeV3", x, low, high, i32(4), range_given=given, narrow_range=True, axis=0, close=1e-6)
    case("QuantizeAndDequantizeV2", x, f32(0), f32(0), range_given=True)
    case("QuantizeAndDequantizeV2", zeros([0, 3]), f32(0), f32(1), range_given=True)
    case("QuantizeAndDequantizeV2", x, f32(2), f32(1), range_given=True, fails=True)
    case("QuantizeAndDequantizeV2", x, f32(0), f32(1), num_bits=0, fails=True)
    case("QuantizeAndDequantizeV2", x, f32(0), f32(1), num_bits=62, fails=True)
    case("QuantizeAndDequantizeV2", x, f32(0), f32(1), range_given=True, axis=0, fails=True)
    case("QuantizeAndDequantizeV2", x, f32(0), f32(1), range_given=True, axis=2, fails=True)
    case("QuantizeAndDequantizeV3", x, f32(0), f32(1), i32(63), fails=True)
    case("QuantizeAndDequantizeV3", x, f32(0), f32(1), i32([8]), fails=True)


def narrower():
    sums = steps([-2**30, -5, 0, 7, 100, 2**28, 2**30], tf.qint32)
    for low, high in ((-10, 10), (-1000, 3000), (-5, 5)):
        case("RequantizationRange", sums, f32(low), f32(high), close=1e-6)
        case("RequantizationRange", sums[1:5], f32(low), f32(high), close=1e-6)
        case("QuantizeDownAndShrinkRange", sums, f32(low), f32(high), out_type=tf.quint8, close=1e-6)
        case("QuantizeDownAndShrinkRange", some_steps([40], 3, tf.qint32), f32(low), f32(high), out_type=tf.quint8, close=1e-6)
        for wanted in ((-10, 10), (-2, 1), (0, 0), (-900, 2000)):
            if (low, wanted[0]) == (-1000, -2):
                continue  # TensorFlow's fixed-point numbers overflow
            case("Requantize", sums, f32(low), f32(high), f32(wanted[0]), f32(wanted[1]), out_type=tf.quint8, close=1e-6)
    case("Requantize", sums[:0], f32(-1), f32(1), f32(-1), f32(1), out_type=tf.quint8)
    case("Requantize", sums, f32(-1), f32(1), f32(1), f32(2), out_type=tf.quint8, fails=True)
    case("Requantize", sums, f32(-1), f32(1), f32(-1), f32(-2), out_type=tf.quint8, fails=True)
    case("Requantize", sums, f32([1, 2]), f32(1), f32(-1), f32(0), out_type=tf.quint8, fails=True)
    case("QuantizeDownAndShrinkRange", sums, f32([1, 2]), f32(1), out_type=tf.quint8, fails=True)
    case("RequantizationRange", sums, f32([1, 2]), f32(1), fails=True)


def arithmetic():
    x, y, row = some_steps([3, 4], 1), some_steps([3, 4], 2), some_steps([4], 3)
    for op in ("QuantizedAdd", "QuantizedMul"):
        for ends in ((-1, 2, 0, 5), (0, 1, 0, 1), (-8, -1, 2, 3)):
            case(op, x, y, *map(f32, ends), close=1e-6)
            case(op, x, row, *map(f32, ends), close=1e-6)
            case(op, row, x, *map(f32, ends), close=1e-6)
            case(op, x, steps(77), *map(f32, ends), close=1e-6)
        case(op, x, y[:2], f32(0), f32(1), f32(0), f32(1), fails=True)
        case(op, x, y, f32(1), f32(1), f32(0), f32(1), fails=True)
        case(op, x, y, f32(0), f32(1), f32(2), f32(1), fails=True)
        case(op, x, y, f32([0, 1]), f32(1), f32(2), f32(1), fails=True)
    for dtype in (tf.quint8, tf.qint8):
        x, bias = some_steps([2, 3, 4], 1, dtype), some_steps([4], 2, dtype)
        for ends in ((-1, 2, 0, 5), (0, 1, -3, 1)):
            case("QuantizedBiasAdd", x, bias, *map(f32, ends), out_type=tf.qint32, close=1e-6)
        case("QuantizedBiasAdd", x, bias[:3], *map(f32, ends), out_type=tf.qint32, fails=True)
        case("QuantizedBiasAdd", x, x, *map(f32, ends), out_type=tf.qint32, fails=True)


def activations():
    for dtype in (tf.quint8, tf.qint32):
        x = some_steps([3, 7], 1, dtype)
        for op in ("QuantizedRelu", "QuantizedRelu6"):
            for ends in ((-1, 20), (0, 3), (-9, -1)):
                case(op, x, f32(ends[0]), f32(ends[1]), out_type=dtype)
            case(op, x[:0], f32(0), f32(1), out_type=dtype)
            case(op, x, f32([0, 1]), f32(1), out_type=dtype, fails=True)


def pools():
    x = some_steps([2, 5, 4, 3])
    for op, padding in itertools.product(("QuantizedMaxPool", "QuantizedAvgPool"), ("SAME", "VALID")):
        for ksize, strides in (([1, 3, 2, 1], [1, 2, 1, 1]), ([1, 2, 2, 1], [1, 2, 2, 1])):
            case(op, x, f32(-1), f32(2), ksize=ksize, strides=strides, padding=padding)
        case(op, x[0], f32(-1), f32(2), ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding=padding, fails=True)
        case(op, x, f32([1, 2]), f32(2), ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding=padding, fails=True)


def products():
    a, b = some_steps([3, 5], 1), some_steps([5, 4], 2)
    for ends in ((-1, 2, 0, 5), (-3, 1, -1, 1), (1, 2, 0, 5)):
        for transpose_a, transpose_b in itertools.product((False, True), repeat=2):
            case("QuantizedMatMul", a.T.copy() if transpose_a else a, b.T.copy() if transpose_b else b, *map(f32, ends),
                 transpose_a=transpose_a, transpose_b=transpose_b, close=1e-6)
    case("QuantizedMatMul", some_steps([7, 700], 1), some_steps([700, 3], 2), *map(f32, (-1, 2, -3, 5)), close=1e-6)
    case("QuantizedMatMul", a, a, *map(f32, ends), fails=True)
    case("QuantizedMatMul", a[0], b, *map(f32, ends), fails=True)
    case("QuantizedMatMul", a, b, *map(f32, (2, 1, 0, 5)), fails=True)
    case("QuantizedMatMul", a, b, *map(f32, (0, 1, 5, 5)), fails=True)
    images, filters = some_steps([2, 5, 4, 3], 1), some_steps([3, 2, 3, 4], 2)
    for padding, stride in itertools.product(("SAME", "VALID"), (1, 2)):
        for ends in ((-1, 2, -2, 5), (0, 1, -1, 1)):
            case("QuantizedConv2D", images, filters, *map(f32, ends), strides=[1, stride, stride, 1], padding=padding, close=1e-6)
    case("QuantizedConv2D", images[0], filters, *map(f32, ends), strides=[1, 1, 1, 1], padding="SAME", fails=True)
    case("QuantizedConv2D", images, filters, *map(f32, ends), strides=[2, 1, 1, 1], padding="SAME", fails=True)


def moving():
    for dtype in (tf.quint8, tf.qint32):
        a, b = some_steps([2, 3], 1, dtype), some_steps([2, 3], 2, dtype)
        for axis in (0, 1):
            case("QuantizedConcat", i32(axis), [a, b], [f32(-1), f32(0)], [f32(2), f32(5)], close=1e-6)
            case("QuantizedConcat", i32(axis), [a, b], [f32(-1), f32(-1)], [f32(2), f32(2)], close=1e-6)
        case("QuantizedConcat", i32(1), [a, b[:1]], [f32(-1), f32(-1)], [f32(2), f32(2)], fails=True)
        case("QuantizedConcat", i32(2), [a, b], [f32(-1), f32(-1)], [f32(2), f32(2)], fails=True)
        case("QuantizedReshape", a, i32([3, -1]), f32(-1), f32(2))
        case("QuantizedReshape", a, i64([6]), f32(-1), f32(2))
        case("QuantizedReshape", a, i32([4]), f32(-1), f32(2), fails=True)


def norms():
    x = some_steps([2, 3, 5, 4], 1)
    for given in (dict(), dict(output_range_given=True, given_y_min=-1.5, given_y_max=2.0)):
        case("QuantizedInstanceNorm", x, f32(-1), f32(2), close=1e-5, **given)
        case("QuantizedInstanceNorm", x[:1, :, :, :1], f32(-3), f32(0.5), variance_epsilon=0.1, close=1e-5, **given)
        case("QuantizedInstanceNorm", x[:1, :1, :1], f32(-1), f32(2), close=1e-5, **given)
        case("QuantizedInstanceNorm", x, f32(2), f32(-1), fails=True, **given)
    case("QuantizedInstanceNorm", x, f32(-1), f32(2), output_range_given=True, given_y_min=1.0, given_y_max=1.0, fails=True)
    op = "QuantizedBatchNormWithGlobalNormalization"
    vectors = [value for seed, low in enumerate((-1, 0.5, -3, 0), 2) for value in (some_steps([4], seed), f32(low), f32(low + 2))]
    for scales in (False, True):
        attrs = dict(variance_epsilon=0.01, scale_after_normalization=scales, out_type=tf.qint32)
        case(op, x, f32(-2), f32(5), *vectors, **attrs)
        case(op, x[..., :3], f32(-2), f32(5), *vectors, fails=True, **attrs)
        case(op, x[0], f32(-2), f32(5), *vectors, fails=True, **attrs)


FAMILIES = (to_steps, to_floats, there_and_back, narrower, arithmetic, activations, pools, products, moving, norms)
