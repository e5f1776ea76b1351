// Samples of the ops that parse and write strings: raw bytes, CSV, JSON, TensorProtos, compressed strings. Those of Examples and of
// summaries are in files of their own.
#include "messages/protobuf/tensor_proto.h"
#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
namespace {

Tensor one_string(const std::string& value) { return Tensor::scalar(value); }
Tensor no_strings() { return strings({}); }
/// `count` strings that `make` returns for their numbers.
template <class Make>
Tensor many_strings(size_t count, const Make& make) {
  std::vector<std::string> values;
  for (size_t i = 0; i < count; ++i) values.push_back(make(i));
  return Tensor::vector<std::string>(std::span<const std::string>(values));
}

void add_raw_cases(OpCases& cases) {
  const Tensor bits = Tensor::vector<std::string>(
      {std::string("\1\0\1\0\0\1\1\0\0\0\0\1\0\1\0\0", 16), std::string(16, '\1')});
  for (const DType dtype :
       {DType::Half, f32, f64, i32, DType::UInt16, DType::UInt8, DType::Int16, DType::Int8, i64,
        DType::Complex64, DType::Complex128, DType::Bool, DType::BFloat16})
    for (const bool little : {false, true}) {
      const Attributes attrs{{"out_type", dtype}, {"little_endian", little}};
      cases.good("DecodeRaw", {bits}, attrs);
      if (dtype == DType::Bool || is_complex(dtype)) continue;
      cases.good("DecodePaddedRaw", {bits, int_scalar(24)}, attrs);
      cases.good("DecodePaddedRaw", {strings({"abc", "", "abcdefghijklm", "a", "b"}), int_scalar(8)}, attrs);
    }
  const Attributes bytes{{"out_type", DType::UInt8}}, shorts{{"out_type", DType::Int16}};
  cases.good("DecodeRaw", {one_string("abcdefg")}, bytes);
  cases.good("DecodeRaw", {no_strings()}, shorts);
  cases.good("DecodeRaw", {strings({"", ""})}, shorts);
  cases.good("DecodeRaw",
             {many_strings(3001, [](size_t i) { return std::string(1000, static_cast<char>(i)); })}, shorts);
  cases.good("DecodePaddedRaw", {one_string("abcdefg"), int_scalar(5)}, bytes);
  cases.good("DecodePaddedRaw", {no_strings(), int_scalar(4)}, shorts);
  cases.bad("DecodeRaw", {strings({"abc"})}, shorts,
            "the length of the strings is 3, no multiple of 2, the size of int16");
  cases.bad("DecodeRaw", {strings({"ab", "ab", ""})}, shorts, "string 0 has 2 bytes, string 2 has 0");
  for (const auto& [length, text] : {std::pair{0, "fixed_length is 0; it must be positive"},
                                     {-4, "it must be positive"},
                                     {3, "fixed_length is 3, no multiple of 2"},
                                     {INT32_MIN, "it must be positive"}})
    cases.bad("DecodePaddedRaw", {strings({"ab"}), int_scalar(length)}, shorts, text);
  cases.bad("DecodePaddedRaw", {strings({"ab"}), ints({2})}, shorts, "");
}

void add_csv_cases(OpCases& cases) {
  const char* const op = "DecodeCSV";
  const Tensor text = strings({"?"}), none = no_strings(), number = ints({});
  const Attributes unquoted{{"use_quote_delim", false}}, tabs{{"field_delim", std::string("\t")}};
  cases.good(op, {strings({"1,a", "-2,\"b \"\"c\"\", d\"", ",", " 7 ,e", "5,"}), ints({9}), text});
  cases.good(op, {one_string("1,2"), number, number});
  cases.good(op, {no_strings(), number});
  cases.good(op,
             {strings({"1.5\t2\t-3", "\t\t"}), Tensor::vector<float>({4}), Tensor::scalar(5.0),
              Tensor::scalar(int64_t{6})},
             tabs);
  cases.good(op, {strings({"a\"b,\"c\""}), none, none}, unquoted);
  cases.good(op, {strings({"a,NA"}), text, text}, {{"na_value", std::string("NA")}});
  cases.good(op, {strings({"0,1,2", "3,4,5,6"}), number, ints({7})},
             {{"select_cols", std::vector<int64_t>{0, 2}}});
  cases.good(
      op,
      {many_strings(
           5001, [](size_t i) { return std::to_string(i) + ",\"x" + std::to_string(i * i) + "\"\"y\",0.5"; }),
       number, none, Tensor::vector<double>({})});
  const auto refuse = [&](const std::string& record, const char* why, const Attributes& attrs = {}) {
    cases.bad(op, {strings({"1,a", record}), number, none}, attrs, why);
  };
  refuse("", "record 1: it has 0 fields, of which 0 are taken; there must be one for each of the 2 outputs");
  refuse("1,a,b", "it has 3 fields, of which 3");
  refuse(",a", "record 1: field 0 is missing and has no default");
  refuse("1,", "field 1 is missing");
  refuse("x,a", "record 1: field 0 is \"x\", no number of type int32");
  refuse("2147483648,a", "no number of type int32");
  refuse("1.0,a", "no number of type int32");
  refuse("1,a\"", "field 1 has a quote or a line break, but does not begin with a quote");
  refuse("1,a\n", "has a quote or a line break");
  refuse("1,\"a\"b\"", "field 1 has a single quote inside; it must be doubled");
  refuse("1,\"a", "field 1 has no quote at its end");
  refuse("1,\"", "field 1 has no quote at its end");
  for (const char* const delimiter : {"", ",;"})
    refuse("1,a", "it must be one character", {{"field_delim", std::string(delimiter)}});
  using Columns = std::vector<int64_t>;
  refuse("1,a", "but there are 2 outputs", {{"select_cols", Columns{0}}});
  for (const Columns& columns : {Columns{1, 0}, Columns{1, 1}, Columns{-1, 0}})
    refuse("1,a", "its elements must ascend and not be negative", {{"select_cols", columns}});
  cases.bad(op, {strings({"1"}), ints({1, 2})}, {}, "default 0 has shape [2]");
  cases.bad(op, {strings({"1"}), ints(Shape{1, 1}, {1})}, {}, "default 0 has shape [1,1]");
}

void add_tensor_cases(OpCases& cases) {
  const Tensor matrix = doubles(Shape{2, 3}, {1, 2, 3, 4, 5, 6});
  cases.good_in_every_type("SerializeTensor", {matrix});
  cases.good_in_every_type("TensorSummary", {matrix});
  for (int number = 1; dtype_from_number(number).ok(); ++number) {
    const auto dtype = static_cast<DType>(number);
    const Attributes attrs{{"out_type", dtype}};
    const auto parse = [&](const Tensor& tensor) {
      cases.good("ParseTensor", {one_string(protobuf::write_tensor_proto(tensor))}, attrs);
    };
    if (is_local(dtype)) continue;
    parse(converted(matrix, dtype));
    parse(converted(matrix.rows(0, 0), dtype));
  }
  for (const Tensor& tensor : {Tensor::scalar(2.5f), strings({"a", ""}), bools(Shape{0}, {})})
    cases.good("SerializeTensor", {tensor});
  cases.good("ParseTensor",
             {one_string(protobuf::write_tensor_proto(strings({"a", ""}), protobuf::StringForm::Values))},
             {{"out_type", DType::String}});
  const Attributes ints{{"out_type", i32}};
  const std::string proto = protobuf::write_tensor_proto(int_scalar(5));
  cases.bad("SerializeTensor", {matrix, matrix}, {}, "");
  cases.bad("ParseTensor", {strings({proto})}, ints, "");
  cases.bad("ParseTensor", {one_string(proto)}, {{"out_type", i64}},
            "the string holds a tensor of int32, but out_type is int64");
  cases.bad("ParseTensor", {one_string(proto.substr(0, proto.size() - 1))}, ints, "cut off or damaged");
  cases.bad("ParseTensor", {one_string("")}, ints, "");
  cases.bad("ParseTensor", {one_string(std::string("\x08\x03\x12\x08\x12\x06\x08\x80\x80\x80\x80\x08", 12))},
            ints, "at most 1073741824 are allowed");
}

void add_compressed_cases(OpCases& cases) {
  const char* const op = "DecodeCompressed";
  const Attributes zlib{{"compression_type", std::string("ZLIB")}},
      gzip{{"compression_type", std::string("GZIP")}};
  // "aaaaaaaaaa", compressed by zlib and by gzip.
  const std::string small("\x78\x9c\x4b\x4c\x84\x01\x00\x14\xe1\x03\xcb", 11);
  const std::string zipped(
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\x4c\x84\x01\x00\xf0\xcd\x11\x4c\x0a\x00\x00\x00", 23);
  cases.good(op, {strings({"a", "", "b", "c", "d"})});
  cases.good(op, {one_string("abc")});
  cases.good(op, {no_strings()}, zlib);
  cases.good(op, {strings({small, "", small + "more"})}, zlib);
  cases.good(op, {strings({zipped, "", zipped + zipped})}, gzip);
  cases.bad(op, {strings({"a"})}, {{"compression_type", std::string("LZ4")}}, "compression_type is \"LZ4\"");
  const auto refuse = [&](const std::string& bytes, const Attributes& attrs, const char* why) {
    cases.bad(op, {strings({"", bytes})}, attrs, why, Code::DataLoss);
  };
  refuse("abc", zlib, "string 1: incorrect header check");
  refuse(small, gzip, "string 1: incorrect header check");
  refuse(small.substr(0, 5), zlib, "string 1: it is cut off");
  refuse(small.substr(0, 1), zlib, "string 1: it is cut off");
  refuse(small.substr(0, 10) + "x", zlib, "string 1: incorrect data check");
  refuse(zipped + zipped.substr(0, 12), gzip, "string 1: it is cut off");
}

void add_json_cases(OpCases& cases) {
  const char* const op = "DecodeJSONExample";
  const std::string begin = R"({"features":{"feature":{"a":)";
  const auto feature = [&](const std::string& value) { return begin + value + "}}}"; };
  cases.good(op, {strings({"{}", feature(R"({"int64List":{"value":[1,"-2",3.0]}})"),
                           feature(R"({"float_list":{"value":[1,"NaN"]}})"),
                           feature(R"({"bytesList":{"value":["aGk=","-_8"]}})"), feature("{}")})});
  cases.good(op, {one_string(R"({"features":null})")});
  cases.good(op, {no_strings()});
  cases.good(op, {many_strings(3001, [&](size_t i) {
               return feature(R"({"int64List":{"value":[)" + std::to_string(i) + "]}}");
             })});
  const auto refuse = [&](const std::string& text, const char* why) {
    cases.bad(op, {strings({"{}", text})}, {}, why);
  };
  refuse("", "string 1: it is no JSON at byte");
  refuse("{}x", "it is no JSON at byte 3");
  refuse(std::string(100000, '['), "string 1: an array may not stand in the beginning");
  refuse(R"({"x":1})", R"(the name "x" instead of "features" stands in the Example)");
  refuse(R"({"features":true})", "true or false may not stand in the Example");
  refuse(feature("null"), "null may not stand in the map of features");
  refuse(feature("[]"), "an array may not stand");
  refuse(feature(R"({"list":{}})"),
         R"(the name "list" instead of bytesList, floatList or int64List stands in feature "a")");
  refuse(feature(R"({"int64List":{},"floatList":{}})"), R"(a second list may not stand in feature "a")");
  refuse(feature(R"({"int64List":{"value":{}}})"), "an object may not stand");
  refuse(feature(R"({"int64List":{"value":[[1]]}})"), "an array may not stand");
  refuse(feature(R"({"int64List":{"value":[1.5]}})"), "a number that is no int64");
  refuse(feature(R"({"int64List":{"value":[9223372036854775808]}})"), "a number beyond int64");
  refuse(feature(R"({"int64List":{"value":["x"]}})"), "a string that is no int64");
  refuse(feature(R"({"floatList":{"value":[1e39]}})"), "a number beyond float");
  refuse(feature(R"({"floatList":{"value":["1e39"]}})"), "a string that is no float");
  refuse(feature(R"({"floatList":{"value":[null]}})"), R"(null may not stand in the values of feature "a")");
  refuse(feature(R"({"bytesList":{"value":[1]}})"), "a number may not stand");
  refuse(feature(R"({"bytesList":{"value":["a*=="]}})"), "a string that is not base64");
  refuse(feature(R"({"bytesList":{"value":["a"]}})"), "a string that is not base64");
}

Tensor summary(std::initializer_list<const char*> tags) {
  std::string result, value;
  for (const char* const tag : tags) {
    value.clear();
    protobuf::append_bytes_field(value, 1, tag);
    protobuf::append_fixed_field(value, 2, 1.5f);
    protobuf::append_bytes_field(result, 1, value);
  }
  return one_string(result);
}

void add_summary_cases(OpCases& cases) {
  const Tensor tag = one_string("tag"), values = doubles(Shape{5}, {1, 2, 3, 4, 5}),
               tags = strings({"a", "b", "c", "", "d"});
  cases.good_in_every_type("ScalarSummary", {tags, values});
  cases.good_in_every_type("HistogramSummary", {tag, values});
  cases.good_in_every_type("TensorSummaryV2", {tag, values, one_string("")});
  for (const Tensor& tensor : {Tensor::scalar(2.5f), doubles(Shape{0}, {}), strings({"a", ""})}) {
    cases.good("TensorSummary", {tensor});
    cases.good("TensorSummaryV2", {tag, tensor, one_string("\x0a\x01x")});
  }
  cases.good("ScalarSummary", {tag, doubles({}, {2})});
  cases.good("ScalarSummary", {no_strings(), doubles(Shape{0}, {})});
  cases.good("HistogramSummary", {tag, doubles(Shape{0}, {})});
  cases.good("HistogramSummary",
             {tag, doubles(Shape{5}, {0, 1e308, -1e308, 1.7976931348623157e308, -1.7976931348623157e308})});
  cases.good("HistogramSummary", {tag, random_doubles(Shape{5001}, -10, 10)});
  cases.good("MergeSummary", {summary({"a", "b"}), strings({"", "", "", "", ""}), summary({"c"})});
  cases.good("MergeSummary", {no_strings()});
  cases.bad("ScalarSummary", {tags, doubles(Shape{2}, {1, 2})}, {},
            "tags of shape [5] and values of shape [2]");
  cases.bad("ScalarSummary", {tag, strings({"a"})}, {}, "");
  for (const double value : {double{NAN}, double{INFINITY}, -double{INFINITY}})
    cases.bad("HistogramSummary", {tag, doubles(Shape{2}, {1, value})}, {}, "values[1] is ");
  cases.bad("HistogramSummary", {tags, values}, {}, "tag has shape [5]; it must be a scalar");
  cases.bad("TensorSummary", {values, values}, {}, "");
  cases.bad("TensorSummaryV2", {tags, values, tag}, {}, "tag has shape [5]");
  cases.bad("TensorSummaryV2", {tag, values, tags}, {}, "");
  cases.bad("MergeSummary", {summary({"a"}), summary({"b", "a"})}, {}, "tag \"a\" is in the inputs twice");
  for (const std::string& bytes : {std::string("zzz"), std::string("\x0a"), std::string("\x0a\x02\x0a\x05"),
                                   std::string("\x08\x01\x0a")})
    cases.bad("MergeSummary", {one_string(bytes)}, {}, "an input is no Summary");
}

void add_audio_summary_cases(OpCases& cases) {
  const Tensor tag = one_string("tag"),
               clips = floats(Shape{2, 3, 2}, {0, 0.5, -0.5, 1, -1, 2, -2, NAN, 0.25, 0.1f, -0.1f, 0});
  const auto add = [&](const Tensor& tensor, float rate, int64_t most, const char* why = nullptr) {
    const Attributes attrs{{"sample_rate", rate}, {"max_outputs", most}}, rest{{"max_outputs", most}};
    if (why) {
      cases.bad("AudioSummary", {tag, tensor}, attrs, why);
      cases.bad("AudioSummaryV2", {tag, tensor, Tensor::scalar(rate)}, rest, why);
    } else {
      cases.good("AudioSummary", {tag, tensor}, attrs);
      cases.good("AudioSummaryV2", {tag, tensor, Tensor::scalar(rate)}, rest);
    }
  };
  add(clips, 44100, 3);
  add(clips, 0.2f, 1);
  add(floats(Shape{1, 5}, {1, 2, 3, 4, 5}), 8000.6f, 3);
  add(floats(Shape{0, 5}, {}), 8000, 3);
  add(floats(Shape{5}, {1, 2, 3, 4, 5}), 8000, 3, "its rank must be 2 or 3");
  for (const float rate : {0.0f, -1.0f, NAN, INFINITY, 0x1p31f})
    add(clips, rate, 3, "sample_rate must be positive");
  add(floats(Shape{1, 0}, {}), 8000, 3, "there must be one of each");
  add(floats(Shape{1, 2, 0}, {}), 8000, 3, "there must be one of each");
  add(clips, 8000, 0, "");
  cases.bad("AudioSummary", {strings({"a", "b"}), clips}, {{"sample_rate", 1.0f}}, "");
  cases.bad("AudioSummaryV2", {tag, clips, floats(Shape{2}, {1, 2})}, {}, "");
}

}  // namespace

void add_parsing_cases(OpCases& cases) {
  add_raw_cases(cases);
  add_csv_cases(cases);
  add_tensor_cases(cases);
  add_compressed_cases(cases);
  add_json_cases(cases);
  add_summary_cases(cases);
  add_audio_summary_cases(cases);
}

}  // namespace troupe::test
