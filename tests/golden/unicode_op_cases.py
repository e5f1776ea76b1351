"""More calls of single ops: on texts of Unicode; op_cases.py says what a case is."""
import itertools

from op_cases import case
from reference import i32, i64, text, tf

TEXTS = text(["", b"a", "h\u00e9llo".encode(), "\u4f60\U0001f600".encode(), b"\xff\xe4\xbd z\t\x80", b"\xed\xa0\x80\xf0\x9f\x98", b"\xc0\x80\xf5"])


def encodings():
    others = [("UTF-16BE", "h\u00e9\U0001f600".encode("utf-16-be") + b"\xd8\x00\x00a"), ("UTF-16LE", b"a\x00\x00\xd8"), ("UTF-16", b"\xff\xfea\x00b\x00"),
              ("UTF-32BE", "a\U0001f600".encode("utf-32-be") + b"\x00\x11\x00\x00"), ("latin1", b"h\xe9llo"), ("US-ASCII", b"a\xe9b"),
              ("SHIFT_JIS", b"\x83\x58\x81"), ("windows-1252", b"\x80\x81"), ("EUC-JP", b"\xa4\xb3\xff")]
    for output in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
        op = "UnicodeTranscode"
        for errors in ("replace", "ignore"):
            case(op, TEXTS, input_encoding="UTF-8", output_encoding=output, errors=errors)
        for encoding, value in others:
            case(op, text([value]), input_encoding=encoding, output_encoding=output)
        case(op, text([["a\tb"]]), input_encoding="UTF-8", output_encoding=output, replace_control_characters=True, replacement_char=32)
        case(op, text("a"), input_encoding="UTF-8", output_encoding=output, errors="strict")
        case(op, TEXTS, input_encoding="UTF-8", output_encoding=output, errors="strict", fails=True)
        values = i32([72, 233, 0x4F60, 0x1F600, -1, 0x110000, 0xD800, 65, 0xD83D, 0xDE00])
        for errors, splits in itertools.product(("replace", "ignore"), (i64([0, 2, 2, 10]), i32([0, 10]))):
            case("UnicodeEncode", values, splits, output_encoding=output, errors=errors)
        case("UnicodeEncode", values, i64([0, 10]), output_encoding=output, replacement_char=63)
        case("UnicodeEncode", i32([]), i64([0]), output_encoding=output)
        case("UnicodeEncode", values, i64([0, 10]), output_encoding=output, errors="strict", fails=True)
    case("UnicodeEncode", i32([65]), i64([0, 2]), output_encoding="UTF-8", fails=True)
    case("UnicodeEncode", i32([65]), i64([]), output_encoding="UTF-8", fails=True)
    for op in ("UnicodeDecode", "UnicodeDecodeWithOffsets"):
        for errors in ("replace", "ignore"):
            case(op, TEXTS, input_encoding="UTF-8", errors=errors)
        for encoding, value in others:
            case(op, text([value, b""]), input_encoding=encoding)
        case(op, text([["a\tb"]]), input_encoding="UTF-8", replace_control_characters=True, replacement_char=32)
        case(op, text(["a\tb"]), input_encoding="UTF-8", replace_control_characters=True, errors="strict")
        case(op, text("ab"), input_encoding="UTF-8", errors="strict")
        case(op, TEXTS, input_encoding="UTF-8", errors="strict", fails=True)
        case(op, TEXTS, input_encoding="klingon", fails=True)
        case(op, TEXTS, input_encoding="UTF-8", replacement_char=0x110000, fails=True)
    case("UnicodeDecode", TEXTS, input_encoding="UTF-8", Tsplits=tf.int32)  # with offsets, TensorFlow crashes
    case("UnicodeScript", i32([97, 0x411, 0x82B8, 44, -100, 0xFFFFFF, 0x10FFFF]))
    case("UnicodeScript", i32([[0x3B1], [0x627]]))
    case("UnicodeScript", i32(0x5D0))
    case("UnicodeScript", i32([]))


FAMILIES = (encodings,)
