"""Ops on strings; op_cases.py says what a case is."""
import itertools

import numpy

from op_cases import case
from reference import COMPLEX, FLOATS, INF, INTEGERS, NAN, boolean, f32, f64, i32, i64, mixed, tf, text, u8, zeros

LONG = "the quick brown fox jumps over the lazy dog, and then over the moon; "


def joins():
    for separator in ("", ", "):
        case("StringJoin", [text(["a", "", "c"]), text("-"), text(["x", "y", LONG])], separator=separator)
        case("StringJoin", [text("a"), text("b")], separator=separator)
        case("StringJoin", [text([["a", "b"], ["c", ""]])], separator=separator)
    case("StringJoin", [text([]), text("a")])
    case("StringJoin", [text(["a"]), text(["b", "c"])], fails=True)
    case("StringJoin", [text(["a"]), text([["a"]])], fails=True)
    op, box = "ReduceJoin", text([[["a", "b"], ["c", "d"], ["e", ""]], [["g", "h"], ["i", LONG], ["k", "l"]]])
    for axes, keep in itertools.product(([], [0], [1], [2], [-1], [0, 1], [1, 0], [2, 0], [0, 1, 2], [-1, -2, -3]), (False, True)):
        case(op, box, i32(axes), keep_dims=keep, separator="." if keep else "")
    case(op, box, i32(1))
    case(op, text("a"), i32([]))
    case(op, zeros([2, 0], object), i32([1]), separator="x")
    case(op, zeros([0, 2], object), i32([1]), separator="x")
    for axes in ([0, 0], [0, -3], 3, -4):
        case(op, box, i32(axes), fails=True)
    op = "UnsortedSegmentJoin"
    for ids, segments in itertools.product((i32, i64), (i32, i64)):
        case(op, text(["a", "b", "c", "", "e"]), ids([2, 0, 2, 0, 0]), segments(4), separator=":")
    case(op, text(["", "a", "", "b"]), i32([0, 0, 0, 0]), i32(1), separator=",")
    case(op, text([["a", "b"], ["c", "d"], ["e", "f"]]), i32([1, 1, 0]), i32(2), separator="-")
    case(op, text([["a", "b"], ["c", "d"]]), i32([[1, 0], [0, 1]]), i32(2))
    case(op, text([]), i32([]), i32(2))
    for ids, segments in (([0, 2], 2), ([0, -1], 2), ([0], 2), (0, 2), ([0, 1], -1)):
        case(op, text(["a", "b"]), i32(ids), i32(segments), fails=True)


def splits():
    op, lines = "StringSplit", text(["a b  c", "", " ", "no,more;;words", LONG])
    for delimiter, skip in itertools.product(("", " ", ",; "), (False, True)):
        case(op, lines, text(delimiter), skip_empty=skip)
    case(op, text([]), text(" "))
    op = "StringSplitV2"
    spaced = text([" a b ", "a", "", " \t\n", "a  b c", "a, b,, c", LONG])
    for sep, most in itertools.product(("", " ", ",", ", "), (-1, 0, 1, 2, 100)):
        case(op, spaced, text(sep), maxsplit=most)
    case(op, text(["aXXXXXb", "XX", "X"]), text("XX"))
    case(op, text([]), text(""))
    for op in ("StringSplit", "StringSplitV2"):
        case(op, text("a b"), text(" "), fails=True)
        case(op, text(["a b"]), text([" "]), fails=True)


UTF8 = ["", "hello", "h\u00e9llo \u4e2d\u6587 \U0001f600", b"\x80\x80a", b"a\xff\xc3b\xe4\xb8", "e\u0301"]


def letters():
    for unit in ("BYTE", "UTF8_CHAR"):
        case("StringLength", text(UTF8), unit=unit)
        case("StringLength", text("\u00e9"), unit=unit)
        case("StringLength", zeros([0, 2], object), unit=unit)
    case("StringStrip", text([["\t\n\v\f\r a b \0 ", "\u00a0a"], ["  ", LONG]]))
    case("StringStrip", text(" a "))
    case("StringStrip", text([]))
    words = ["AbC zZ[`{@", "\u00c4b\u1e9e\u0130", "\u0391\u03a3 \u03a3\u0391\u03a3. \u03a3", "O\u2019\u03a3\u2019A \u0391\u03a3\u0301",
             "\u00df\u0149\u01c6\ufb01a\u00ff\u0131\u017f", "\u01c4\u01c5\u01c6", "\U00010400\U00010428",
             b"a\xff\xc3b\xe4\xb8a\xf0\x9f\x98z\xed\xa0\x80\xc0\xafq", LONG]
    for op, encoding in itertools.product(("StringLower", "StringUpper"), ("", "utf-8")):
        case(op, text(words), encoding=encoding)
        case(op, text("aB"), encoding=encoding)
        case(op, text([]), encoding=encoding)
    newer = {0x2C2F, 0x2C5F, 0xA7C0, 0xA7C1, *range(0xA7D0, 0xA7DA), *range(0x10570, 0x105BD)}  # than the Unicode of TensorFlow
    every = [c for c in range(0x80, 0x1E944) if not 0xD800 <= c < 0xE000 and c not in newer and (chr(c).lower(), chr(c).upper()) != (chr(c), chr(c))]
    for op in ("StringLower", "StringUpper"):
        for first in range(0, len(every), 100):
            case(op, text(["".join(map(chr, every[first:first + 100])).replace("\u03a3", "")]), encoding="utf-8")
        case(op, text("a"), encoding="latin-1", fails=True)
        whole = text(["a\0b" if op == "StringLower" else "A\0B"])
        case(op, text(["a\0b"]), encoding="utf-8", ours=[whole], why="a byte 0 does not end a string")


def parts():
    op, words = "Substr", text(["hello", "h\u00e9llo \u4e2d\u6587 \U0001f600", LONG])
    for unit, index in itertools.product(("BYTE", "UTF8_CHAR"), (i32, i64)):
        for pos, count in ((0, 3), (2, 100), (5, 1), (-3, 2), (-5, 100), (1, 0), (-1, 0)):
            case(op, words, index(pos), index(count), unit=unit)
        case(op, words, index([0, 1, -2]), index([1, 5, 2]), unit=unit)
        case(op, words, index([[0], [1]]), index([[2], [3]]), unit=unit)
        case(op, text("hello"), index([[0, 4], [1, 2]]), index([[2, 3], [1, 0]]), unit=unit)
        case(op, text(["", "a"]), index(0), index(1), unit=unit)
        case(op, text([]), index(7), index(1), unit=unit)
        case(op, words, index(1), index(-1), unit=unit)
        for pos in (6, -6):
            case(op, text(["hello"]), index([pos]), index([1]), unit=unit, fails=True)
        case(op, words, index([0]), index(1), unit=unit, fails=True)
        case(op, words, index([0, 1]), index([1, 1]), unit=unit, fails=True)
        for pos, count in ((2**62, 1), (-2**63, 1), (-2**63, 2**63 - 1)):
            case(op, words, i64(pos), i64(count), unit=unit, fails=True)
        case(op, words, i64(-3), i64(2**63 - 1), unit=unit)
    case(op, text(["\u00e9\u4e2d", b"\x80\x80a"]), i32(-2), i32(1), unit="UTF8_CHAR")
    case(op, words, i32(-3), i32(-1), unit="BYTE")
    case(op, words, i32(-3), i32(-1), unit="UTF8_CHAR", fails=True)
    deep = text([[["ab"]], [["cd"]]])
    case(op, deep, i32([[[0], [1]]]), i32([[[1], [1]]]), ours=[text([[["a"], ["b"]], [["c"], ["d"]]])],
         why="any number of dimensions broadcasts")


def numbers():
    op = "StringToNumber"
    whole = ["1", "+1", " 1 ", "\t00012\n", "\v7", "2147483647", "0"]
    for dtype in (tf.float32, tf.float64, tf.int32, tf.int64, tf.uint32, tf.uint64):
        case(op, text(whole), out_type=dtype)
        case(op, text("7"), out_type=dtype)
        case(op, text([]), out_type=dtype)
        for wrong in ("", " ", "a", "1 2", "+-1", "-+1", "- 1", "--1", "1_0", "0b1", "1\0", "\u0661", "1f", "0x", "."):
            case(op, text(["1", wrong]), out_type=dtype, fails=True)
    case(op, text(["-1", "-2147483648", "-0"]), out_type=tf.int32)
    case(op, text(["9223372036854775807", "-9223372036854775808"]), out_type=tf.int64)
    case(op, text(["4294967295"]), out_type=tf.uint32)
    case(op, text(["18446744073709551615"]), out_type=tf.uint64)
    for dtype, wrong in ((tf.int32, "2147483648"), (tf.int32, "-2147483649"), (tf.int64, "9223372036854775808"), (tf.uint32, "-1"),
                         (tf.uint32, "4294967296"), (tf.uint64, "-0"), (tf.uint64, "18446744073709551616"), (tf.int32, "1.0"),
                         (tf.int32, "1e3"), (tf.int32, "inf"), (tf.int32, "0x1")):
        case(op, text([wrong]), out_type=dtype, fails=True)
    real = ["1.5e3", "1E5", "1.", ".5", "+.5", "-0", "1e400", "-1e400", "1e-400", "-1e-400", "1e99999999999", "-1e-99999999999", "0e99999999999",
            "0x1F", "-0x1f", "+0X1.8p3", "0x.8", "0x1.", "0x1p-3", "0x1p99999", "0x1p-99999", "0x" + "f" * 400, "0x0." + "0" * 400 + "1",
            "inf", "+INF", "-Infinity", "nan", "NaN", "nan()", "nan(a_b)", "3.4028235e38", "3.4028236e38", "1.7976931348623157e308",
            "1.7976931348623159e308", "4.9e-324", "2e-324", "1e-40", "1" * 400, "0." + "0" * 400 + "1", "0." + "1" * 40,
            "0x123456789012345678901", "16777217", "9007199254740993", "0.1", "123456789.123456789"]
    for dtype in (tf.float32, tf.float64):
        case(op, text(real), out_type=dtype)
        for wrong in ("1e", "1e+", "1,5", "e5", "infi", "infinityx", "nan(", "nan(-)", "0x1g", "0x1p", "0x.", "0x 1", "+ inf", "1e5.5", "1.5d", "in"):
            case(op, text([wrong]), out_type=dtype, fails=True)


def shown_numbers():
    op = "AsString"
    formats = [dict(), dict(width=9), dict(width=9, fill="0"), dict(width=9, fill="-"), dict(fill="+"), dict(width=9, fill="+"), dict(fill=" "),
               dict(fill="#"), dict(width=0)]
    notations = [dict(precision=2), dict(precision=0), dict(precision=0, fill="#"), dict(shortest=True), dict(scientific=True),
                 dict(shortest=True, fill="#"), dict(shortest=True, precision=3), dict(shortest=True, precision=0, fill="#"),
                 dict(scientific=True, precision=0), dict(scientific=True, precision=0, fill="#"),
                 dict(scientific=True, precision=3, width=12, fill="0"), dict(shortest=True, precision=12), dict(precision=30)]
    for dtype in INTEGERS:
        limits = numpy.iinfo(dtype)
        for how in formats:
            case(op, numpy.array([limits.min, limits.max, 0, 1, 42], dtype=dtype), **how)
        case(op, numpy.array(7, dtype=dtype))
        case(op, zeros([0, 2], dtype))
        for wrong in (dict(precision=2), dict(shortest=True), dict(scientific=True)):
            case(op, numpy.array([1], dtype=dtype), fails=True, **wrong)
    for dtype in FLOATS:
        large = [1e20, 1e-7, 1e30] if dtype in (numpy.float32, numpy.float64) else []
        values = [1.5, -2.25, 0, -0.0, 100000, 0.0001, 0.00001, 999999.5, NAN, INF, -INF] + large
        for how in formats + notations:
            case(op, numpy.array(values, dtype=dtype), **how)
        case(op, numpy.array(0.125, dtype=dtype))
    for how in formats + notations:
        case(op, f64([1e300, -1e-300, 5e-324, 123456789.123456789, 9.9999999e22]), **how)
        case(op, text(["a", "", "abcdefghijkl", "\u00e9"]), **how)
        for dtype in COMPLEX:
            case(op, numpy.array([1 + 2j, -0.5 - 1e10j], dtype=dtype), **how)
    for how in formats:
        case(op, boolean([True, False]), **how)
    case(op, boolean([True]), precision=1, fails=True)
    for wrong in (dict(fill="x"), dict(fill="00"), dict(shortest=True, scientific=True)):
        case(op, f32([1]), fails=True, **wrong)


def hashes():
    pattern = "".join(chr(ord("0") + (7 * i * i + 13 * i + 5) % 75) for i in range(301))
    every = text([pattern[:n] for n in [*range(70), 127, 128, 129, 191, 192, 193, 255, 256, 300]] + [bytes(range(128, 152))])
    keyed = "StringToHashBucketStrong"
    for op, attrs in (("StringToHashBucketFast", {}), ("StringToHashBucket", {}), (keyed, dict(key=[7, -9])), (keyed, dict(key=[0, 2**62 + 1]))):
        case(op, every, num_buckets=2**63 - 1, **attrs)
        for buckets in (1, 10):
            case(op, text(["a", "", LONG]), num_buckets=buckets, **attrs)
        case(op, text("a"), num_buckets=100, **attrs)
        case(op, zeros([2, 0], object), num_buckets=100, **attrs)
        case(op, text("a"), num_buckets=0, fails=True, **attrs)
    for key in ([], [1], [1, 2, 3]):
        case(keyed, text("a"), num_buckets=10, key=key, fails=True)
    op, method = "Fingerprint", text("farmhash64")
    case(op, every, method)
    case(op, text([["abc", "d"], ["", LONG]]), method)
    for dtype in FLOATS + INTEGERS + COMPLEX:
        case(op, mixed([2, 3], numpy.float32, 0, 9).astype(dtype), method)
    case(op, boolean([True, False]), method)
    case(op, zeros([2, 0]), method)
    case(op, zeros([0, 3]), method)
    nothing = u8([[79, 64, 144, 47, 59, 106, 225, 154]] * 2)
    case(op, zeros([2, 0], object), method, ours=[nothing],
         why="a row without strings has the fingerprint of no bytes; TensorFlow's is not set")
    for data, wrong in ((text("a"), method), (text(["a"]), text("md5")), (text(["a"]), text(["farmhash64"]))):
        case(op, data, wrong, fails=True)


def base64():
    values = [bytes((31 * i + n) % 256 for i in range(n)) for n in range(20)]
    for pad in (False, True):
        case("EncodeBase64", text(values), pad=pad)
        case("EncodeBase64", text("a"), pad=pad)
        case("EncodeBase64", text([]), pad=pad)
    op = "DecodeBase64"
    case(op, text([["", "YQ", "YQ=="], ["YWI", "YWI=", "YWJj"], ["YWJjYQ==", "-_8", "YR"]]))
    case(op, text("YWJjZA"))
    case(op, text([]))
    for wrong in ("YQ=", "Y", "YW==YQ==", "Y=Q=", "====", "+/", "YWJjY", "YQ\n", "\u00e9", "YQ==="):
        case(op, text(["YQ", wrong]), fails=True)


def patterns():
    lines = text([["abcab", "h\u00e9llo"], ["", "a1b22"]])
    for pattern, rewrite, every in itertools.product(("a", "[0-9]+", "(a)(b)", "", ".", "^.*$", "(?i)B|L"), ("", "<\\0>", "\\\\x"), (False, True)):
        case("RegexReplace", lines, text(pattern), text(rewrite), replace_global=every)
        case("StaticRegexReplace", lines, pattern=pattern, rewrite=rewrite, replace_global=every)
    case("RegexReplace", lines, text("(a)(b)?"), text("\\2\\1"))
    case("RegexReplace", text(b"\xff\xfea"), text("."), text("x"))
    for pattern in ("a", "a.*", "(?s).*", "", "h\u00e9l+o", "[ab]*"):
        case("RegexFullMatch", lines, text(pattern))
        case("StaticRegexFullMatch", lines, pattern=pattern)
    for values in (text("abc"), text([])):
        case("RegexReplace", values, text("b"), text("x"))
        case("StaticRegexReplace", values, pattern="b", rewrite="x")
        case("RegexFullMatch", values, text("abc"))
        case("StaticRegexFullMatch", values, pattern="abc")
    for wrong in ("(b", "b[", "*", "a**{3", "(a{1000}){1000}", "\\8"):
        case("RegexReplace", lines, text(wrong), text(""), fails=True)
        case("RegexFullMatch", lines, text(wrong), fails=True)
        case("StaticRegexReplace", lines, pattern=wrong, rewrite="", fails=True)
        case("StaticRegexFullMatch", lines, pattern=wrong, fails=True)
    case("RegexReplace", lines, text(["a"]), text("b"), fails=True)
    case("RegexReplace", lines, text("a"), text(["b"]), fails=True)
    case("RegexFullMatch", lines, text(["a"]), fails=True)
    for rewrite in ("\\1", "\\", "\\x"):
        why = "a rewrite that says nothing is an error; TensorFlow leaves the text, or cuts it"
        case("RegexReplace", lines, text("a"), text(rewrite), ours="fails", why=why)
        case("StaticRegexReplace", lines, pattern="a", rewrite=rewrite, ours="fails", why=why)


def ngrams():
    op, words = "StringNGrams", text(list("abcdef") + [LONG])
    plain = dict(separator="|", left_pad="<", right_pad=">>", preserve_short_sequences=False)
    for widths, pads, short in itertools.product(([1], [2], [3, 2], [5], []), (-1, 0, 1, 9), (False, True)):
        for splits in ([0, 3, 7], [0, 0, 1, 1, 7, 7]):
            if widths or pads >= 0 or not short:
                case(op, words, i64(splits), **{**plain, "preserve_short_sequences": short}, ngram_widths=widths, pad_width=pads)
    case(op, words, i64([0, 7]), **{**plain, "preserve_short_sequences": True}, ngram_widths=[9], pad_width=2)
    case(op, words, i32([0, 2, 7]), **{**plain, "separator": ""}, ngram_widths=[2], pad_width=0)
    for splits in ([0], []):
        case(op, text([]), i64(splits), **plain, ngram_widths=[2], pad_width=-1)
    for splits in ([1, 7], [0, 3], [0, 8], [-1, 7], [0, 5, 3, 7], [7], 0, [[0, 7]]):
        case(op, words, i64(splits), **plain, ngram_widths=[2], pad_width=-1, fails=True)
    for widths in ([0], [2, -1]):
        case(op, words, i64([0, 7]), **plain, ngram_widths=widths, pad_width=0, fails=True)


def formats():
    op = "StringFormat"
    arrays = [f32(1), f32([1.5, 2, 1e10, 1e-7, 0.1, NAN, INF, -INF, -0.0]), f64([1 / 3, 0.1, 1e300]), f32([1 / 3, 16777216, 1e38]),
              boolean([True, False]), text(["a\n", "b\"c", "h\u00e9\\'\t"]), text(b"\xff\x01'"), i32(numpy.arange(24).reshape(2, 3, 4)),
              i64(numpy.arange(10)), zeros([0]), zeros([2, 0]), zeros([3, 0, 2]), u8([1, 255]), numpy.array([1.1, 65504], numpy.float16),
              i32(numpy.arange(20).reshape(10, 2)), zeros([1, 2, 2, 1])]
    for array, summarize in itertools.product(arrays, (-1, 0, 1, 3)):
        differs = dict(ours=[text("<[ ...]>")], why="TensorFlow shows no brackets of bools alone") if array.dtype == bool and summarize == 0 else {}
        case(op, [array], template="<%s>", summarize=summarize, **differs)
    case(op, [], template="none")
    case(op, [i32(1), text("a")], template="{}, {}", placeholder="{}")
    case(op, [i32(1)])
    for template in ("none", "%s%s"):
        case(op, [i32(1)], template=template, fails=True)


def column(values, rows, size=2):
    """A sparse matrix whose rows have so many values each."""
    return [[i, k] for i, count in enumerate(rows) for k in range(count)], values, [len(rows), size]


def cross(op, columns, dense, *more, **attrs):
    indices = [i64(numpy.array(one[0]).reshape(-1, 2)) for one in columns]
    case(op, indices, [one[1] for one in columns], [i64(one[2]) for one in columns], dense, *more, **attrs)


def crosses():
    words, numbers = column(text(["a", "b", "c"]), [2, 1]), column(i64([-5, 1 << 40, 7]), [1, 2])
    none, gaps = column(text([]), [0, 0]), column(text(["x", LONG]), [0, 2])
    dense_words, dense_numbers = text([["p", "q"], ["r", ""]]), i64([[1], [-2]])
    inputs = [([words, numbers], []), ([words], []), ([numbers, gaps, words], []), ([words, none], []), ([], [dense_words, dense_numbers]),
              ([words], [dense_numbers, dense_words]), ([gaps, numbers], [dense_words]), ([], [text([["a"], ["b"], ["c"]])]),
              ([words], [numpy.zeros([2, 0], numpy.int64)])]
    for columns, dense in inputs:
        hashed = dict(hashed_output=True, out_type=tf.int64, internal_type=tf.int64)
        cross("SparseCross", columns, dense, num_buckets=0, hash_key=956888297470, **hashed)
        cross("SparseCross", columns, dense, num_buckets=100, hash_key=-1, **hashed)
        cross("SparseCross", columns, dense, hashed_output=False, num_buckets=0, hash_key=1, out_type=tf.string, internal_type=tf.int64)
        cross("SparseCrossV2", columns, dense, text("-"))
    wrong = [([column(text(["a", "b"]), [2])], [dense_words]), ([words, column(text(["a"]), [1])], []), ([], [text(["a"])]),
             ([], [dense_words, text([["a"]])]), ([([[0, 0]], text(["a", "b"]), [2, 2])], []), ([([[0, 0]], text(["a"]), [2])], [])]
    for columns, dense in wrong:
        cross("SparseCrossV2", columns, dense, text("-"), fails=True)
    why = "rows that do not ascend are an error; TensorFlow leaves them out"
    for unordered in ([[1, 0], [0, 0]], [[0, 0], [2, 0]]):
        cross("SparseCrossV2", [(unordered, text(["a", "b"]), [2, 2])], [], text("-"), ours="fails", why=why)
    cross("SparseCrossV2", [words], [], text(["-"]), fails=True)


def sharded_filenames():
    for base, shard, shards in (("base", 3, 10), ("", 0, 0), ("a/b", 123456, 1234567), ("b", -3, -10)):
        case("ShardedFilename", text(base), i32(shard), i32(shards))
        case("ShardedFilespec", text(base), i32(shards))
    for op, more in (("ShardedFilename", [i32(1), i32(2)]), ("ShardedFilespec", [i32(2)])):
        case(op, text(["a"]), *more, fails=True)
        case(op, text("a"), *[i32([1])] * len(more), fails=True)


FAMILIES = (joins, splits, letters, parts, numbers, shown_numbers, hashes, base64, patterns, ngrams, formats, crosses, sharded_filenames)
