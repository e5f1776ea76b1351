// Samples of the ops on strings. What they compute is compared with TensorFlow (tests/golden/string_op_cases.py).
#include "tests/kernels/cases/sparse_case_support.h"

namespace troupe::test {
namespace {

Tensor word(const std::string& text) { return Tensor::scalar<std::string>(text); }
/// Enough strings of 0 to 40 bytes for several blocks of work, in rows of three.
Tensor many_words() {
  Tensor words = value_or_throw(Tensor::allocate(DType::String, Shape{3001, 3}));
  const auto to = words.write<std::string>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = std::string(i % 41, static_cast<char>('a' + i % 26));
  return words;
}
Tensor few_words() { return strings({"a", "", "b c", "Ab\xC3\xA9", "0.5"}); }

/// Adds samples of an op that is a function of each string.
void add_word_cases(OpCases& cases, const std::string& op, const Attributes& attrs = {}) {
  cases.good(op, {few_words()}, attrs);
  cases.good(op, {word("abc")}, attrs);
  cases.good(op, {strings({})}, attrs);
  cases.good(op, {many_words()}, attrs);
  cases.bad(op, {int_scalar(1)}, attrs, "");
}

void add_letter_cases(OpCases& cases) {
  for (const char* const unit : {"BYTE", "UTF8_CHAR"})
    add_word_cases(cases, "StringLength", {{"unit", unit}});
  cases.bad("StringLength", {few_words()}, {{"unit", "WORD"}}, "unit");
  add_word_cases(cases, "StringStrip");
  for (const char* const op : {"StringLower", "StringUpper"}) {
    for (const char* const encoding : {"", "utf-8"}) add_word_cases(cases, op, {{"encoding", encoding}});
    cases.bad(op, {few_words()}, {{"encoding", "latin\n"}},
              "encoding is 'latin\\x0a', expected '' or 'utf-8'");
  }
}

void add_join_cases(OpCases& cases) {
  cases.good("StringJoin", {few_words(), word("-"), few_words()}, {{"separator", ","}});
  cases.good("StringJoin", {word("a"), word("b")});
  cases.good("StringJoin", {strings({}), word("b")});
  cases.good("StringJoin", {many_words(), many_words()});
  cases.bad("StringJoin", {few_words(), strings({"a"})}, {},
            "inputs of shapes [5] and [1] differ, and neither is a scalar");

  const char* op = "ReduceJoin";
  const Tensor box = many_words();
  for (const bool keeps : {false, true})
    for (const auto& axes : {ints({}), ints({0}), ints({-1}), ints({1, 0}), ints({0, 1})})
      cases.good(op, {box, axes}, {{"keep_dims", keeps}, {"separator", "."}});
  cases.good(op, {word("a"), ints({})});
  cases.good(op, {strings({}), int_scalar(0)});
  cases.good(op, {strings({}).reshaped(Shape{0, int64_t{1} << 30}), int_scalar(1)});
  cases.bad(op, {box, ints({0, -2})}, {}, "reduction_indices [0,-2] has axis 0 twice");
  cases.bad(op, {box, ints({2})}, {}, "axis 2");
  cases.bad(op, {box, ints({-3})}, {}, "axis -3");

  op = "UnsortedSegmentJoin";
  cases.good_in_every_type(op, {few_words(), ints({1, 0, 1, 3, 1}), int_scalar(5)}, {{"separator", ", "}});
  cases.good(op, {many_words(), many_ints(3001, 50), int_scalar(50)});
  cases.good(op, {strings({}), ints({}), int_scalar(2)});
  cases.bad(op, {few_words(), ints({1, 0, 1, 3, 5}), int_scalar(5)}, {},
            "segment_ids[4] = 5 is not in [0, 5)");
  cases.bad(op, {few_words(), ints({1, -1, 1, 3, 5}), int_scalar(5)}, {},
            "segment_ids[1] = -1 is not in [0, 5)");
  cases.bad(op, {few_words(), ints({0}), int_scalar(5)}, {}, "[5]");
  cases.bad(op, {word("a"), int_scalar(0), int_scalar(5)}, {}, "segment_ids of shape [] is a scalar");
  cases.bad(op, {few_words(), ints({0, 0, 0, 0, 0}), int_scalar(-1)}, {}, "negative");
  cases.bad(op, {few_words(), ints({0, 0, 0, 0, 0}), Tensor::scalar(int64_t{1} << 60)}, {}, "",
            Code::ResourceExhausted);
}

void add_split_cases(OpCases& cases) {
  for (const char* const separator : {"", "b", "bc"}) {
    for (const bool skips : {false, true}) {
      cases.good("StringSplit", {few_words(), word(separator)}, {{"skip_empty", skips}});
      cases.good("StringSplit", {many_words().reshaped(Shape{9003}), word(separator)},
                 {{"skip_empty", skips}});
    }
    for (const int64_t most : {-1, 0, 1, 3}) {
      cases.good("StringSplitV2", {few_words(), word(separator)}, {{"maxsplit", most}});
      cases.good("StringSplitV2", {many_words().reshaped(Shape{9003}), word(separator)},
                 {{"maxsplit", most}});
    }
  }
  for (const char* const op : {"StringSplit", "StringSplitV2"}) {
    cases.good(op, {strings({}), word(" ")});
    cases.bad(op, {word("a b"), word(" ")}, {}, "input of shape [] has rank 0, expected 1");
    cases.bad(op, {few_words(), strings({" "})}, {}, "of shape [1] has rank 1, expected 0");
  }
}

void add_part_cases(OpCases& cases) {
  const char* const op = "Substr";
  const Tensor words = strings({"hello", "h\xC3\xA9llo", "twenty-one bytes long"});
  for (const char* const unit : {"BYTE", "UTF8_CHAR"}) {
    const Attributes attrs{{"unit", unit}};
    cases.good_in_every_type(op, {words, int_scalar(1), int_scalar(3)}, attrs);
    cases.good(op, {words, ints({-1, -2, 3}), ints({1, 7, 0})}, attrs);
    cases.good(op, {words, ints(Shape{2, 1}, {0, 2}), ints(Shape{2, 1}, {2, 100})}, attrs);
    cases.good(op, {word("hello"), ints({1, 2, 3, 4, 5}), ints({1, 1, 1, 1, 1})}, attrs);
    cases.good(
        op,
        {words.reshaped(Shape{3, 1, 1}), ints(Shape{2, 2}, {0, 1, 2, 3}), ints(Shape{2, 2}, {1, 1, 1, 1})},
        attrs);
    cases.good(op, {word("a"), int_scalar(0), int_scalar(1)}, attrs);
    cases.good(op, {strings({}), int_scalar(9), int_scalar(1)}, attrs);
    cases.good(op, {many_words(), int_scalar(0), int_scalar(3)}, attrs);
    cases.good(op, {words, Tensor::scalar(int64_t{-2}), Tensor::scalar(INT64_MAX)}, attrs);
    cases.bad(op, {words, ints({0, 7, 0}), ints({1, 2, 1})}, attrs,
              "pos[1] = 7, with len 2, is outside input[1] = 'h\\xc3\\xa9llo'");
    cases.bad(op, {words, int_scalar(-22), int_scalar(1)}, attrs,
              "pos = -22, with len 1, is outside input[0] = 'hello'");
    cases.bad(op, {many_words(), int_scalar(35), int_scalar(1)}, attrs,
              "pos = 35, with len 1, is outside input[0,0] = ''");
    for (const int64_t pos : {INT64_MIN, INT64_MAX})
      cases.bad(op, {words, Tensor::scalar(pos), Tensor::scalar(INT64_MAX)}, attrs, "is outside input[0]");
    cases.bad(op, {words, ints({1}), int_scalar(1)}, attrs,
              "pos of shape [1] and len of shape [] must have one shape");
    cases.bad(op, {words, ints({1, 1}), ints({1, 1})}, attrs, "");
  }
  cases.bad(op, {words, int_scalar(0), int_scalar(1)}, {{"unit", "WORD"}}, "unit");
}

void add_number_cases(OpCases& cases) {
  const char* op = "StringToNumber";
  const Tensor numbers = strings({"1", " 22", "+3", "4\n", "5"});
  cases.good_in_every_type(op, {numbers});
  cases.good(op, {word("-1.5")});
  cases.good(op, {strings({})});
  cases.bad(op, {strings({"1", "one"})}, {}, "string_tensor[1] = 'one' is not a number of type float");
  cases.bad(op, {word("")}, {{"out_type", i32}}, "string_tensor = '' is not a number of type int32");
  cases.bad(op, {many_words()}, {}, "string_tensor[0,0] = ''");
  cases.bad(op, {word(std::string(1000, '\n') + "x")}, {}, "...' of 1001 bytes is not a number");

  op = "AsString";
  cases.good_in_every_type(op, {filled(Shape{5})});
  cases.good(op, {one(2.5)});
  cases.good(op, {filled(Shape{0, 3})});
  cases.good(op, {large(Shape{3001, 3})}, {{"precision", int64_t{3}}, {"width", int64_t{9}}, {"fill", "0"}});
  cases.good(op, {one(1e300)}, {{"precision", int64_t{4096}}, {"width", int64_t{4096}}});
  for (const char* const notation : {"scientific", "shortest"}) {
    cases.good(op, {filled(Shape{5})}, {{notation, true}, {"fill", "#"}});
    cases.bad(op, {int_scalar(1)}, {{notation, true}}, "input is int32, which takes no scientific");
  }
  cases.bad(op, {one()}, {{"scientific", true}, {"shortest", true}}, "scientific and shortest are both set");
  cases.bad(op, {one()}, {{"fill", "x"}}, "fill is 'x', expected nothing or one of");
  cases.bad(op, {one()}, {{"width", int64_t{4097}}}, "at most 4096 is allowed");
  cases.bad(op, {one()}, {{"precision", INT64_MAX}}, "at most 4096 is allowed");
}

void add_hash_cases(OpCases& cases) {
  const Attributes buckets{{"num_buckets", int64_t{1000003}}};
  for (const char* const op : {"StringToHashBucketFast", "StringToHashBucket"}) {
    add_word_cases(cases, op, buckets);
    cases.bad(op, {few_words()}, {{"num_buckets", int64_t{0}}}, "num_buckets");
  }
  const char* op = "StringToHashBucketStrong";
  Attributes keyed = buckets;
  keyed.set("key", std::vector<int64_t>{1, -2});
  add_word_cases(cases, op, keyed);
  keyed.set("key", std::vector<int64_t>{1, -2, 3});
  cases.bad(op, {few_words()}, keyed, "key has 3 elements; it must have 2");

  op = "Fingerprint";
  const Tensor method = word("farmhash64");
  cases.good_in_every_type(op, {filled(Shape{5, 3}), method});
  cases.good(op, {many_words(), method});
  cases.good(op, {filled(Shape{0, 3}), method});
  cases.good(op, {filled(Shape{3, 0}), method});
  cases.good(op, {strings({}).reshaped(Shape{3, 0}), method});
  cases.bad(op, {one(), method}, {}, "data of shape [] is a scalar");
  cases.bad(op, {few_words(), word("md5")}, {}, "method is 'md5', expected the scalar 'farmhash64'");
  cases.bad(op, {few_words(), strings({"farmhash64"})}, {}, "method");
}

void add_base64_cases(OpCases& cases) {
  for (const bool pads : {false, true}) add_word_cases(cases, "EncodeBase64", {{"pad", pads}});
  const char* const op = "DecodeBase64";
  cases.good(op, {strings({"", "YQ", "YWI=", "YWJj", "-_8"})});
  cases.good(op, {word("YQ==")});
  cases.good(op, {strings({})});
  cases.bad(op, {strings({"YQ", "Y+Q"})}, {},
            "input[1] = 'Y+Q' has '+' at byte 1, which is none of A-Z a-z 0-9 - _");
  cases.bad(op, {word("Y")}, {}, "input = 'Y' has 1 characters, which is 1 modulo 4");
  cases.bad(op, {word("====")}, {}, "has '=' at byte 0");
}

void add_regex_cases(OpCases& cases) {
  const Tensor pattern = word("([a-c])b*"), rewrite = word("<\\1>");
  const Attributes attrs{{"pattern", "([a-c])b*"}, {"rewrite", "<\\1>"}}, match{{"pattern", "([a-c])b*"}};
  for (const Tensor& words : {few_words(), word("abc"), strings({}), many_words()}) {
    for (const bool global : {false, true}) {
      Attributes all = attrs;
      all.set("replace_global", global);
      cases.good("RegexReplace", {words, pattern, rewrite}, {{"replace_global", global}});
      cases.good("StaticRegexReplace", {words}, all);
    }
    cases.good("RegexFullMatch", {words, pattern});
    cases.good("StaticRegexFullMatch", {words}, match);
  }
  const std::string invalid = "pattern '(a' is invalid: missing ): (a";
  cases.bad("RegexReplace", {few_words(), word("(a"), rewrite}, {}, invalid);
  cases.bad("RegexFullMatch", {few_words(), word("(a")}, {}, invalid);
  cases.bad("StaticRegexReplace", {few_words()}, {{"pattern", "(a"}, {"rewrite", ""}}, invalid);
  cases.bad("StaticRegexFullMatch", {few_words()}, {{"pattern", "(a"}}, invalid);
  cases.bad("RegexFullMatch", {few_words(), word("((a{100}){100}){100}")}, {}, "is invalid");
  cases.bad("RegexFullMatch", {few_words(), word("((\\pL{30}){30}){30}")}, {}, "is invalid");
  cases.bad("RegexReplace", {few_words(), pattern, word("\\2")}, {},
            "rewrite '\\2' does not fit pattern '([a-c])b*'");
  cases.bad("StaticRegexReplace", {few_words()}, {{"pattern", "a"}, {"rewrite", "\\"}},
            "does not fit pattern 'a'");
  cases.bad("RegexReplace", {few_words(), strings({"a"}), rewrite}, {},
            "pattern of shape [1] has rank 1, expected 0");
  cases.bad("RegexReplace", {few_words(), pattern, strings({"a"})}, {}, "rewrite of shape [1] has rank 1");
}

void add_ngrams_cases(OpCases& cases) {
  const char* const op = "StringNGrams";
  const auto attrs = [](std::vector<int64_t> widths, int64_t pads, bool short_ones) {
    Attributes all{{"separator", " "}, {"left_pad", "<"}, {"right_pad", ">"}, {"pad_width", pads}};
    all.set("ngram_widths", std::move(widths));
    all.set("preserve_short_sequences", short_ones);
    return all;
  };
  const Tensor words = few_words(), many = many_words().reshaped(Shape{9003}), whole = longs({0, 5});
  cases.good_in_every_type(op, {words, ints({0, 2, 5})}, attrs({2, 3}, -1, false));
  for (const bool short_ones : {false, true}) {
    cases.good(op, {many, longs({0, 3, 3, 4000, 9003})}, attrs({1, 4}, 2, short_ones));
    cases.good(op, {words, whole}, attrs({7}, 0, short_ones));
    for (const Tensor& splits : {longs({}), longs({0}), longs({0, 0})})
      cases.good(op, {strings({}), splits}, attrs({2}, -1, short_ones));
  }
  cases.good(op, {words, whole}, attrs({}, -1, true));
  cases.bad(op, {words, whole}, attrs({2, 0}, 0, false), "ngram_widths has 0");
  cases.bad(op, {words, whole}, attrs({INT64_MAX}, 0, false), "ngram_widths has");
  cases.bad(op, {word("a"), longs({0, 1})}, attrs({2}, 0, false), "data of shape [] has rank 0, expected 1");
  cases.bad(op, {words, longs({0, 4})}, attrs({2}, 0, false), "data_splits begins with 0 and ends with 4");
  cases.bad(op, {words, longs({})}, attrs({2}, 0, false), "data_splits is empty");
  cases.bad(op, {words, longs({1, 5})}, attrs({2}, 0, false), "data_splits begins with 1");
  cases.bad(op, {words, longs({0, -1, 5})}, attrs({2}, 0, false), "data_splits[1] = -1 is less than 0");
  cases.bad(op, {strings({}), longs({0, 3})}, attrs({2}, 0, false),
            "data_splits begins with 0 and ends with 3");
  cases.bad(op, {words, longs({0, 4, 3, 5})}, attrs({2}, 0, false), "data_splits[2] = 3 is less than 4");
  cases.bad(op, {words, whole}, attrs({int64_t{1} << 30}, -1, false), "may take more than",
            Code::ResourceExhausted);
  cases.bad(op, {words, whole}, attrs({}, INT64_MAX, true), "may take more than", Code::ResourceExhausted);
}

void add_format_cases(OpCases& cases) {
  const char* const op = "StringFormat";
  const Tensor words = few_words();
  cases.good(op, {words, filled(Shape{2, 3, 5}), int_scalar(7)}, {{"template", "a %s b %s c %s"}});
  cases.good(op, {large(Shape{3001, 3})}, {{"template", "%s"}, {"summarize", int64_t{-1}}});
  cases.good(op, {filled(Shape{0, 3})}, {{"template", "{}"}, {"placeholder", "{}"}});
  cases.bad(op, {words}, {{"template", "a"}}, "template has 0 placeholders for 1 inputs");
  cases.bad(op, {words}, {{"placeholder", ""}}, "placeholder is empty");
}

/// Adds samples for a column of words, as a sparse matrix, and one of numbers, as a dense one. `more` inputs come behind them.
void add_cross_cases(OpCases& cases, const char* op, const Attributes& attrs,
                     const std::vector<Tensor>& more) {
  const auto with_more = [&](std::vector<Tensor> inputs) {
    inputs.insert(inputs.end(), more.begin(), more.end());
    return inputs;
  };
  const auto good = [&](std::vector<Tensor> inputs) { cases.good(op, with_more(std::move(inputs)), attrs); };
  const auto bad = [&](std::vector<Tensor> inputs, const char* text) {
    cases.bad(op, with_more(std::move(inputs)), attrs, text);
  };
  const Tensor words = strings({"a", "b", "c"}), shape = longs({3, 4});
  const Tensor indices = pairs({0, 0, 0, 1, 2, 0}), dense = pairs({1, 2, 3, 4, 5, 6});
  good({indices, words, shape, dense});
  good({pairs({}), strings({}), longs({0, 0}), pairs({})});
  good({indices, words, shape, value_or_throw(Tensor::allocate(DType::Int64, Shape{3, 0}))});
  good({indices, words, shape, longs({1, 2, 3}).reshaped(Shape{3, 1})});
  bad({pairs({0, 0, 2, 0, 1, 0}), words, shape, dense}, "indices[2,0] = 1 is not in [2, 3)");
  bad({pairs({0, 0, 2, 0, 3, 0}), words, shape, dense}, "indices[2,0] = 3 is not in [2, 3)");
  bad({pairs({-1, 0, 2, 0, 2, 0}), words, shape, dense}, "indices[0,0] = -1 is not in [0, 3)");
  bad({indices, words, longs({4, 4}), dense}, "there are 3 rows; the matrices before have 4");
  bad({indices, words, longs({3}), dense}, "");
  bad({indices, words, shape, longs({1})}, "dense_inputs of shape [1] has rank 1, expected 2");
  bad({indices, words, shape, Tensor::scalar<int64_t>(1)}, "has rank 0, expected 2");
}

void add_cross_cases(OpCases& cases) {
  Attributes types{{"N", int64_t{1}}};
  types.set("sparse_types", std::vector<DType>{DType::String});
  types.set("dense_types", std::vector<DType>{DType::Int64});
  add_cross_cases(cases, "SparseCrossV2", types, {word("-")});
  Attributes attrs = types;
  attrs.set("num_buckets", int64_t{0});
  attrs.set("hash_key", int64_t{5});
  for (const DType type : {DType::String, DType::Int64}) {
    attrs.set("out_type", type);
    attrs.set("hashed_output", type == DType::Int64);
    attrs.set("internal_type", type);
    add_cross_cases(cases, "SparseCross", attrs, {});
  }
}

void add_sharded_filename_cases(OpCases& cases) {
  for (const int32_t shard : {0, 123456, -3})
    cases.good("ShardedFilename", {word("base"), int_scalar(shard), int_scalar(10)});
  cases.bad("ShardedFilename", {strings({"a"}), int_scalar(1), int_scalar(2)}, {}, "[1]");
  cases.bad("ShardedFilename", {word("a"), ints({}), int_scalar(2)}, {}, "[0]");
  cases.bad("ShardedFilename", {word("a"), int_scalar(1), ints({2, 3, 4, 5, 6})}, {}, "[5]");
  cases.good("ShardedFilespec", {word(""), int_scalar(10)});
  cases.bad("ShardedFilespec", {strings({}), int_scalar(1)}, {}, "[0]");
  cases.bad("ShardedFilespec", {word("a"), ints({2, 3, 4, 5, 6})}, {}, "[5]");
}

}  // namespace

void add_string_cases(OpCases& cases) {
  add_letter_cases(cases);
  add_join_cases(cases);
  add_split_cases(cases);
  add_part_cases(cases);
  add_number_cases(cases);
  add_hash_cases(cases);
  add_base64_cases(cases);
  add_regex_cases(cases);
  add_ngrams_cases(cases);
  add_format_cases(cases);
  add_cross_cases(cases);
  add_sharded_filename_cases(cases);
}

}  // namespace troupe::test
