"""Small files of images, made byte by byte: those that TensorFlow cannot write, or writes in one way only."""
import struct
import zlib

import numpy


def bmp(pixels, top_down=False, bits=None, compression=0):
    """A file of bytes [height, width, channels], which are 1, 3 or 4."""
    height, width, channels = pixels.shape
    turned = pixels if channels == 1 else pixels[..., [2, 1, 0, 3][:channels]]
    rows = [row.tobytes().ljust((channels * width + 3) // 4 * 4, b"\0") for row in (turned if top_down else turned[::-1])]
    header = struct.pack("<IiiHHIIiiII", 40, width, -height if top_down else height, 1, bits or 8 * channels, compression, 0, 0, 0, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54 + len(b"".join(rows)), 0, 0, 54) + header + b"".join(rows)


def lzw(indices):
    """Each index a code of 9 bits, with a clear code before the table would make codes longer."""
    codes = [code for at in range(0, len(indices), 200) for code in [256, *indices[at:at + 200]]] + [257]
    bits = sum(int(code) << 9 * at for at, code in enumerate(codes))
    data = bits.to_bytes((9 * len(codes) + 7) // 8, "little")
    blocks = [data[at:at + 255] for at in range(0, len(data), 255)]
    return b"\x08" + b"".join(bytes([len(block)]) + block for block in blocks) + b"\0"


def gif(frames, canvas, colors=256, own_colors=False, ends=True):
    """A file of frames (left, top, indices [height, width], interlaced), with the colours (i, 2 i, 255 - i)."""
    table = bytes(value % 256 for i in range(colors) for value in (i, 2 * i, 255 - i))
    size = max(colors, 2).bit_length() - 2
    data = b"GIF89a" + struct.pack("<HHBBB", canvas[1], canvas[0], 0 if own_colors else 0x80 | size, 0, 0)
    data += b"" if own_colors else table
    data += b"\x21\xf9\x04\0\0\0\0\0"
    for left, top, indices, interlaced in frames:
        height, width = indices.shape
        rows = [indices[y] for first, step in ((0, 8), (4, 8), (2, 4), (1, 2)) for y in range(first, height, step)] if interlaced else indices
        flags = (0x40 if interlaced else 0) | (0x80 | size if own_colors else 0)
        data += b"," + struct.pack("<HHHHB", left, top, width, height, flags) + (table if own_colors else b"")
        data += lzw(numpy.concatenate(list(rows)).tolist())
    return data + (b";" if ends else b"")


def png(rows, width, height, color, bits, palette=None, transparent=None, interlaced=False):
    """A file of raw rows of bytes."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, color, 0, 0, int(interlaced)))
    data += chunk(b"PLTE", palette) if palette else b""
    data += chunk(b"tRNS", transparent) if transparent else b""
    return data + chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows))) + chunk(b"IEND", b"")
