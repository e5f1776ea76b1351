"""More calls of single ops: resizing and cropping of images, colours, boxes; op_cases.py says what a case is."""
import itertools

import numpy

from op_cases import CLOSE, case
from reference import BFLOAT16, NAN, f32, f64, i32, i64, mixed, name_of, ramp, tensorflow_outputs, u8, zeros

RESIZED = [numpy.float32, numpy.float64, numpy.float16, BFLOAT16, numpy.uint8, numpy.int8, numpy.int16, numpy.uint16, numpy.int32, numpy.int64]
KERNELS = ["lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "MitchellCubic"]
RESIZES = ["ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "ResizeArea"]
GRIDS = [dict(), dict(align_corners=True), dict(half_pixel_centers=True)]
SIZES = [([1, 4, 5, 3], [7, 3]), ([2, 5, 3, 1], [2, 6]), ([1, 3, 3, 2], [3, 3]), ([1, 1, 1, 4], [3, 2]), ([1, 6, 7, 3], [1, 1]), ([1, 2, 9, 5], [5, 2])]
ROUNDED = {"close": 2e-6, "near": 2e-5}  # sums of pixels up to 100, of which the order differs


def images(shape, dtype, seed=1):
    return mixed(shape, dtype, 1, 99, seed)


def grids(op):
    return GRIDS[:2] if op == "ResizeArea" else GRIDS


def resizing():
    for op, (shape, size) in itertools.product(RESIZES, SIZES):
        for grid in grids(op):
            case(op, images(shape, numpy.float32), i32(size), **grid, **({} if op == "ResizeNearestNeighbor" else ROUNDED))
    for op, dtype in itertools.product(RESIZES, RESIZED):
        for grid in grids(op):
            case(op, images([1, 4, 6, 3], dtype), i32([3, 5]), **grid, **({} if op == "ResizeNearestNeighbor" else ROUNDED))
    for op in RESIZES:
        case(op, zeros([0, 3, 3, 1]), i32([2, 2]))
        for shape in ([2, 2, 3], [1, 0, 3, 1], [1, 3, 3, 0]):
            case(op, zeros(shape), i32([2, 2]), fails=True)
        for size in ([2], [0, 2], [2, -1], [2, 2, 2]):
            case(op, zeros([1, 3, 3, 1]), i32(size), fails=True)
        if op != "ResizeArea":
            case(op, zeros([1, 3, 3, 1]), i32([2, 2]), align_corners=True, half_pixel_centers=True, fails=True)


def resizing_gradients():
    for op in ("ResizeBilinearGrad", "ResizeBicubicGrad"):
        for dtype, (shape, size), grid in itertools.product([numpy.float32, numpy.float64, numpy.float16, BFLOAT16], SIZES, GRIDS):
            grads = mixed([shape[0]] + size + [shape[3]])
            # TensorFlow sums half and bfloat16 in half and bfloat16, and doubles of products of floats.
            tolerance = max(2e-6, 8 * CLOSE[name_of(dtype)])
            case(op, grads, images(shape, dtype), **grid, close=tolerance, near=2 * tolerance)
        case(op, zeros([0, 2, 2, 1]), zeros([0, 3, 3, 1]))
        for grads in ([2, 2, 1], [1, 0, 2, 1]):
            case(op, zeros(grads), zeros([1, 3, 3, 1]), fails=True)
        case(op, zeros([1, 2, 2, 1]), zeros([3, 3, 1]), fails=True)
    for dtype, (shape, size), grid in itertools.product([numpy.float32, numpy.float64, numpy.uint8, numpy.int8, numpy.int32], SIZES, GRIDS):
        grads = ramp([shape[0]] + size + [shape[3]], dtype)
        case("ResizeNearestNeighborGrad", grads, i32(shape[1:3]), **grid)
    for dtype in (numpy.float16, BFLOAT16):
        case("ResizeNearestNeighborGrad", ramp([1, 2, 3, 2], dtype), i32([2, 2]))
    case("ResizeNearestNeighborGrad", zeros([0, 2, 2, 1]), i32([3, 3]))
    case("ResizeNearestNeighborGrad", zeros([2, 2, 1]), i32([3, 3]), fails=True)
    case("ResizeNearestNeighborGrad", zeros([1, 2, 2, 1]), i32([3]), fails=True)
    case("ResizeNearestNeighborGrad", zeros([1, 2, 2, 1]), i32([0, 3]), fails=True)


def scaling():
    op, scale, translation = "ScaleAndTranslate", f32([1.7, 0.6]), f32([-0.4, 0.3])
    for kernel, antialias in itertools.product(KERNELS, (True, False)):
        for shape, size in SIZES[:2]:
            attrs = dict(kernel_type=kernel, antialias=antialias)
            case(op, images(shape, numpy.float32), i32(size), scale, translation, **attrs, close=1e-5, near=1e-4)
            case(op + "Grad", mixed([shape[0]] + size + [shape[3]]), images(shape, numpy.float32), scale, translation, **attrs, close=1e-5, near=1e-5)
    for dtype in RESIZED:
        case(op, images([1, 4, 6, 3], dtype), i32([3, 5]), scale, translation, close=1e-5, near=1e-4)
    for scales, translations in (([0.25, 4], [0, 0]), ([1, 1], [2.5, -20]), ([1e-3, 1e3], [0, 1])):
        case(op, images([1, 9, 5, 2], numpy.float32), i32([6, 6]), f32(scales), f32(translations), kernel_type="triangle", close=1e-5, near=1e-4)
    case(op, zeros([0, 3, 3, 1]), i32([2, 2]), scale, translation)
    for bad in ([0, 1], [1, -1], [1, NAN]):
        case(op, zeros([1, 3, 3, 1]), i32([2, 2]), f32(bad), translation, fails=True)
    case(op, zeros([3, 3, 1]), i32([2, 2]), scale, translation, fails=True)
    case(op, zeros([1, 3, 3, 1]), i32([2, 0]), scale, translation, fails=True)
    case(op, zeros([1, 3, 3, 1]), i32([2, 2]), f32([1, 1, 1]), translation, fails=True)
    case(op, zeros([1, 3, 3, 1]), i32([2, 2]), scale, translation, kernel_type="sinc", fails=True)
    case(op + "Grad", zeros([2, 2, 1]), zeros([1, 3, 3, 1]), scale, translation, fails=True)


BOXES = f32([[0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1], [0.9, 0.8, 0.15, 0.25], [-0.4, 0.3, 0.6, 1.7], [2, 2, 3, 3], [0.33, 0.33, 0.33, 0.33]])
NUMBERS = i32([1, 0, 0, 1, 0, 1])


def cropping():
    for dtype, method in itertools.product([one for one in RESIZED if one != BFLOAT16], ["bilinear", "nearest"]):
        image = images([2, 4, 5, 3], dtype)
        case("CropAndResize", image, BOXES, NUMBERS, i32([3, 4]), method=method, extrapolation_value=2.5, **ROUNDED)
        case("CropAndResizeGradBoxes", mixed([6, 3, 4, 3]), image, BOXES, NUMBERS, close=1e-5, near=1e-3)
        if dtype in (numpy.float32, numpy.float64, numpy.float16):
            tolerance = max(2e-6, 8 * CLOSE[name_of(dtype)])
            case("CropAndResizeGradImage", mixed([6, 3, 4, 3]), BOXES, NUMBERS, i32([2, 4, 5, 3]), T=dtype, method=method,
                 close=tolerance, near=tolerance)
    for size, method in itertools.product(([1, 1], [1, 3], [9, 2]), ["bilinear", "nearest"]):
        image = images([2, 3, 3, 1], numpy.float32)
        case("CropAndResize", image, BOXES, NUMBERS, i32(size), method=method, **ROUNDED)
        case("CropAndResizeGradImage", mixed([6] + size + [1]), BOXES, NUMBERS, i32([2, 3, 3, 1]), T=numpy.float32, method=method, **ROUNDED)
        case("CropAndResizeGradBoxes", mixed([6] + size + [1]), image, BOXES, NUMBERS, close=1e-5, near=1e-3)
    image, none, size = zeros([1, 3, 3, 1]), zeros([0, 4]), i32([2, 2])
    case("CropAndResize", image, none, i32([]), size)
    case("CropAndResizeGradBoxes", zeros([0, 2, 2, 1]), image, none, i32([]))
    for numbers, boxes in ((i32([1]), BOXES[:1]), (i32([-1]), BOXES[:1]), (i32([0, 0]), BOXES[:1]), (i32([0]), f32([[0, 0, 1]])),
                           (i32([0]), f32([0, 0, 1, 1]))):
        case("CropAndResize", image, boxes, numbers, size, fails=True)
        case("CropAndResizeGradBoxes", zeros([1, 2, 2, 1]), image, boxes, numbers, fails=True)
        case("CropAndResizeGradImage", zeros([1, 2, 2, 1]), boxes, numbers, i32([1, 3, 3, 1]), T=numpy.float32, fails=True)
    case("CropAndResize", image, f32([[NAN, 0, 1, 1]]), i32([0]), size, fails=True)  # TensorFlow's gradients crash
    for bad in ([2], [0, 2], [2, 2, 2]):
        case("CropAndResize", image, BOXES[:1], i32([0]), i32(bad), fails=True)
    for shape in ([3, 3, 1], [1, 0, 3, 1]):
        case("CropAndResize", zeros(shape), BOXES[:1], i32([0]), size, fails=True)
    for bad in ([1, 3, 3], [1, 3, 3, 2], [1, 0, 3, 1]):
        case("CropAndResizeGradImage", zeros([1, 2, 2, 1]), BOXES[:1], i32([0]), i32(bad), T=numpy.float32, fails=True)
    case("CropAndResizeGradImage", zeros([2, 2, 2, 1]), BOXES[:1], i32([0]), i32([1, 3, 3, 1]), T=numpy.float32, fails=True)
    case("CropAndResizeGradBoxes", zeros([1, 2, 2, 2]), image, BOXES[:1], i32([0]), fails=True)


def colors():
    named = f32([[0, 0, 0], [1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1], [0.5, 0.25, 0.25], [0.2, 0.9, 0.4],
                 [0.3, 0.1, 0.8], [0.7, 0.7, 0.2]])
    for dtype in (numpy.float32, numpy.float64, numpy.float16, BFLOAT16):
        rgb = numpy.concatenate([named.astype(dtype), mixed([6, 3], dtype, 0, 1)])
        tolerance = {"close": 8 * CLOSE[name_of(dtype)], "near": 8 * CLOSE[name_of(dtype)]}
        case("RGBToHSV", rgb, **tolerance)
        case("HSVToRGB", mixed([8, 3], dtype, 0, 1), **tolerance)
        case("RGBToHSV", zeros([2, 0, 3], dtype))
    for op in ("RGBToHSV", "HSVToRGB"):
        case(op, mixed([2, 3, 2, 3], low=0, high=1), close=1e-6, near=1e-6)
        case(op, mixed([3], low=0, high=1), close=1e-6, near=1e-6)
        case(op, f32(1), fails=True)
        case(op, zeros([2, 4]), fails=True)
    for amount in (-0.9, -0.25, 0, 0.1, 0.5, 1, 1.75):
        case("AdjustHue", named.reshape(1, 3, 4, 3), f32(amount), close=2e-6, near=2e-6)
        case("AdjustHue", mixed([2, 3, 3], low=0, high=9), f32(amount), close=2e-6, near=2e-5)
        case("AdjustSaturation", named.reshape(3, 4, 3), f32(amount), close=2e-6, near=2e-6)
    for op in ("AdjustHue", "AdjustSaturation"):
        case(op, zeros([0, 2, 3]), f32(0.1))
        case(op, zeros([2, 3]), f32(0.1), fails=True)
        case(op, zeros([1, 2, 4]), f32(0.1), fails=True)
        case(op, zeros([1, 2, 3]), f32([0.1]), fails=True)


def contrast():
    for shape, factor in itertools.product(([4, 5, 3], [2, 3, 3, 1], [2, 2, 3, 50, 2]), (0, 0.5, 2, -1)):
        case("AdjustContrastv2", images(shape, numpy.float32), f32(factor), **ROUNDED)
    for dtype in (numpy.float32, numpy.float64, numpy.uint8, numpy.int8, numpy.int16, numpy.int32):
        case("AdjustContrast", images([2, 3, 4, 3], dtype), f32(1.5), f32(10), f32(60), **ROUNDED)
    case("AdjustContrastv2", zeros([0, 2, 2, 3]), f32(2))
    for op, limits in (("AdjustContrastv2", []), ("AdjustContrast", [f32(0), f32(1)])):
        case(op, zeros([2, 3]), f32(2), *limits, fails=True)
        case(op, zeros([2, 3, 1]), f32([2]), *limits, fails=True)


SUPPRESSED = f32([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [0, 100, 1, 101], [1, 101, 0, 100],
                  [0, 50, 0, 51]])
SCORES = f32([0.9, 0.75, 0.6, 0.95, 0.5, 0.3, 0.3, 0.1])


def suppression():
    for most, overlap, score in itertools.product((0, 3, 30), (0.0, 0.5, 0.9), (0.0, 0.4)):
        most, overlap, score = i32(most), f32(overlap), f32(score)
        case("NonMaxSuppression", SUPPRESSED, SCORES, most, iou_threshold=float(overlap))
        case("NonMaxSuppressionV2", SUPPRESSED, SCORES, most, overlap)
        case("NonMaxSuppressionV3", SUPPRESSED, SCORES, most, overlap, score)
        for pads in (False, True):
            case("NonMaxSuppressionV4", SUPPRESSED, SCORES, most, overlap, score, pad_to_max_output_size=pads)
            for sigma in (0, 0.5):
                case("NonMaxSuppressionV5", SUPPRESSED, SCORES, most, overlap, score, f32(sigma), pad_to_max_output_size=pads,
                     close=1e-6)
        case("NonMaxSuppressionWithOverlaps", mixed([8, 8], low=0, high=1), SCORES, most, overlap, score)
    half = numpy.float16
    case("NonMaxSuppressionV2", SUPPRESSED.astype(half), SCORES.astype(half), i32(9), f32(0.5))
    case("NonMaxSuppressionV3", SUPPRESSED.astype(half), SCORES.astype(half), i32(9), f32(0.5), f32(0))
    case("NonMaxSuppressionV4", SUPPRESSED.astype(half), SCORES.astype(half), i32(9), f32(0.5), f32(0))
    case("NonMaxSuppressionV5", SUPPRESSED.astype(half), SCORES.astype(half), i32(9), half(0.5), half(0), half(0.5), close=4e-3)
    case("NonMaxSuppressionV3", mixed([60, 4], low=0, high=3), mixed([60], low=0, high=1), i32(40), f32(0.3), f32(0.2))
    case("NonMaxSuppressionV3", SUPPRESSED, numpy.ones(8, numpy.float32), i32(8), f32(0.5), f32(0))
    some, none = f32(0.5), f32(0)
    for op, more in (("NonMaxSuppressionV2", [some]), ("NonMaxSuppressionV3", [some, none]), ("NonMaxSuppressionV4", [some, none]),
                     ("NonMaxSuppressionV5", [some, none, none]), ("NonMaxSuppression", [])):
        case(op, zeros([0, 4]), zeros([0]), i32(3), *more)
        case(op, SUPPRESSED, SCORES, i32(-1), *more, fails=True)
        case(op, SUPPRESSED, SCORES, i32([1]), *more, fails=True)
        case(op, SUPPRESSED, SCORES[:5], i32(3), *more, fails=True)
        case(op, SUPPRESSED[:, :3], SCORES, i32(3), *more, fails=True)
        if more:
            case(op, SUPPRESSED, SCORES, i32(3), f32(1.5), *more[1:], fails=True)
    case("NonMaxSuppression", SUPPRESSED, SCORES, i32(3), iou_threshold=-0.5, fails=True)
    case("NonMaxSuppressionV5", SUPPRESSED, SCORES, i32(3), some, none, f32(-1), fails=True)
    case("NonMaxSuppressionWithOverlaps", zeros([0, 0]), zeros([0]), i32(3), some, none)
    case("NonMaxSuppressionWithOverlaps", zeros([2, 3]), zeros([2]), i32(3), some, none, fails=True)


def combined_suppression():
    boxes, scores = mixed([2, 12, 1, 4], low=-0.2, high=1.2), mixed([2, 12, 3], low=0, high=1)
    each = mixed([2, 12, 3, 4], low=0, high=1, seed=7)
    for shown, per_class, most, pads, clips in itertools.product((boxes, each), (1, 4), (2, 9, 30), (False, True), (False, True)):
        case("CombinedNonMaxSuppression", shown, scores, i32(per_class), i32(most), f32(0.4), f32(0.3), pad_per_class=pads, clip_boxes=clips)
    case("CombinedNonMaxSuppression", boxes, scores, i32(12), i32(40), f32(0.1), f32(0))
    case("CombinedNonMaxSuppression", boxes, scores, i32(12), i32(40), f32(1), f32(2))
    case("CombinedNonMaxSuppression", zeros([0, 12, 1, 4]), zeros([0, 12, 3]), i32(2), i32(4), f32(0.5), f32(0))
    sizes = i32(2), i32(4), f32(0.5), f32(0)
    for wrong in ((boxes[0], scores), (boxes, scores[0]), (boxes[:1], scores), (boxes[:, :5], scores), (each[:, :, :2], scores),
                  (boxes[..., :3], scores)):
        case("CombinedNonMaxSuppression", *wrong, *sizes, fails=True)
    for per_class, most, overlap in ((0, 4, 0.5), (-1, 4, 0.5), (2, 0, 0.5), (2, -2, 0.5), (2, 4, -0.5), (2, 4, 1.5)):
        case("CombinedNonMaxSuppression", boxes, scores, i32(per_class), i32(most), f32(overlap), f32(0), fails=True)
    case("CombinedNonMaxSuppression", boxes, scores, i32([2]), i32(4), f32(0.5), f32(0), fails=True)


def drawing():
    boxes = f32([[[0, 0, 1, 1], [0.3, 0.2, 0.7, 0.8], [-1, 0.5, 0.5, 2], [0.9, 0.9, 0.1, 0.1], [2, 2, 3, 3], [0.5, 0.5, 0.5, 0.5],
                  [-9, -9, -8, -8], [NAN, 0, 1, 1]]])
    for dtype, depth in itertools.product((numpy.float32, numpy.float16), (1, 3, 4)):
        case("DrawBoundingBoxes", images([1, 6, 7, depth], dtype), boxes)
        case("DrawBoundingBoxesV2", images([1, 6, 7, depth], dtype), boxes, mixed([3, 4], low=0, high=1))
    case("DrawBoundingBoxes", images([2, 4, 4, 3], numpy.float32), mixed([2, 12, 4], low=0, high=1))
    case("DrawBoundingBoxesV2", images([1, 4, 4, 3], numpy.float32), boxes, zeros([0, 3]))
    case("DrawBoundingBoxes", images([1, 4, 4, 3], numpy.float32), zeros([1, 0, 4]))
    case("DrawBoundingBoxes", zeros([0, 4, 4, 3]), zeros([0, 2, 4]))
    for shape, boxes_shape in (([4, 4, 3], [1, 2, 4]), ([1, 4, 4, 3], [2, 4]), ([1, 4, 4, 3], [2, 1, 4]), ([1, 4, 4, 2], [1, 1, 4])):
        case("DrawBoundingBoxes", zeros(shape), zeros(boxes_shape), fails=True)
    for color in ([3], [2, 2]):
        case("DrawBoundingBoxesV2", zeros([1, 4, 4, 3]), boxes, zeros(color), fails=True)


def glimpses():
    image = ramp([2, 4, 5, 2])
    zero = dict(uniform_noise=False, noise="zero")
    for op, centered, normalized in itertools.product(("ExtractGlimpse", "ExtractGlimpseV2"), (False, True), (False, True)):
        for offsets in ([[0, 0], [0.5, -0.5]], [[-0.8, 0.3], [0.9, 0.1]], [[2, 1], [-1, 3]], [[30, -30], [-1e20, 1e20]]):
            for size in ([3, 2], [2, 3], [6, 7]):
                case(op, image, i32(size), f32(offsets), centered=centered, normalized=normalized, **zero)
    for op in ("ExtractGlimpse", "ExtractGlimpseV2"):
        case(op, image, i32([0, 3]), zeros([2, 2]), **zero)
        for size, offsets in (([3], [2, 2]), ([3, 3], [1, 2]), ([3, 3], [2, 3]), ([3, 3], [2])):
            case(op, image, i32(size), zeros(offsets), **zero, fails=True)
        case(op, zeros([4, 5, 2]), i32([2, 2]), zeros([4, 2]), **zero, fails=True)
        case(op, image, i32([2, 2]), zeros([2, 2]), uniform_noise=True, noise="zero", fails=True)
        case(op, image, i32([2, 2]), zeros([2, 2]), uniform_noise=False, noise="pink", fails=True)


# A turn, a shear that mirrors, and a perspective whose horizon is crossed.
TURNS = f32([[0.81, 0.57, -0.4, -0.57, 0.83, 1.3, 0, 0], [-1.1, 0.2, 3.7, 0.13, 0.9, -0.7, 0.01, 0.02]])
HORIZON = f32([[0.7, 0.1, 0.2, 0.3, 0.9, -3, -0.5, 0.03]])


def projecting():
    ways = list(itertools.product(["NEAREST", "BILINEAR"], ["CONSTANT", "REFLECT", "WRAP", "NEAREST"]))
    for (interpolation, mode), dtype in itertools.product(ways, (numpy.float32, numpy.float64, numpy.float16, BFLOAT16, numpy.uint8)):
        tolerance = max(2e-6, 2 * CLOSE[name_of(dtype)]) if dtype != numpy.uint8 else 0
        how = dict(interpolation=interpolation, fill_mode=mode, **({"close": tolerance, "near": 20 * tolerance} if tolerance else {}))
        case("ImageProjectiveTransformV2", images([2, 4, 5, 3], dtype), TURNS, i32([3, 7]), **how)
        case("ImageProjectiveTransformV3", images([2, 6, 4, 1], dtype), HORIZON, i32([9, 8]), f32(2.5), **how)
    for (interpolation, mode), dtype in itertools.product(ways, (numpy.int32, numpy.int64)):
        case("ImageProjectiveTransformV3", images([1, 4, 5, 3], dtype), TURNS[:1], i32([5, 4]), f32(7), interpolation=interpolation, fill_mode=mode)
    for interpolation, mode in ways:
        how = dict(interpolation=interpolation, fill_mode=mode)
        for shape in ([2, 1, 1, 2], [2, 1, 5, 1], [2, 5, 1, 1]):
            case("ImageProjectiveTransformV2", images(shape, numpy.float32), 5 * TURNS, i32([4, 6]), **how, **ROUNDED)
    nearest, size, one = dict(interpolation="NEAREST"), i32([2, 2]), zeros([1, 3, 3, 1])
    case("ImageProjectiveTransformV2", zeros([0, 3, 3, 1]), HORIZON, size, **nearest)
    case("ImageProjectiveTransformV2", one, zeros([2, 8]), size, **nearest, fails=True)
    case("ImageProjectiveTransformV2", one, zeros([8]), size, **nearest, fails=True)
    case("ImageProjectiveTransformV2", one, HORIZON, i32([2]), **nearest, fails=True)
    case("ImageProjectiveTransformV2", one, HORIZON, i32([0, 2]), **nearest, fails=True)
    case("ImageProjectiveTransformV2", zeros([3, 3, 1]), HORIZON, size, **nearest, fails=True)
    case("ImageProjectiveTransformV3", one, HORIZON, size, f32([0]), **nearest, fails=True)


FAMILIES = (resizing, resizing_gradients, scaling, cropping, colors, contrast, suppression, combined_suppression, drawing, glimpses, projecting)
