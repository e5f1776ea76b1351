#!/usr/bin/env python3
"""Makes the sounds in sounds/, a folder for each class: a quarter of a second of a buzz, a chirp whose pitch rises, or a tone, of several
pitches, lengths and volumes, with noise."""
import math
import pathlib
import random
import wave

RATE, FRAMES = 8000, 2000
draw = random.Random(5)


def value(sound, pitch, seconds):
    if sound == "buzz":
        return 1 if pitch * seconds % 1 < 0.5 else -1  # a square wave
    if sound == "chirp":
        return math.sin(2 * math.pi * pitch * seconds * (1 + 2 * seconds))
    return math.sin(2 * math.pi * pitch * seconds)


def samples(sound):
    pitch, volume, noise = draw.uniform(200, 900), draw.uniform(0.1, 0.6), draw.uniform(0.01, 0.1)
    begin = draw.randrange(FRAMES // 4)
    end = begin + draw.randrange(FRAMES // 2, FRAMES - begin + 1)
    for frame in range(FRAMES):
        heard = volume * value(sound, pitch, (frame - begin) / RATE) if begin <= frame < end else 0
        yield max(-32768, min(32767, round(32768 * (heard + draw.gauss(0, noise)))))


for name in ["buzz", "chirp", "tone"]:
    folder = pathlib.Path(__file__).parent / "sounds" / name
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(50):
        with wave.open(str(folder / f"{number:02}.wav"), "wb") as file:
            file.setparams((1, 2, RATE, 0, "NONE", "not compressed"))
            file.writeframes(b"".join(sample.to_bytes(2, "little", signed=True) for sample in samples(name)))
