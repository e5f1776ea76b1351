// Samples of the ops on texts of Unicode.
#include "tests/kernels/cases/sparse_case_support.h"

namespace troupe::test {
namespace {

const Tensor texts =
    strings({"", "a", "h\xC3\xA9llo", "\xE4\xBD\xA0\xF0\x9F\x98\x80", "\xFF\xE4\xBD z\t\x80"});

Attributes with(Attributes attrs, const char* name, AttrValue value) {
  attrs.set(name, std::move(value));
  return attrs;
}

/// A column of many texts.
Tensor many_texts() {
  Tensor many = value_or_throw(Tensor::allocate(DType::String, Shape{3001, 1}));
  for (size_t i = 0; i < 3001; ++i) many.write<std::string>()[i] = texts.as<std::string>()[i % 5];
  return many;
}

/// Adds samples of an op that reads texts.
void add_reading_cases(OpCases& cases, const std::string& op, const Attributes& attrs) {
  const Attributes utf8 = with(attrs, "input_encoding", "UTF-8");
  cases.good_in_every_type(op, {texts}, utf8);
  cases.good(op, {many_texts()}, utf8);
  cases.good(op, {strings({"abc"}).reshaped(Shape())}, utf8);
  cases.good(op, {strings({})}, utf8);
  cases.good(op, {texts}, with(utf8, "errors", "ignore"));
  cases.good(op, {strings({"a\tb"})},
             with(with(utf8, "replace_control_characters", true), "replacement_char", int64_t{32}));
  cases.good(op, {strings({std::string("a\0\xD8\0", 4)})}, with(attrs, "input_encoding", "UTF-16LE"));
  cases.good(op, {texts}, with(attrs, "input_encoding", "latin1"));
  cases.bad(op, {texts}, with(utf8, "errors", "strict"),
            "input[4] = '\\xff\\xe4\\xbd z\\x09\\x80' is ill-formed in UTF-8");
  cases.bad(op, {texts}, with(utf8, "replacement_char", int64_t{0x110000}), "replacement_char is 1114112");
  cases.bad(op, {texts}, with(utf8, "replacement_char", int64_t{-1}), "replacement_char is -1");
  for (const char* const unknown : {"", "klingon", "/etc/passwd"})
    cases.bad(op, {texts}, with(attrs, "input_encoding", unknown), "is not known");
}

void add_encode_cases(OpCases& cases) {
  const std::string op = "UnicodeEncode";
  const Tensor values = ints({72, 233, 0x4F60, 0x1F600, -1, 0x110000, 0xD800, 65}),
               splits = longs({0, 2, 2, 8});
  for (const char* const encoding : {"UTF-8", "UTF-16-BE", "UTF-32-BE"}) {
    const Attributes attrs = {{"output_encoding", encoding}};
    cases.good_in_every_type(op, {values, splits}, attrs);
    cases.good(op, {values, splits}, with(attrs, "errors", "ignore"));
    cases.good(op, {ints({}), longs({0})}, attrs);
    cases.good(op, {many_ints(7001, 0x10FFFF), longs({0, 7, 4000, 7001})}, attrs);
  }
  const Attributes utf8 = {{"output_encoding", "UTF-8"}};
  cases.bad(op, {values, splits}, with(utf8, "errors", "strict"), "input_values has -1");
  cases.bad(op, {values, longs({0, 2, 7})}, utf8, "ends with 7");
  cases.bad(op, {values, longs({})}, utf8, "is empty");
  cases.bad(op, {values, longs({1, 8})}, utf8, "begins with 1");
  cases.bad(op, {values, longs({0, 5, 2, 8})}, utf8, "[2] = 2 is less than 5");
  cases.bad(op, {int_scalar(1), splits}, utf8, "[]");
  cases.bad(op, {values, longs({0}).reshaped(Shape())}, utf8, "[]");
  cases.bad(op, {values, splits}, with(utf8, "replacement_char", int64_t{-1}), "replacement_char is -1");
}

}  // namespace

void add_unicode_cases(OpCases& cases) {
  for (const char* const encoding : {"UTF-8", "UTF-16-BE", "UTF-32-BE"})
    add_reading_cases(cases, "UnicodeTranscode", {{"output_encoding", encoding}});
  for (const char* const op : {"UnicodeDecode", "UnicodeDecodeWithOffsets"}) add_reading_cases(cases, op, {});
  add_encode_cases(cases);
  cases.good("UnicodeScript", {ints({97, 0x411, 0x82B8, 44, -100, 0xFFFFFF, 0x10FFFF})});
  cases.good("UnicodeScript", {many_ints(70001, 0x20000)});
  cases.good("UnicodeScript", {int_scalar(0x3B1)});
  cases.good("UnicodeScript", {ints({})});
  cases.bad("UnicodeScript", {floats({}, {1})}, {}, "float");
}

}  // namespace troupe::test
