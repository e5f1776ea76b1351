"""More calls of single ops: files of images, written and read; op_cases.py says what a case is."""
import itertools

import numpy

from image_files import bmp, gif, png
from op_cases import case
from reference import INF, NAN, i32, mixed, tensorflow_outputs, text, zeros


def pixels(shape, dtype=numpy.uint8, seed=1):
    """A pattern with some noise."""
    y, x, c = numpy.ogrid[:shape[0], :shape[1], :shape[2]]
    noise = numpy.random.RandomState(seed).randint(0, 20, shape)
    most = numpy.iinfo(dtype).max
    return ((numpy.sin(x / 3 + c) + numpy.cos(y / 4 - c) + 2) * 55 + noise).astype(numpy.uint8).astype(dtype) * (most // 255)


def written(op, image, **attrs):
    """The bytes of a file."""
    return tensorflow_outputs(op, (image,), attrs)[0].item()


def jpeg(image, **attrs):
    return written("EncodeJpeg", image, **attrs)


COLORED, GRAY = pixels([19, 21, 3]), pixels([17, 9, 1])
SMALL = pixels([5, 7, 3])


def encoding():
    for attrs in (dict(), dict(quality=10), dict(progressive=True), dict(optimize_size=True), dict(chroma_downsampling=False),
                  dict(density_unit="cm", x_density=7, y_density=65535), dict(xmp_metadata="some-words"), dict(quality=0), dict(quality=100)):
        case("EncodeJpeg", COLORED, **attrs)
        case("EncodeJpeg", GRAY, **attrs)
    case("EncodeJpeg", COLORED, format="rgb")
    case("EncodeJpeg", GRAY, format="grayscale")
    for shape in ([4, 4], [4, 4, 2], [1, 4, 4, 3], [0, 4, 3], [4, 0, 3]):
        case("EncodeJpeg", zeros(shape, numpy.uint8), fails=True)
    case("EncodeJpeg", COLORED, format="grayscale", fails=True)
    case("EncodeJpeg", GRAY, format="rgb", fails=True)
    for quality in (-1, 101):
        case("EncodeJpeg", GRAY, quality=quality, fails=True)
        case("EncodeJpegVariableQuality", GRAY, i32(quality), fails=True)
    case("EncodeJpegVariableQuality", COLORED, i32(35))
    case("EncodeJpegVariableQuality", GRAY, i32(95))
    case("EncodeJpegVariableQuality", GRAY, i32([95]), fails=True)
    for dtype, channels in itertools.product((numpy.uint8, numpy.uint16), (1, 2, 3, 4)):
        case("EncodePng", pixels([6, 5, channels], dtype))
    for compression in range(-1, 10):
        case("EncodePng", COLORED, compression=compression)
    case("EncodePng", numpy.stack([SMALL, SMALL[::-1]]))
    case("EncodePng", numpy.stack([SMALL] * 2).reshape(2, 1, 5, 7, 3))
    case("EncodePng", zeros([0, 3, 3, 1], numpy.uint8))
    for shape in ([4, 4], [4, 4, 5], [4, 4, 0], [0, 4, 3]):
        case("EncodePng", zeros(shape, numpy.uint8), fails=True)
    for compression in (-2, 10):
        case("EncodePng", GRAY, compression=compression, fails=True)


def jpegs():
    files = [jpeg(COLORED), jpeg(GRAY), jpeg(COLORED, progressive=True), jpeg(COLORED, chroma_downsampling=False, quality=60)]
    for file, channels, method in itertools.product(files, (0, 1, 3), ("", "INTEGER_FAST", "INTEGER_ACCURATE")):
        case("DecodeJpeg", text(file), channels=channels, dct_method=method)
    for file, ratio, fancy in itertools.product(files, (1, 2, 4, 8), (False, True)):
        case("DecodeJpeg", text(file), ratio=ratio, fancy_upscaling=fancy)
        case("ExtractJpegShape", text(file))
    for file, window in itertools.product(files, ([0, 0, 5, 6], [3, 2, 9, 7], [16, 1, 1, 8], [0, 8, 17, 1])):
        case("DecodeAndCropJpeg", text(file), i32(window))
        case("DecodeAndCropJpeg", text(file), i32(window), fancy_upscaling=False, dct_method="INTEGER_ACCURATE")
    case("ExtractJpegShape", text(files[0]), output_type=numpy.int64)
    short, shorter = text(files[0][:-40]), text(files[0][:-300])
    for file, fraction in itertools.product((short, shorter), (0.0, 0.3, 0.9)):
        case("DecodeJpeg", file, acceptable_fraction=fraction, fails=file is shorter and fraction > 0 or fraction == 0.9)
    case("DecodeJpeg", short, try_recover_truncated=True)
    case("DecodeJpeg", shorter, try_recover_truncated=True)
    for broken in (short, shorter, text(files[0][:-2]), text(files[0][:30]), text(b""), text(b"\xff\xd8\xff"), text(b"no image"),
                   text(bmp(SMALL)), text([files[0]])):
        case("DecodeJpeg", broken, fails=True)
        case("DecodePng", broken, fails=True)
        case("DecodeGif", broken, fails=True)
    for broken in (text(files[0][:30]), text(b""), text(b"no image"), text([files[0]])):
        case("ExtractJpegShape", broken, fails=True)
    for attrs in (dict(channels=2), dict(channels=4), dict(ratio=3), dict(dct_method="SLOW")):
        case("DecodeJpeg", text(files[0]), **attrs, fails=True)
    for window in ([0, 0, 20, 5], [0, -1, 5, 5], [0, 0, 0, 5], [0, 20, 5, 5], [0, 0, 5]):
        case("DecodeAndCropJpeg", text(files[0]), i32(window), fails=True)


def packed(rows, bits):
    """Rows of numbers of so many bits as bytes."""
    return [bytes(sum(int(value) << 8 - bits * (i + 1) for i, value in enumerate(row[at:at + 8 // bits]))
                  for at in range(0, len(row), 8 // bits)) for row in rows]


def pngs():
    files = [written("EncodePng", pixels([6, 5, channels], dtype)) for dtype in (numpy.uint8, numpy.uint16) for channels in (1, 2, 3, 4)]
    palette, random = bytes(range(48)), numpy.random.RandomState(3)
    for bits in (1, 2, 4):
        rows = packed(random.randint(0, 2 ** bits, (4, 7)), bits)
        files.append(png(rows, 7, 4, 0, bits))
        files.append(png(rows, 7, 4, 3, bits, palette[:3 * 2 ** bits]))
        files.append(png(rows, 7, 4, 3, bits, palette[:3 * 2 ** bits], b"\x10\x80"))
    files.append(png(packed(random.randint(0, 4, (4, 7)), 8), 7, 4, 0, 8, transparent=b"\0\2"))
    files.append(png(packed(random.randint(0, 4, (4, 21)), 8), 7, 4, 2, 8, transparent=b"\0\1\0\2\0\3"))
    for file, channels, dtype in itertools.product(files, (0, 1, 3, 4), (numpy.uint8, numpy.uint16)):
        case("DecodePng", text(file), channels=channels, dtype=dtype)
    interlaced = packed(random.randint(0, 256, (1, 1)), 8) + packed(random.randint(0, 256, (1, 1)), 8) + packed(random.randint(0, 256, (1, 2)), 8)
    case("DecodePng", text(png(interlaced + packed(random.randint(0, 256, (1, 3)), 8), 3, 2, 0, 8, interlaced=True)), fails=True)
    one = png([b"\7"], 1, 1, 0, 8, interlaced=True)
    case("DecodePng", text(one))
    for broken in (files[0][:40], files[0][:-20], files[0][:20] + b"\xff" + files[0][21:], files[0].replace(b"IDAT", b"IDAX")):
        case("DecodePng", text(broken), fails=True)
    case("DecodePng", text(files[0]), channels=2, fails=True)


INDICES = numpy.random.RandomState(4).randint(0, 256, (5, 7))


def gifs():
    whole, part = (0, 0, INDICES, False), (2, 1, INDICES[:2, :3], False)
    for file in (gif([whole], (5, 7)), gif([whole, part, (5, 3, INDICES, False)], (5, 7)), gif([(0, 0, INDICES, True)], (5, 7)),
                 gif([(1, 1, INDICES, False)], (7, 9)), gif([(0, 0, INDICES % 4, False)], (5, 7), 4, True), gif([whole], (5, 7), ends=False),
                 gif([part, whole], (5, 7)), gif([whole, part], (5, 7))[:-15], gif([whole, (9, 9, INDICES, False)], (50, 70))):
        case("DecodeGif", text(file))
        case("DecodeImage", text(file))
        case("DecodeImage", text(file), expand_animations=False)
    only, many = gif([whole], (5, 7)), gif([whole, whole], (5, 7))
    case("DecodeJpeg", text(only))
    case("DecodePng", text(only), channels=3)
    case("DecodePng", text(only), dtype=numpy.uint16)
    case("DecodeGif", text(jpeg(SMALL)))
    case("DecodeGif", text(jpeg(SMALL[..., :1])))
    case("DecodeGif", text(written("EncodePng", pixels([4, 6, 4]))))
    case("DecodeGif", text(written("EncodePng", SMALL)))
    for broken in (many, only[:-30], gif([whole], (5, 7), 4)):
        case("DecodeJpeg", text(broken), fails=True)
        case("DecodePng", text(broken), fails=True)
    for broken in (only[:-30], only[:11], gif([whole], (5, 7), 4), gif([], (5, 7)), bmp(SMALL)):
        case("DecodeGif", text(broken), fails=True)
    case("DecodePng", text(only), channels=1, fails=True)


def bmps():
    gray, alpha = pixels([4, 6, 1]), pixels([4, 6, 4])
    for image, top_down in itertools.product((SMALL, gray, alpha), (False, True)):
        case("DecodeBmp", text(bmp(image, top_down)))
        case("DecodeImage", text(bmp(image, top_down)))
    for channels in (3, 4):
        case("DecodeBmp", text(bmp(SMALL)), channels=channels)
        case("DecodeBmp", text(bmp(alpha)), channels=channels)
    for broken in (bmp(SMALL)[:-7], bmp(SMALL)[:30], bmp(SMALL, bits=16), jpeg(SMALL), gif([(0, 0, INDICES, False)], (5, 7)), b""):
        case("DecodeBmp", text(broken), fails=True)
    case("DecodeBmp", text([bmp(SMALL)]), fails=True)
    for channels in (1, 2):
        case("DecodeBmp", text(bmp(SMALL)), channels=channels, fails=True)


def any_files():
    wide = written("EncodePng", pixels([3, 4, 3], numpy.uint16))
    for file, dtype in itertools.product((jpeg(SMALL), written("EncodePng", SMALL), wide, bmp(SMALL),
                                          gif([(0, 0, INDICES, False)], (5, 7))), (numpy.uint8, numpy.uint16, numpy.float32)):
        for channels in (0, 3):
            case("DecodeImage", text(file), channels=channels, dtype=dtype, close=1e-6)
    for broken in (b"", b"no image", jpeg(SMALL)[:50], wide[:50]):
        case("DecodeImage", text(broken), fails=True)
    for file, channels in ((jpeg(SMALL), 4), (wide, 2), (bmp(SMALL), 1), (gif([(0, 0, INDICES, False)], (5, 7)), 1)):
        case("DecodeImage", text(file), channels=channels, fails=True)
    case("DecodeImage", text([wide]), fails=True)


def summaries():
    for dtype, channels, low in itertools.product((numpy.float32, numpy.float64, numpy.float16), (1, 3, 4), (-3, 0.5)):
        case("ImageSummary", text("tag"), mixed([2, 4, 3, channels], dtype, low, 9))
    holes = mixed([3, 3, 4, 3], low=-1, high=7)
    holes[0, 1, 2, 0], holes[1, 0, 0, 1], holes[1, 2, 3, 2] = NAN, INF, -INF
    for most in (1, 2, 5):
        case("ImageSummary", text("tag"), holes, max_images=most)
    case("ImageSummary", text("tag"), numpy.stack([SMALL, SMALL[::-1]]))
    for value in (0, 5e-7, -5e-7, 1e-3, -1e30, NAN):
        case("ImageSummary", text("tag"), numpy.full([1, 2, 3, 1], value, numpy.float32))
    case("ImageSummary", text("tag"), zeros([0, 2, 3, 1]))
    for shape in ([2, 3, 1], [1, 2, 3, 2], [1, 0, 3, 1], [0, 0, 3, 1]):
        case("ImageSummary", text("tag"), zeros(shape), fails=True)
    case("ImageSummary", text(["a", "b"]), zeros([1, 2, 3, 1]), fails=True)


FAMILIES = (encoding, jpegs, pngs, gifs, bmps, any_files, summaries)
