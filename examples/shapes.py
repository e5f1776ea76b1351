#!/usr/bin/env python3
"""Makes the pictures in shapes/, a folder for each class: gray circles, squares and triangles of several sizes and places, with noise."""
import pathlib
import random
import struct
import zlib

SIDE = 16
draw = random.Random(5)


def inside(shape, x, y, radius):
    if shape == "circle":
        return x * x + y * y <= radius * radius
    if shape == "square":
        return max(abs(x), abs(y)) <= radius * 0.8
    return -radius <= y <= radius and abs(x) <= (y + radius) / 2  # a triangle that stands on its base


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def picture(shape):
    radius = draw.uniform(3.5, 6)
    left, top = (draw.uniform(radius, SIDE - 1 - radius) for _ in range(2))
    light, dark = draw.randint(150, 255), draw.randint(0, 90)
    rows = b""
    for y in range(SIDE):
        values = [light if inside(shape, x - left, y - top, radius) else dark for x in range(SIDE)]
        rows += b"\0" + bytes(min(255, max(0, value + draw.randint(-25, 25))) for value in values)
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 0, 0, 0, 0)  # 8 bits, gray
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


for name in ["circle", "square", "triangle"]:
    folder = pathlib.Path(__file__).parent / "shapes" / name
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(80):
        (folder / f"{number:02}.png").write_bytes(picture(name))
