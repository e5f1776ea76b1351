"""Calls of ops that parse and write strings: Examples, CSV, raw bytes, JSON, TensorProtos, summaries; op_cases.py says what a case is."""
import gzip
import itertools
import struct
import zlib

import numpy
import tensorflow

from op_cases import case
from layout_op_cases import REALS
from reference import BFLOAT16, COMPLEX, f32, f64, i32, i64, boolean, mixed, ramp, text, tf, zeros

train = tensorflow.train
SHAPE = tf.TensorShape
NONE = text([])
FLOAT, INT, STRING = tf.float32, tf.int64, tf.string
NUMBERS = [numpy.float16, numpy.float32, numpy.float64, numpy.int32, numpy.uint16, numpy.uint8, numpy.int16, numpy.int8, numpy.int64]


def feature(value):
    if value is None:
        return train.Feature()
    if isinstance(value, str):  # the list of this kind without values
        made = train.Feature()
        getattr(made, value).SetInParent()
        return made
    if isinstance(value[0], bytes):
        return train.Feature(bytes_list=train.BytesList(value=value))
    if isinstance(value[0], float):
        return train.Feature(float_list=train.FloatList(value=value))
    return train.Feature(int64_list=train.Int64List(value=value))


def features(values):
    return train.Features(feature={key: feature(value) for key, value in values.items()})


def example(**values):
    return train.Example(features=features(values)).SerializeToString(deterministic=True)


def sequence(context, **lists):
    made = {key: train.FeatureList(feature=[feature(value) for value in rows]) for key, rows in lists.items()}
    whole = train.SequenceExample(context=features(context), feature_lists=train.FeatureLists(feature_list=made))
    return whole.SerializeToString(deterministic=True)


def message(number, content):
    assert len(content) < 128
    return bytes([number << 3 | 2, len(content)]) + content


def handmade(key, content):
    """An Example of one feature whose list is written by hand."""
    return message(1, message(1, message(1, key) + message(2, content)))


UNPACKED_FLOATS = handmade(b"f", message(2, b"".join(b"\x0d" + struct.pack("<f", x) for x in (1.5, -2.0))))
UNPACKED_INTS = handmade(b"i", message(3, b"\x08\x05\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
BATCH = text([example(f=[1.5, -2.0], i=[7, -1], s=[b"a", b"\x00\xff"], n=[1]), example(f=[0.0, 3.0], i=[2**62, -2**63], s=[b"", b"long" * 20]),
              UNPACKED_FLOATS + UNPACKED_INTS + example(s=[b"x", b"y"])])
RAGGED = text([example(f=[1.0], s=[b"a", b"b", b"c"]), example(), example(i=[1, 2, 3, 4], f=[2.0, 3.0]), example(f="float_list", i=None, s=[b""])])


def v1(serialized, names=NONE, sparse=(), dense=(), **more):
    """sparse: (key, dtype); dense: (key, default, shape)."""
    case("ParseExample", serialized, names, [text(key) for key, _ in sparse], [text(key) for key, _, _ in dense],
         [default for _, default, _ in dense], sparse_types=[dtype for _, dtype in sparse], dense_shapes=[shape for _, _, shape in dense], **more)


def v2(serialized, names=NONE, sparse=(), dense=(), ragged=(), **more):
    """ragged: (key, dtype, dtype of the splits)."""
    case("ParseExampleV2", serialized, names, text([key for key, _ in sparse]), text([key for key, _, _ in dense]),
         text([key for key, _, _ in ragged]), [default for _, default, _ in dense], num_sparse=len(sparse),
         sparse_types=[dtype for _, dtype in sparse], ragged_value_types=[dtype for _, dtype, _ in ragged],
         ragged_split_types=[dtype for _, _, dtype in ragged], dense_shapes=[shape for _, _, shape in dense], **more)


def single(serialized, sparse=(), dense=(), **more):
    case("ParseSingleExample", serialized, [default for _, default, _ in dense], num_sparse=len(sparse),
         sparse_keys=[key.encode() for key, _ in sparse], dense_keys=[key.encode() for key, _, _ in dense],
         sparse_types=[dtype for _, dtype in sparse], dense_shapes=[shape for _, _, shape in dense], **more)


FIXED = [("f", f32([]), SHAPE([2])), ("i", i64([]), SHAPE([2, 1])), ("s", text([]), SHAPE([2]))]
FILLED = [("f", f32([8, 9]), SHAPE([2])), ("i", i64([[3, 4]]), SHAPE([1, 2])), ("s", text(["p", "q"]), SHAPE([2]))]
PADDED = [("f", f32(9), SHAPE([None])), ("i", i64([7]), SHAPE([None, 2])), ("s", text("z"), SHAPE([None, 1, 1]))]
SPARSE = [("f", FLOAT), ("i", INT), ("s", STRING), ("missing", FLOAT)]


def examples():
    some = text([example(f=[1.0, 2.0], i=[1, 2]), example(s=[b"a", b"b"]), example()])
    for call in (v1, v2):
        call(BATCH, dense=FIXED)
        call(BATCH, text(["one", "two", "three"]), SPARSE)
        call(some, dense=FILLED)
        call(BATCH, dense=PADDED)
        call(RAGGED, sparse=SPARSE)
        call(RAGGED, sparse=[("s", STRING)], dense=[("i", i64(0), SHAPE([None])), ("f", f32(5), SHAPE([None]))])
        call(NONE, sparse=SPARSE[:1], dense=[("i", i64([1]), SHAPE([1])), ("s", text("z"), SHAPE([None, 2]))])
        call(text([""]), sparse=SPARSE[:1], dense=[("i", i64([[1, 2]]), SHAPE([1, 2]))])
        call(text([example(f=[1.0]) + example(f=[2.0])]), sparse=SPARSE[:1])
        call(text([example(f=[1.0])]), dense=[("f", f32([]), SHAPE([]))])
        call(text([example(f=[1.0]) + b"\x10\x07\x1a\x01x"]), sparse=SPARSE[:1])
        for dense in ([("f", f32([]), SHAPE([3]))], [("f", i64([]), SHAPE([2]))], [("missing", f32([]), SHAPE([1]))],
                      [("f", f32([1]), SHAPE([2]))], [("f", f32([1, 2]), SHAPE([None]))], [("f", f32(0), SHAPE([None, 3]))],
                      [("f", f32([]), SHAPE([2, None]))], [("s", text([]), SHAPE([1]))], [("i", i64([]), SHAPE([5]))]):
            call(BATCH, dense=dense, fails=True)
        call(BATCH, sparse=[("f", INT)], fails=True)
        call(BATCH, text(["one", "two"]), SPARSE, fails=True)
        for damaged in (b"\x0a", b"\x0a\x05\x0a", b"\x0b", handmade(b"f", b"\x12\x03\x0a\x05\x00"),
                        handmade(b"f", b"\x22\x00")):
            call(text([damaged]), sparse=SPARSE[:1], fails=True)
        call(text([handmade(b"i", message(3, message(1, b"\xff" * 11)))]), sparse=SPARSE[1:2], fails=True)
    splits = [("f", FLOAT, tf.int32), ("i", INT, tf.int64), ("s", STRING, tf.int32)]
    for batch in (RAGGED, BATCH, NONE):
        v2(batch, ragged=splits)
    v2(BATCH, sparse=SPARSE[:1], dense=FIXED[1:2], ragged=splits[2:])
    v2(RAGGED, ragged=[("f", INT, tf.int64)], fails=True)
    for one in BATCH:
        for call, more in ((v2, dict(ragged=splits[:0])), (single, {})):
            one = numpy.array(one, dtype=object)
            call(one, sparse=SPARSE, **more)
            call(one, dense=FIXED, **more)
            call(one, dense=PADDED, **more)
    v2(numpy.array(BATCH[0], dtype=object), ragged=splits)
    for call in (v2, single):
        call(text(""), sparse=SPARSE, dense=[("a", f32([1, 2]), SHAPE([2])), ("b", text("z"), SHAPE([None, 2]))])
        call(text(""), dense=FIXED[:1], fails=True)
        call(text(example(f=[1.0])), dense=FIXED[:1], fails=True)
        call(text(example(f=[1.0])), dense=[("f", f32(0), SHAPE([None, 2]))], fails=True)
        call(text(b"\x0a\x05\x0a"), sparse=SPARSE[:1], fails=True)
    single(text([example()]), fails=True)
    single(text(""), sparse=[("a", FLOAT)], dense=[("b", f32([1]), SHAPE([2]))], fails=True)


SEQUENCES = [sequence({"c": [1, 2], "d": [1.5]}, f=[[1, 2], [3], "int64_list"], g=[[1.0, 2.0], [3.0, 4.0]], s=[[b"a"], [b"b"], [b"c"]]),
             sequence({"d": [2.5]}, g=[[5.0, 6.0]], f=[]),
             sequence({"c": [5], "d": [0.0]}, f=["int64_list", [7, 8, 9]], g=[], s=[[b""]])]


def of_lists(context_sparse, context_dense, list_sparse, list_dense):
    return dict(context_sparse_types=[dtype for _, dtype in context_sparse], context_dense_shapes=[shape for _, _, shape in context_dense],
                feature_list_sparse_types=[dtype for _, dtype in list_sparse], feature_list_dense_types=[dtype for _, dtype, _ in list_dense],
                feature_list_dense_shapes=[shape for _, _, shape in list_dense])


def keys(features_):
    return [one[0].encode() for one in features_]


def batched(serialized, context_sparse=(), context_dense=(), list_sparse=(), list_dense=(), empty=(), **more):
    case("ParseSequenceExample", serialized, NONE, [default for _, default, _ in context_dense], context_sparse_keys=keys(context_sparse),
         context_dense_keys=keys(context_dense), feature_list_sparse_keys=keys(list_sparse), feature_list_dense_keys=keys(list_dense),
         feature_list_dense_missing_assumed_empty=[key.encode() for key in empty], Ncontext_sparse=len(context_sparse),
         Ncontext_dense=len(context_dense), Nfeature_list_sparse=len(list_sparse), Nfeature_list_dense=len(list_dense),
         **of_lists(context_sparse, context_dense, list_sparse, list_dense), **more)


def batched_v2(serialized, context_sparse=(), context_dense=(), list_sparse=(), list_dense=(), empty=(), context_ragged=(), list_ragged=(), **more):
    case("ParseSequenceExampleV2", serialized, NONE, text(keys(context_sparse)), text(keys(context_dense)), text(keys(context_ragged)),
         text(keys(list_sparse)), text(keys(list_dense)), text(keys(list_ragged)), boolean([key in empty for key, _, _ in list_dense]),
         [default for _, default, _ in context_dense], Ncontext_sparse=len(context_sparse), Nfeature_list_sparse=len(list_sparse),
         Nfeature_list_dense=len(list_dense), context_ragged_value_types=[dtype for _, dtype, _ in context_ragged],
         context_ragged_split_types=[dtype for _, _, dtype in context_ragged],
         feature_list_ragged_value_types=[dtype for _, dtype, _ in list_ragged],
         feature_list_ragged_split_types=[dtype for _, _, dtype in list_ragged],
         **of_lists(context_sparse, context_dense, list_sparse, list_dense), **more)


def one_sequence(serialized, context_sparse=(), context_dense=(), list_sparse=(), list_dense=(), empty=(), **more):
    case("ParseSingleSequenceExample", serialized, text(list(empty)), [text(key) for key, _ in context_sparse],
         [text(key) for key, _, _ in context_dense], [text(key) for key, _ in list_sparse], [text(key) for key, _, _ in list_dense],
         [default for _, default, _ in context_dense], text(""), **of_lists(context_sparse, context_dense, list_sparse, list_dense), **more)


def sequences():
    dense = [("g", FLOAT, SHAPE([2])), ("s", STRING, SHAPE([]))]
    context = [("d", f32([]), SHAPE([1]))]
    all_kinds = dict(context_sparse=[("c", INT)], context_dense=context, list_sparse=[("f", INT), ("missing", FLOAT)], list_dense=dense)
    for call, batches in ((batched, [text(SEQUENCES), text(SEQUENCES[:1])]), (batched_v2, [text(SEQUENCES), text(SEQUENCES[0]), text(SEQUENCES[2])]),
                          (one_sequence, [text(SEQUENCES[0]), text(SEQUENCES[2])])):
        for batch in batches:
            call(batch, **all_kinds, empty=("s",))
            call(batch, context_sparse=[("c", INT), ("missing", STRING)])
            call(batch, list_sparse=[("f", INT)])
            call(batch, list_dense=[("missing", INT, SHAPE([3]))], empty=("missing",))
            call(batch, context_dense=[("missing", text([["x", "y"]]), SHAPE([1, 2]))])
            call(batch, list_dense=[("missing", INT, SHAPE([3]))], fails=True)
            call(batch, context_dense=[("missing", text([]), SHAPE([2]))], fails=True)
            call(batch, context_dense=[("d", f32([1]), SHAPE([2]))], fails=True)
            call(batch, context_sparse=[("d", INT)], fails=True)
        call(batches[0], list_dense=[("g", INT, SHAPE([2]))], fails=True)
        call(batches[0], list_dense=[("g", FLOAT, SHAPE([3]))], fails=True)
        call(batches[0], list_sparse=[("g", INT)], fails=True)
        broken = b"\x12\x05\x0a\x01x"
        call(text([broken]) if batches[0].ndim else text(broken), list_sparse=[("f", INT)], fails=True)
    for call in (batched, batched_v2):
        call(NONE, context_sparse=[("c", INT)], list_sparse=[("f", INT)], list_dense=dense, empty=("g", "s"))
    for splits, batch in itertools.product((tf.int32, tf.int64), (text(SEQUENCES), NONE)):
        batched_v2(batch, context_ragged=[("c", INT, splits)], list_ragged=[("f", INT, splits), ("missing", STRING, splits)])
    batched_v2(text(SEQUENCES[0]), list_ragged=[("f", INT, tf.int64)],
               ours=[i64([1, 2, 3]), i64(3), i64([0, 2, 3, 3])], why="TensorFlow leaves the splits of the batch uninitialised")


def raw():
    for dtype in NUMBERS + [BFLOAT16] + COMPLEX + [numpy.bool_]:
        size = numpy.dtype(dtype).itemsize
        values = (ramp([2, 3], numpy.int8) % 2).astype(numpy.bool_) if dtype == numpy.bool_ else ramp([2, 3], dtype)
        strings = text([row.tobytes() for row in values])
        for little in (True, False):
            case("DecodeRaw", strings, out_type=tf.as_dtype(dtype), little_endian=little)
            if dtype in NUMBERS:
                for length in (size, 2 * size, 5 * size):
                    case("DecodePaddedRaw", strings, i32(length), out_type=tf.as_dtype(dtype), little_endian=little)
    op = "DecodeRaw"
    case(op, text("abcd"), out_type=tf.int16)
    case(op, text([["ab"], ["cd"]]), out_type=tf.uint8)
    case(op, text(["", ""]), out_type=tf.float32)
    case(op, NONE, out_type=tf.float32)
    case(op, zeros([0, 2], object), out_type=tf.float32)
    for strings in (["abc"], ["ab", "a"], ["a", ""]):
        case(op, text(strings), out_type=tf.int16, fails=True)
    op = "DecodePaddedRaw"
    case(op, text(["", "a", "abcdefghi"]), i32(4), out_type=tf.uint8)
    case(op, text([["ab"], [""]]), i32(2), out_type=tf.int16)
    case(op, NONE, i32(4), out_type=tf.int32)
    for length in (0, -4, 3):
        case(op, text(["abcd"]), i32(length), out_type=tf.int16, fails=True)


def csv():
    op = "DecodeCSV"

    def defaults(*types):
        return [zeros([0], numpy.dtype(dtype)) for dtype in types]

    number_types = (numpy.float32, numpy.float64, numpy.int32, numpy.int64)
    case(op, text(["1,2,3,4,a", "-1,-2.5,-3,-4,", " 1 ,1e3,007, 9223372036854775807,b"]), [f32([]), f64([]), i32([]), i64([]), text(["?"])])
    case(op, text([["1,2"], ["3,4"]]), defaults(numpy.int32, numpy.float32))
    case(op, text("5,6"), defaults(numpy.int64, numpy.float64))
    case(op, NONE, defaults(numpy.int64))
    case(op, text([",,,,", "NA,1,NA,2,NA"]), [f32([7]), f64(8), i32([9]), i64(10), text("none")], na_value="NA")
    for record in ['"a,b",c', '"a ""b"" c",""', '"line\nbreak",x', '\r\n"a",b', "a,", ",", '"""",x', '"","a"""']:
        case(op, text([record]), [text("."), text(".")])
    for delimiter in (";", "|", ":"):
        case(op, text([f"1{delimiter}2"]), defaults(numpy.int32, numpy.int32), field_delim=delimiter)
    case(op, text(['a"b,"c"', '""",d']), [text([]), text([])], use_quote_delim=False)
    case(op, text(["0,1,2,3", "4,5,6,"]), [i32([]), i32([9])], select_cols=[1, 3])
    case(op, text(["0,1,2,3", '4,5,6,"']), [i32([])], select_cols=[2])
    for value in ("1", "+1", " 1\t", "1.5", ".5", "5.", "-.5e-3", "0x10", "0x1p3", "inf", "-INF", "Infinity", "nan", "1e400", "1e-400", "-0"):
        for dtype in number_types[:2]:
            case(op, text([value]), defaults(dtype))
    for value in ("1", "+1", " 1\t", "007", "2147483647", "-2147483648"):
        for dtype in number_types[2:]:
            case(op, text([value]), defaults(dtype))
    for value, dtype in itertools.product(("1f", "1_0", "1e", "--1", "+-1", "1 2", " ", "x", "-", "0x"), number_types):
        case(op, text([value]), defaults(dtype), fails=True)
    for value, dtype in itertools.product(("1.5", "0x10", "9223372036854775808"), number_types[2:]):
        case(op, text([value]), defaults(dtype), fails=True)
    for record in ("", "a", "a,b,c", 'a"b,c', '"a"b,c', '"a,b', 'a,"', '"', "a\n,b", "a,b\n", "\n"):
        case(op, text([record]), [text("."), text(".")], fails=True)
    case(op, text([",b"]), [text([]), text([])], fails=True)
    case(op, text(["a"]), [text("."), text(".")], select_cols=[0, 1], fails=True)
    for attrs in (dict(field_delim=""), dict(field_delim="ab"), dict(select_cols=[1, 0]), dict(select_cols=[0]), dict(select_cols=[-1, 0]),
                  dict(select_cols=[1, 1])):
        case(op, text(["a,b"]), [text("."), text(".")], fails=True, **attrs)
    case(op, text(["a"]), [text(["a", "b"])], fails=True)
    case(op, text(["a"]), [text([["a"]])], fails=True)


def compressed():
    op = "DecodeCompressed"
    plain = [b"", b"a", b"hello " * 1000, bytes(range(256))]
    packed = [gzip.compress(one, mtime=0) for one in plain]
    case(op, text(plain))
    case(op, text([zlib.compress(one) for one in plain] + [b""]), compression_type="ZLIB")
    case(op, text([zlib.compress(b"abc", 0) + b"more"]), compression_type="ZLIB")
    case(op, text([packed + packed[::-1]]), compression_type="GZIP")
    case(op, text(packed[1] + packed[2]), compression_type="GZIP")


def tensors():
    for dtype in REALS + COMPLEX:
        for shape in ([], [2, 3], [0, 2]):
            value = ramp(shape, dtype)
            case("SerializeTensor", value)
            proto = tensorflow.make_tensor_proto(value)
            case("ParseTensor", text(proto.SerializeToString()), out_type=tf.as_dtype(dtype))
    for value in (text(["a", "", "bc" * 100]), text("x"), NONE, text([["a"], ["b"]]), boolean([True, False]), boolean(True)):
        case("SerializeTensor", value)
        case("ParseTensor", text(tensorflow.make_tensor_proto(value.tolist(), tf.string if value.dtype == object else tf.bool, value.shape)
                                 .SerializeToString()), out_type=tf.string if value.dtype == object else tf.bool)
    repeated = tensorflow.make_tensor_proto(7, tf.int32, [3, 2])
    case("ParseTensor", text(repeated.SerializeToString()), out_type=tf.int32)
    for serialized, dtype in ((b"", tf.float32), (b"\x08", tf.float32), (repeated.SerializeToString(), tf.int64), (b"\x08\x01\x12\x01", tf.float32)):
        case("ParseTensor", text(serialized), out_type=dtype, fails=True)
    case("ParseTensor", text([repeated.SerializeToString()]), out_type=tf.int32, fails=True)


def json():
    op = "DecodeJSONExample"
    good = ['{"features":{"feature":{"a":{"int64List":{"value":["1",2,"-3",1e2,5.0]}},"b":{"bytesList":{"value":["aGk=","","-_8","////"]}},'
            '"c":{"floatList":{"value":[1,2.5,"NaN","Infinity","-Infinity","1e3",-0.0]}}}}}', "{}", '{"features":null}', '{"features":{}}',
            ' { "features" : { "feature" : { "a" : { "int64_list" : { "value" : [ ] } } , "b" : { } } } } ',
            '{"features":{"feature":{"":{"float_list":{}},"\\u00e4":{"bytes_list":{"value":["QQ=="]}}}}}']
    case(op, text(good))
    case(op, text("{}"))
    case(op, text([good[:2], good[2:4]]))
    case(op, NONE)
    for bad in ("", "[]", '{"x":1}', '{"features":1}', '{"features":{"feature":{"a":{"floatList":{"value":["x"]}}}}}', "{", "{}x",
                '{"features":{"feature":{"a":{"floatList":{"value":[1e50]}}}}}', '{"features":{"feature":{"a":{"int64List":{"value":[1.5]}}}}}',
                '{"features":{"feature":{"a":{"int64List":{},"floatList":{}}}}}', '{"features":{"feature":{"a":{"bytesList":{"value":["a*"]}}}}}',
                '{"features":{"feature":{"a":{"int64List":{"value":["9223372036854775808"]}}}}}', "[" * 5000):
        case(op, text([bad]), fails=True)
    case(op, text(['{"features":{"feature":{"a":null}}}']), ours="fails", why="a map of protocol buffers has no null")


def summaries():
    metadata = tensorflow.compat.v1.SummaryMetadata(display_name="shown").SerializeToString()
    for dtype in REALS:
        case("ScalarSummary", text("tag"), numpy.array(3, dtype=dtype))
        case("ScalarSummary", text(["a", "b"]), ramp([2], dtype))
        case("HistogramSummary", text("tag"), ramp([5], dtype))
        case("TensorSummary", ramp([2], dtype))
        case("TensorSummaryV2", text("tag"), ramp([2], dtype), text(metadata))
    case("ScalarSummary", text(["a", ""]), f32([0, -0.0]))
    case("ScalarSummary", NONE, f32([]))
    case("ScalarSummary", text([["a"], ["b"]]), f32([[1], [2]]))
    case("ScalarSummary", text(["a", "b"]), f32([1]), fails=True)
    case("ScalarSummary", text("a"), f32([1, 2]), fails=True)
    op = "HistogramSummary"
    case(op, text("tag"), f32([]))
    case(op, text("tag"), mixed([4, 50], numpy.float64, -1e3, 1e3))
    case(op, text(""), f64([0, -0.0, 1e-12, -1e-12, 1e-13, 1e20, 2e25, -3e30, 1e300, 5, 5, 5.5]))
    case(op, text("tag"), numpy.float32(7))
    for value in ([1, numpy.nan], [numpy.inf], [-numpy.inf]):
        case(op, text("tag"), f32(value), fails=True)
    case(op, text(["a", "b"]), f32([1]), fails=True)
    for value in (text(["a", "bc"]), text("x"), boolean([True, False]), zeros([0, 2]), numpy.array([1 + 2j], numpy.complex64)):
        case("TensorSummary", value, description="said", labels=[b"a", b"b"], display_name="shown")
        case("TensorSummaryV2", text("tag"), value, text(""))
    case("TensorSummaryV2", text(["a", "b"]), f32(1), text(""), fails=True)
    a, b, c = (train.Example().SerializeToString() + message(1, message(1, tag) + b"\x15" + struct.pack("<f", value))
               for tag, value in ((b"a", 1), (b"b", 2), (b"c", 3)))
    case("MergeSummary", [text(a), text(b)])
    case("MergeSummary", [text([a, b]), NONE, text([c])])
    case("MergeSummary", [text("")])
    for wrong in ([text(a), text(a)], [text([a, b + a])], [text("zzz")], [text(b"\x0a")]):
        case("MergeSummary", wrong, fails=True)
    clips = mixed([2, 3, 2], low=-1.2, high=1.2)
    for most in (1, 3):
        case("AudioSummary", text("tag"), clips, sample_rate=44100.0, max_outputs=most)
        case("AudioSummaryV2", text("tag"), clips, f32(8000.4), max_outputs=most)
    case("AudioSummaryV2", text("tag"), clips[:, :, 0], f32(0.2))
    for op, more in (("AudioSummary", {}), ("AudioSummaryV2", {})):
        for shape, rate in (([3], 1.0), ([1, 2, 3, 4], 1.0), ([1, 2], 0.0), ([1, 2], -1.0), ([1, 2, 0], 1.0)):
            if op == "AudioSummary":
                case(op, text("tag"), zeros(shape), sample_rate=rate, fails=True)
            else:
                case(op, text("tag"), zeros(shape), f32(rate), fails=True)


FAMILIES = (examples, sequences, raw, csv, compressed, tensors, json, summaries)
