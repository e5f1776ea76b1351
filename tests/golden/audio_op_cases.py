"""More calls of single ops: sounds and their features; op_cases.py says what a case is."""
import numpy

from op_cases import case
from reference import NAN, f32, i32, mixed, tensorflow_outputs, text, zeros


def sound(frames, channels=1):
    """Tones of falling pitch, with some noise, of which some samples are outside of [-1, 1)."""
    time, channel = numpy.ogrid[:frames, :channels]
    tone = numpy.sin(time * (0.9 - time / frames / 2) + channel) * (1 + 0.1 * channel)
    return (tone + mixed([frames, channels], low=-0.1, high=0.1)).astype(numpy.float32)


def written(audio, rate=16000):
    """The bytes of a file."""
    return tensorflow_outputs("EncodeWav", (audio, i32(rate)), {})[0].item()


def files():
    for audio in (sound(50), sound(33, 2), sound(1, 3), f32([[-1], [1], [0.99999], [0.5 / 32768], [2], [-3]])):
        for rate in (1, 44100, 2**31 - 1):
            case("EncodeWav", audio, i32(rate))
        data = text(written(audio))
        for channels in (-1, 0, 1, 2, 4):
            for samples in (-1, 0, 7, 60):
                case("DecodeWav", data, desired_channels=channels, desired_samples=samples)
    file = written(sound(20, 2))
    case("DecodeWav", text(file[:36] + b"LIST\x06\x00\x00\x00abcdef" + file[36:]))
    for damaged in (b"", file[:11], file[:40], file[:60], b"RIFX" + file[4:], file[:8] + b"JUNK" + file[12:], file[:36],
                    file[:20] + b"\x06" + file[21:], file[:22] + b"\0\0" + file[24:], file[:34] + b"\x0c" + file[35:]):
        case("DecodeWav", text(damaged), fails=True)
    case("DecodeWav", text([file]), fails=True)
    case("EncodeWav", zeros([0, 1]), i32(1))
    for audio, rate in ((zeros([3, 0]), 1), (zeros([3]), 1), (zeros([3, 1]), 0), (zeros([3, 1]), -1)):
        case("EncodeWav", audio, i32(rate), fails=True)
    case("EncodeWav", zeros([3, 1]), i32([1, 2]), fails=True)


def spectrograms():
    for audio in (sound(200), sound(100, 2), sound(15)):
        for size, stride in ((16, 8), (20, 7), (2, 1), (16, 50)):
            for squared in (False, True):
                case("AudioSpectrogram", audio, window_size=size, stride=stride, magnitude_squared=squared, close=1e-5, near=1e-5)
    case("AudioSpectrogram", f32([[1], [NAN], [2], [3]]), window_size=2, stride=2)
    case("AudioSpectrogram", zeros([40, 0]), window_size=4, stride=4)
    for size, stride in ((1, 1), (4, 0), (0, 1), (-4, 2)):
        case("AudioSpectrogram", sound(20), window_size=size, stride=stride, fails=True)
    case("AudioSpectrogram", zeros([20]), window_size=4, stride=4, fails=True)


def coefficients():
    powers = numpy.abs(mixed([2, 5, 129], low=0, high=9)).astype(numpy.float32)
    for rate in (8000, 16000, 44100):
        case("Mfcc", powers, i32(rate), close=1e-5, near=1e-5)
    for low, high, filters, count in ((0, 2000, 10, 10), (100, 8000, 1, 1), (300, 3400, 20, 12), (3999, 4000, 5, 3)):
        case("Mfcc", powers, i32(16000), lower_frequency_limit=float(low), upper_frequency_limit=float(high),
             filterbank_channel_count=filters, dct_coefficient_count=count, close=1e-5, near=1e-5)
    case("Mfcc", zeros([1, 2, 65]), i32(16000), close=1e-5, near=1e-4)
    case("Mfcc", zeros([0, 2, 65]), i32(16000))
    for shape, rate in (([2, 65], 16000), ([1, 2, 1], 16000), ([1, 2, 0], 16000), ([1, 2, 65], 0)):
        case("Mfcc", zeros(shape), i32(rate), fails=True)
    for low, high, filters, count in ((-1, 4000, 40, 13), (4000, 4000, 40, 13), (20, 4000, 0, 13), (20, 4000, 40, 0), (20, 4000, 12, 13)):
        case("Mfcc", powers, i32(16000), lower_frequency_limit=float(low), upper_frequency_limit=float(high),
             filterbank_channel_count=filters, dct_coefficient_count=count, fails=True)


FAMILIES = (files, spectrograms, coefficients)
