// Samples of the ops that parse Examples and SequenceExamples.
#include <algorithm>
#include <functional>

#include "messages/protobuf/fields.h"
#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
namespace {

using Types = std::vector<DType>;
using Shapes = std::vector<PartialShape>;
using Texts = std::vector<std::string>;

std::string message(uint32_t number, std::string_view content) {
  std::string bytes;
  protobuf::append_bytes_field(bytes, number, content);
  return bytes;
}

// ---- Features: a list in the binary form

std::string word_list(std::initializer_list<std::string> values) {
  std::string list;
  for (const std::string& value : values) list += message(1, value);
  return message(1, list);
}
std::string reals(std::initializer_list<float> values) {
  return message(2,
                 message(1, {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(float)}));
}
std::string long_list(std::initializer_list<int64_t> values) {
  std::string packed;
  for (const int64_t value : values) protobuf::append_varint(packed, static_cast<uint64_t>(value));
  return message(3, message(1, packed));
}

std::string entry(const std::string& key, const std::string& value) {
  return message(1, message(1, key) + message(2, value));
}
using Named = std::initializer_list<std::pair<std::string, std::string>>;
std::string map_of(const Named& values) {
  std::string map;
  for (const auto& [key, value] : values) map += entry(key, value);
  return map;
}
std::string example(const Named& features) { return message(1, map_of(features)); }
std::string list_of(std::initializer_list<std::string> rows) {
  std::string list;
  for (const std::string& row : rows) list += message(1, row);
  return list;
}
std::string sequence(const Named& context, const Named& lists) {
  return example(context) + message(2, map_of(lists));
}

Tensor no_strings() { return strings({}); }

// ---- ParseExample, ParseExampleV2, ParseSingleExample

struct Dense {
  std::string key;
  Tensor fallback;
  PartialShape shape;
};
struct Request {
  std::vector<std::pair<std::string, DType>> sparse = {}, ragged = {};
  std::vector<Dense> dense = {};
};

/// A call of one of the three ops.
struct Call {
  std::string op;
  std::vector<Tensor> inputs;
  Attributes attrs;
};

Tensor vector_of(const Texts& values) {
  return Tensor::vector<std::string>(std::span<const std::string>(values));
}

/// What the three ops are given for the features.
struct Parts {
  explicit Parts(const Request& request) {
    for (const auto& [key, dtype] : request.sparse) sparse_keys.push_back(key), sparse_types.push_back(dtype);
    for (const auto& [key, dtype] : request.ragged) ragged_keys.push_back(key), ragged_types.push_back(dtype);
    for (const Dense& dense : request.dense) {
      dense_keys.push_back(dense.key);
      dense_types.push_back(dense.fallback.dtype());
      shapes.push_back(dense.shape);
    }
  }
  Texts sparse_keys, dense_keys, ragged_keys;
  Types sparse_types, dense_types, ragged_types;
  Shapes shapes;
};

void add_defaults(const Request& request, std::vector<Tensor>& inputs) {
  for (const Dense& dense : request.dense) inputs.push_back(dense.fallback);
}

Call parse_example(const Tensor& serialized, const Request& request, const Tensor& names = no_strings()) {
  const Parts parts(request);
  std::vector<Tensor> inputs{serialized, names};
  for (const Texts* const keys : {&parts.sparse_keys, &parts.dense_keys})
    for (const std::string& key : *keys) inputs.push_back(text(key));
  add_defaults(request, inputs);
  return {"ParseExample",
          std::move(inputs),
          {{"Nsparse", static_cast<int64_t>(parts.sparse_keys.size())},
           {"Ndense", static_cast<int64_t>(parts.dense_keys.size())},
           {"sparse_types", parts.sparse_types},
           {"Tdense", parts.dense_types},
           {"dense_shapes", parts.shapes}}};
}

Call parse_example_v2(const Tensor& serialized, const Request& request, const Tensor& names = no_strings(),
                      DType splits = i64) {
  const Parts parts(request);
  std::vector<Tensor> inputs{serialized, names, vector_of(parts.sparse_keys), vector_of(parts.dense_keys),
                             vector_of(parts.ragged_keys)};
  add_defaults(request, inputs);
  return {"ParseExampleV2",
          std::move(inputs),
          {{"num_sparse", static_cast<int64_t>(parts.sparse_keys.size())},
           {"sparse_types", parts.sparse_types},
           {"Tdense", parts.dense_types},
           {"dense_shapes", parts.shapes},
           {"ragged_value_types", parts.ragged_types},
           {"ragged_split_types", Types(parts.ragged_types.size(), splits)}}};
}

Call parse_single(const Tensor& serialized, const Request& request) {
  const Parts parts(request);
  std::vector<Tensor> inputs{serialized};
  add_defaults(request, inputs);
  return {"ParseSingleExample",
          std::move(inputs),
          {{"num_sparse", static_cast<int64_t>(parts.sparse_keys.size())},
           {"sparse_keys", parts.sparse_keys},
           {"dense_keys", parts.dense_keys},
           {"sparse_types", parts.sparse_types},
           {"Tdense", parts.dense_types},
           {"dense_shapes", parts.shapes}}};
}

void good(OpCases& cases, Call call) { cases.good(call.op, std::move(call.inputs), std::move(call.attrs)); }
void bad(OpCases& cases, Call call, const std::string& why) {
  cases.bad(call.op, std::move(call.inputs), std::move(call.attrs), why);
}

Tensor no_floats() { return floats(Shape{0}, {}); }
Tensor zero() { return Tensor::scalar(0.0f); }

Request fixed() {
  return {.dense = {{"f", no_floats(), {2}},
                    {"i", Tensor::vector<int64_t>({5}), {1}},
                    {"s", strings({"x", "y"}), {2}}}};
}
Request sparse() { return {.sparse = {{"f", f32}, {"i", i64}, {"s", DType::String}, {"missing", f32}}}; }
Request padded() {
  return {.dense = {{"f", Tensor::scalar(9.0f), {unknown_dim}},
                    {"i", Tensor::vector<int64_t>({7}), {unknown_dim, 2}},
                    {"s", strings({"z"}), {unknown_dim, 1}}}};
}
Request ragged() { return {.ragged = {{"f", f32}, {"i", i64}, {"s", DType::String}}}; }

Tensor many_examples(int64_t count) {
  std::vector<std::string> values;
  for (int64_t i = 0; i < count; ++i) {
    const auto real = static_cast<float>(i);
    values.push_back(i % 3 == 0
                         ? example({{"f", reals({real, -real})},
                                    {"i", long_list({i, -i})},
                                    {"s", word_list({"a", std::to_string(i)})}})
                         : example({{"s", word_list({"b", std::string(static_cast<size_t>(i % 50), 'c')})},
                                    {"f", reals({real, 1})}}));
  }
  return Tensor::vector<std::string>(std::span<const std::string>(values));
}

/// Bytes that are no Example with a list of floats by the name f, and what is said of them.
const std::vector<std::pair<std::string, std::string>>& damaged_examples() {
  static const std::vector<std::pair<std::string, std::string>> cases = {
      {"\x0a", "the bytes are no Example"},
      {std::string("\x0a\x05\x0a", 3), "the bytes are no Example"},
      {"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "the bytes are no Example"},
      {"\x0a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", "the bytes are no Example"},
      {"\x0b\x0c", "the bytes are no Example"},
      {std::string("\x08\x01"), "the bytes are no Example"},
      {message(1, std::string("\x08\x01")), "the bytes are no Example"},
      {message(1, message(1, "\x0a\x05x")), "the bytes are no Example"},
      {example({{"f", message(4, "")}}),
       "feature \"f\": it is neither a list of bytes, floats nor int64, or damaged"},
      {example({{"f", "\x08\x01"}}), "it is neither a list"},
      {example({{"f", std::string("\x12\x05\x0a", 3)}}), "it is neither a list"},
      {example({{"f", message(2, message(1, "abc"))}}), "its list is damaged"},
      {example({{"f", message(2, std::string("\x08\x01"))}}), "its list is damaged"},
      {example({{"f", message(2, std::string("\x0a\x7f"))}}), "its list is damaged"},
      {example({{"f", long_list({1})}}),
       "feature \"f\": its values are of type int64, but the op wants float"},
      {example({{"f", word_list({"a"})}}), "its values are of type string"},
  };
  return cases;
}

using Make = std::function<Call(const Tensor&, const Request&)>;

void add_batch_cases(OpCases& cases, const Make& make) {
  const Tensor some =
      strings({example({{"f", reals({1, 2})},
                        {"i", long_list({INT64_MAX})},
                        {"s", word_list({"", "a"})},
                        {"other", long_list({1})}}),
               example({{"f", reals({3, 4})}}), example({{"f", reals({5})}, {"f", reals({6, 7})}}),
               example({{"f", reals({8, 9})}}) + example({{"i", long_list({-1})}}),
               example({{"f", message(2,
                                      "\x0d"
                                      "abcd"
                                      "\x0d"
                                      "efgh")},
                        {"i", message(3, "\x08\x07")}})});
  for (const Request& request : {fixed(), sparse()}) good(cases, make(some, request));
  const Tensor uneven =
      strings({example({{"f", reals({1, 2, 3})}, {"i", long_list({1, 2, 3, 4})}}), example({}),
               example({{"s", word_list({"a", "b"})}}), example({{"f", reals({})}, {"i", ""}}), ""});
  for (const Request& request : {padded(), sparse(), Request{}}) {
    good(cases, make(uneven, request));
    good(cases, make(many_examples(5001), request));
    good(cases, make(no_strings(), request));
  }
  Request many = fixed();
  many.dense[1] = {"i", Tensor::vector<int64_t>({5, 6}), {2}};
  good(cases, make(many_examples(5001), many));
}

void add_bad_batches(OpCases& cases, const Make& make) {
  const auto refuse = [&](const Request& request, const std::string& why) {
    bad(cases, make(strings({example({{"f", reals({1, 2})}}), example({{"f", reals({1, 2, 3})}})}), request),
        why);
  };
  for (const auto& [bytes, why] : damaged_examples())
    bad(cases, make(strings({example({{"f", reals({1})}}), bytes}), {.sparse = {{"f", f32}}}), why);
  bad(cases,
      make(strings({example({{"i", message(3, message(1, std::string(11, '\xff') + '\1'))}})}),
           {.sparse = {{"i", i64}}}),
      "its list is damaged");
  bad(cases,
      make(strings({example({{"i", message(3, message(1, std::string(11, '\xff') + '\1'))}})}),
           {.dense = {{"i", Tensor::vector<int64_t>({}), {1}}}}),
      "its list is damaged");
  refuse({.dense = {{"f", no_floats(), {2}}}}, "feature \"f\": it has 3 values, but its shape is [2]");
  refuse({.dense = {{"g", no_floats(), {2}}}}, "feature \"g\": it is missing and has no default");
  refuse({.dense = {{"f", zero(), {unknown_dim, 2}}}}, "it has 3 values, no multiple of 2");
  refuse({.dense = {{"f", floats(Shape{1}, {1}), {2}}}},
         "the default of \"f\" has shape [1]; it must have the feature's shape [2]");
  refuse({.dense = {{"f", floats(Shape{2}, {1, 2}), {unknown_dim}}}}, "it must have one element");
  refuse({.dense = {{"f", zero(), {unknown_dim, 0}}}}, "has no elements whatever");
  refuse({.dense = {{"f", zero(), {2, unknown_dim}}}}, "must be known but for its first dimension");
  refuse({.dense = {{"f", zero(), PartialShape{}}}}, "must be known but for its first dimension");
  refuse({.dense = {{"f", no_floats(), {INT64_MAX, INT64_MAX}}}}, "");
  refuse({.sparse = {{"f", f32}, {"f", f32}}}, "key \"f\" is there twice");
  refuse({.sparse = {{"f", f32}}, .dense = {{"f", zero(), PartialShape::scalar()}}},
         "key \"f\" is there twice");
  refuse({.sparse = {{"f", i64}}}, "its values are of type float, but the op wants int64");
}

void add_example_cases_of_each_op(OpCases& cases) {
  const Make v1 = [](const Tensor& serialized, const Request& request) {
    return parse_example(serialized, request);
  };
  const Make v2 = [](const Tensor& serialized, const Request& request) {
    return parse_example_v2(serialized, request);
  };
  for (const Make& make : {v1, v2}) {
    add_batch_cases(cases, make);
    add_bad_batches(cases, make);
  }
  const Tensor names = strings({"one", "two"}), two = strings({"", "\x0a"});
  bad(cases, parse_example(two, sparse(), names), "example 1, \"two\": the bytes are no Example");
  bad(cases, parse_example_v2(two, sparse(), names), "example 1, \"two\": the bytes are no Example");
  bad(cases, parse_example(two, sparse(), strings({"one"})), "the names have shape [1], the examples [2]");
  bad(cases, parse_example(text(""), sparse()), "");
  bad(cases, parse_example_v2(strings({}).reshaped(Shape{0, 2}), sparse()),
      "it must be a scalar or a vector");
  for (const DType splits : {i32, i64})
    for (const Tensor& batch : {many_examples(1001), no_strings()})
      good(cases, parse_example_v2(batch, ragged(), no_strings(), splits));
  const std::string whole =
      example({{"f", reals({1, 2})}, {"i", long_list({3, 4})}, {"s", word_list({"a", "b"})}});
  const Request one{.dense = {{"f", zero(), {2}}}};
  for (const Request& request : {sparse(), padded()})
    for (const std::string& bytes : {whole, std::string()}) {
      good(cases, parse_single(text(bytes), request));
      good(cases, parse_example_v2(text(bytes), request));
    }
  good(cases, parse_single(text(""), {.dense = {{"f", floats(Shape{5}, {1, 2, 3, 4, 5}), {5}}}}));
  good(cases, parse_single(text(example({{"f", reals({1, 2, 3, 4, 5})}})), padded()));
  good(cases, parse_example_v2(text(whole), ragged()));
  bad(cases, parse_single(strings({whole}), sparse()), "");
  bad(cases, parse_single(text(""), {.dense = {{"f", no_floats(), {2}}}}),
      "the example, feature \"f\": it is missing");
  for (const auto& [bytes, why] : damaged_examples())
    bad(cases, parse_single(text(bytes), {.sparse = {{"f", f32}}}), why);
  Call uneven = parse_single(text(whole), sparse());
  uneven.attrs.set("sparse_types", Types{f32});
  bad(cases, std::move(uneven), "but num_sparse has");
  Call few = parse_example_v2(text(whole), sparse());
  few.inputs[2] = strings({"f"});
  bad(cases, std::move(few), "there must be 4 keys");
}

// ---- Sequences

struct Lists {
  Request context = {};
  std::vector<std::pair<std::string, DType>> sparse = {}, ragged = {};
  std::vector<std::tuple<std::string, DType, PartialShape>> dense = {};
  Texts empty = {};
};

struct ListParts {
  explicit ListParts(const Lists& lists) : context(lists.context) {
    for (const auto& [key, dtype] : lists.sparse) sparse_keys.push_back(key), sparse_types.push_back(dtype);
    for (const auto& [key, dtype] : lists.ragged) ragged_keys.push_back(key), ragged_types.push_back(dtype);
    for (const auto& [key, dtype, shape] : lists.dense) {
      dense_keys.push_back(key);
      dense_types.push_back(dtype);
      shapes.push_back(shape);
    }
  }
  Attributes attrs() const {
    const auto count = [](const Texts& keys) { return static_cast<int64_t>(keys.size()); };
    return {{"Ncontext_sparse", count(context.sparse_keys)},
            {"Nfeature_list_sparse", count(sparse_keys)},
            {"Nfeature_list_dense", count(dense_keys)},
            {"context_sparse_types", context.sparse_types},
            {"Tcontext_dense", context.dense_types},
            {"context_dense_shapes", context.shapes},
            {"feature_list_sparse_types", sparse_types},
            {"feature_list_dense_types", dense_types},
            {"feature_list_dense_shapes", shapes}};
  }
  Parts context;
  Texts sparse_keys, ragged_keys, dense_keys;
  Types sparse_types, ragged_types, dense_types;
  Shapes shapes;
};

Call parse_sequences(const Tensor& serialized, const Lists& lists) {
  const ListParts parts(lists);
  std::vector<Tensor> inputs{serialized, no_strings()};
  add_defaults(lists.context, inputs);
  Attributes attrs = parts.attrs();
  attrs.set("Ncontext_dense", static_cast<int64_t>(parts.context.dense_keys.size()));
  attrs.set("context_sparse_keys", parts.context.sparse_keys);
  attrs.set("context_dense_keys", parts.context.dense_keys);
  attrs.set("feature_list_sparse_keys", parts.sparse_keys);
  attrs.set("feature_list_dense_keys", parts.dense_keys);
  attrs.set("feature_list_dense_missing_assumed_empty", lists.empty);
  return {"ParseSequenceExample", std::move(inputs), std::move(attrs)};
}

Call parse_sequences_v2(const Tensor& serialized, const Lists& lists, DType splits = i64) {
  const ListParts parts(lists);
  Tensor missing = value_or_throw(
      Tensor::allocate(DType::Bool, Shape::vector(static_cast<int64_t>(parts.dense_keys.size()))));
  for (size_t i = 0; i < parts.dense_keys.size(); ++i)
    missing.write<bool>()[i] = std::ranges::find(lists.empty, parts.dense_keys[i]) != lists.empty.end();
  std::vector<Tensor> inputs{serialized, no_strings()};
  for (const Texts* const keys :
       {&parts.context.sparse_keys, &parts.context.dense_keys, &parts.context.ragged_keys, &parts.sparse_keys,
        &parts.dense_keys, &parts.ragged_keys})
    inputs.push_back(vector_of(*keys));
  inputs.push_back(missing);
  add_defaults(lists.context, inputs);
  Attributes attrs = parts.attrs();
  attrs.set("context_ragged_value_types", parts.context.ragged_types);
  attrs.set("context_ragged_split_types", Types(parts.context.ragged_types.size(), splits));
  attrs.set("feature_list_ragged_value_types", parts.ragged_types);
  attrs.set("feature_list_ragged_split_types", Types(parts.ragged_types.size(), splits));
  return {"ParseSequenceExampleV2", std::move(inputs), std::move(attrs)};
}

Call parse_single_sequence(const Tensor& serialized, const Lists& lists) {
  const ListParts parts(lists);
  std::vector<Tensor> inputs{serialized, vector_of(lists.empty)};
  for (const Texts* const keys :
       {&parts.context.sparse_keys, &parts.context.dense_keys, &parts.sparse_keys, &parts.dense_keys})
    for (const std::string& key : *keys) inputs.push_back(text(key));
  add_defaults(lists.context, inputs);
  inputs.push_back(text("name"));
  Attributes attrs = parts.attrs();
  attrs.set("Ncontext_dense", static_cast<int64_t>(parts.context.dense_keys.size()));
  return {"ParseSingleSequenceExample", std::move(inputs), std::move(attrs)};
}

Lists all_lists() {
  return {.context = {.sparse = {{"c", i64}}, .dense = {{"d", floats(Shape{1}, {4}), {1}}}},
          .sparse = {{"f", i64}, {"missing", f32}},
          .dense = {{"g", f32, {2}}, {"s", DType::String, PartialShape::scalar()}},
          .empty = {"s"}};
}

const Texts& some_sequences() {
  static const Texts sequences = {
      sequence({{"c", long_list({1, 2})}, {"d", reals({1})}},
               {{"f", list_of({long_list({1, 2}), "", long_list({3})})},
                {"g", list_of({reals({1, 2}), reals({3, 4})})},
                {"s", list_of({word_list({"a"})})}}),
      sequence({}, {{"g", list_of({})}}),
      sequence({{"c", long_list({5})}}, {{"f", list_of({long_list({})})},
                                         {"g", list_of({reals({5, 6})})},
                                         {"s", list_of({word_list({"b"}), word_list({"c"})})}})};
  return sequences;
}

void add_sequence_cases(OpCases& cases) {
  const Tensor some = vector_of(some_sequences());
  std::vector<std::string> repeated;
  for (size_t i = 0; i < 3001; ++i) repeated.push_back(some_sequences()[i % 3]);
  const Lists rows{.context = {.ragged = {{"c", i64}}}, .ragged = {{"f", i64}, {"missing", f32}}};
  for (const Tensor& batch : {some, vector_of(repeated), no_strings()}) {
    good(cases, parse_sequences(batch, all_lists()));
    good(cases, parse_sequences_v2(batch, all_lists()));
    for (const DType splits : {i32, i64}) good(cases, parse_sequences_v2(batch, rows, splits));
  }
  for (const std::string& one : some_sequences()) {
    good(cases, parse_single_sequence(text(one), all_lists()));
    good(cases, parse_sequences_v2(text(one), all_lists()));
    good(cases, parse_sequences_v2(text(one), rows));
  }
  good(cases, parse_single_sequence(text(""),
                                    {.context = {.dense = {{"f", floats(Shape{5}, {1, 2, 3, 4, 5}), {5}}}}}));
  const std::string five = sequence({{"c", long_list({1, 2, 3, 4, 5})}}, {{"g", ""}});
  good(cases, parse_single_sequence(text(five), all_lists()));
}

void add_bad_sequences(OpCases& cases) {
  const auto refuse = [&](const std::string& bytes, const Lists& lists, const std::string& why) {
    bad(cases, parse_sequences(strings({some_sequences()[0], bytes}), lists), why);
    bad(cases, parse_sequences_v2(strings({some_sequences()[0], bytes}), lists), why);
    bad(cases, parse_single_sequence(text(bytes), lists), why);
  };
  const Lists numbers{.sparse = {{"f", i64}}}, pairs{.dense = {{"g", f32, {2}}}};
  const auto list = [](const std::string& rows) { return sequence({}, {{"f", rows}}); };
  refuse("\x12", numbers, "the bytes are no Example");
  refuse(std::string("\x12\x03\x0a\x05x", 5), numbers, "the bytes are no SequenceExample");
  refuse(list("\x0a\x05"), numbers, "feature \"f\": its list of rows is damaged");
  refuse(list("\x08\x01"), numbers, "a row is neither a list of bytes, floats nor int64");
  refuse(list(message(1, "\x08\x01")), numbers, "a row is neither a list");
  refuse(list(message(1, long_list({1}) + "\x1a")), numbers, "a row is neither a list");
  refuse(list(message(1, message(3, "\x0a\x01\x80"))), numbers, "row 0 is damaged");
  refuse(list(message(1, message(3, message(1, std::string(11, '\xff') + '\1')))), numbers,
         "row 0 is damaged");
  refuse(list(message(1, reals({1}))), numbers, "its values are of type float, but the op wants int64");
  refuse(sequence({}, {}), pairs,
         "it is missing, and feature_list_dense_missing_assumed_empty does not say that it may be");
  refuse(sequence({}, {{"g", list_of({reals({1, 2}), reals({3})})}}), pairs,
         "row 1 has 1 values, but its shape is [2]");
  refuse(sequence({}, {{"g", list_of({""})}}), pairs, "row 0 has 0 values");
  refuse("", {.dense = {{"g", f32, {unknown_dim}}}, .empty = {"g"}}, "");
  refuse("", {.context = {.dense = {{"d", no_floats(), {1}}}}},
         "feature \"d\": it is missing and has no default");
  refuse("", {.context = {.dense = {{"d", floats(Shape{1}, {1}), {unknown_dim}}}}}, "must be known");
  refuse("", {.sparse = {{"f", i64}, {"f", i64}}}, "key \"f\" is there twice");
  bad(cases, parse_sequences(text(""), numbers), "");
  bad(cases, parse_single_sequence(strings({""}), numbers), "");
  Call named = parse_single_sequence(text(""), numbers);
  named.inputs.back() = strings({"a"});
  bad(cases, std::move(named), "both must be scalars");
  Call uneven = parse_sequences_v2(strings({""}), pairs);
  uneven.inputs[8] = bools(Shape{2}, {true, true});
  bad(cases, std::move(uneven), "it must have an element for each of the 1 dense lists");
}

}  // namespace

void add_example_cases(OpCases& cases) {
  add_example_cases_of_each_op(cases);
  add_sequence_cases(cases);
  add_bad_sequences(cases);
}

}  // namespace troupe::test
