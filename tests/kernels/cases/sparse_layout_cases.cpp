// Samples of the ops that move the entries of sparse tensors.
#include "messages/protobuf/tensor_proto.h"
#include "tests/kernels/cases/sparse_case_support.h"

namespace troupe::test {
namespace {

void add_reorder_cases(OpCases& cases) {
  const char* const op = "SparseReorder";
  const Tensor shape = longs({3, 4});
  cases.good_in_every_type(op, {pairs({2, 3, 0, 0, 2, 0, 0, 2, 2, 3}), filled(Shape{5}), shape});
  cases.good(op, {pairs({0, 0, 0, 2, 2, 3}), filled(Shape{3}), shape});
  cases.good(op, {pairs({}), filled(Shape{0}), shape});
  cases.good(op, {pairs({}), filled(Shape{0}), longs({0, 4})});
  cases.good(op, {longs({}).reshaped(Shape{2, 0}), filled(Shape{2}), longs({})});
  cases.good(op, {pairs({INT64_MAX / 2 - 1, 1, 5, 0, INT64_MAX / 2 - 1, 0}), filled(Shape{3}),
                  longs({INT64_MAX / 2, 2})});
  cases.good(op, {many_pairs(90001, 200, 300), large(Shape{90001}), longs({200, 300})});
  add_bad_sparse_tensors(cases, op, [](const Tensor& i, const Tensor& v, const Tensor& s) {
    return std::vector<Tensor>{i, v, s};
  });
  cases.bad(op, {pairs({0, 0}), one(), shape}, {}, "are no sparse tensor");
}

void add_reshape_cases(OpCases& cases) {
  const char* const op = "SparseReshape";
  const Tensor positions = pairs({2, 3, 0, 0, 2, 0, 0, 2, 2, 3}), shape = longs({3, 4});
  cases.good(op, {positions, shape, longs({2, 6})});
  cases.good(op, {positions, shape, longs({2, -1, 3})});
  cases.good(op, {positions, shape, longs({-1})});
  cases.good(op, {pairs({}), shape, longs({12})});
  cases.good(op, {pairs({}), longs({0, 4}), longs({2, 0, 5})});
  cases.good(op, {longs({0, 0, 0}).reshaped(Shape{1, 3}), longs({1, 1, 1}), longs({})});
  cases.good(op, {pairs({INT64_MAX - 1, 0}), longs({INT64_MAX, 1}), longs({1, -1})});
  cases.good(op, {many_pairs(90001, 200, 300), longs({200, 300}), longs({600, 100})});
  cases.bad(op, {pairs({3, 0}), shape, longs({12})}, {},
            "input_indices[0] = [3,0] is outside input_shape [3,4]");
  cases.bad(op, {pairs({0, -1}), shape, longs({12})}, {}, "input_indices[0] = [0,-1] is outside");
  cases.bad(op, {positions, shape, longs({13})}, {}, "a tensor of 12 elements cannot be reshaped to [13]");
  cases.bad(op, {positions, shape, longs({5, -1})}, {}, "cannot be reshaped to [5,-1]");
  cases.bad(op, {positions, shape, longs({-1, -1})}, {}, "more than one -1");
  cases.bad(op, {positions, shape, longs({-2, 6})}, {}, "below -1");
  cases.bad(op, {positions, longs({3, -4}), longs({12})}, {}, "input_shape = [3,-4] has a negative element");
  cases.bad(op, {positions, longs({3, INT64_MAX}), longs({12})}, {}, "does not fit an int64");
  cases.bad(op, {positions, longs({3, 4, 1}), longs({12})}, {}, "do not fit: they must have shapes");
  cases.bad(op, {longs({1, 2}), shape, longs({12})}, {}, "");
  cases.bad(op, {positions, Tensor::scalar<int64_t>(12), longs({12})}, {}, "");
  cases.bad(op, {positions, shape, Tensor::scalar<int64_t>(12)}, {}, "");
}

void add_concat_cases(OpCases& cases) {
  const char* const op = "SparseConcat";
  const Tensor a = pairs({0, 0, 0, 2, 2, 3}), b = pairs({0, 1, 0, 0}), c = pairs({});
  for (const int64_t dim : {0, 1, -1, -2}) {
    const Attributes attrs{{"concat_dim", dim}};
    const Tensor other = dim % 2 == 0 ? longs({5, 4}) : longs({3, 6});
    cases.good_in_every_type(op,
                             {a, b, c, filled(Shape{3}), filled(Shape{2}, 2), filled(Shape{0}), longs({3, 4}),
                              other, longs({3, 4})},
                             attrs);
    cases.good(op, {c, c, filled(Shape{0}), filled(Shape{0}), longs({0, 0}), longs({0, 0})}, attrs);
    cases.bad(op, {a, b, filled(Shape{3}), filled(Shape{2}), longs({3, 4}), longs({5, 6})}, attrs,
              "differ in another dimension than concat_dim");
    cases.bad(op, {a, b, filled(Shape{3}), filled(Shape{2}), longs({3, 4}), longs({3, 4, 1})}, attrs,
              "are no sparse tensor");
    cases.bad(op, {a, pairs({0, 4}), filled(Shape{3}), filled(Shape{1}), longs({3, 4}), longs({3, 4})}, attrs,
              "indices[1][0] = [0,4] is outside shapes[1] [3,4]");
  }
  const Attributes first{{"concat_dim", int64_t{0}}};
  cases.good(op,
             {many_pairs(20001, 200, 300), many_pairs(20001, 100, 300), large(Shape{20001}),
              large(Shape{20001}), longs({200, 300}), longs({100, 300})},
             first);
  const std::vector<Tensor> two{a, b, filled(Shape{3}), filled(Shape{2}), longs({3, 4}), longs({3, 4})};
  for (const int64_t dim : {int64_t{2}, int64_t{-3}, INT64_MAX})
    cases.bad(op, two, {{"concat_dim", dim}}, std::to_string(dim));
  cases.bad(op, {a, b, filled(Shape{3}), one(), longs({3, 4}), longs({3, 4})}, first, "are no sparse tensor");
  cases.bad(op, {a, b, filled(Shape{3}), filled(Shape{2}), longs({3, 4}), longs({-3, 4})}, first,
            "shapes[1] = [-3,4] has a negative element");
  cases.bad(op,
            {c, longs({0, 0, 0}).reshaped(Shape{1, 3}), filled(Shape{0}), filled(Shape{1}), longs({3, 4}),
             longs({3, 4, 1})},
            first, "the inputs are of different ranks");
  cases.bad(op, {c, c, filled(Shape{0}), filled(Shape{0}), longs({INT64_MAX, 1}), longs({1, 1})}, first,
            "does not fit an int64");
  cases.bad(op, {c, c, filled(Shape{0}), filled(Shape{0}), longs({INT64_MAX / 3, 3}), longs({5, 3})}, first,
            "does not fit an int64");
}

void add_sparse_split_cases(OpCases& cases) {
  const char* const op = "SparseSplit";
  const auto parts = [](int64_t count) { return Attributes{{"num_split", count}}; };
  const Tensor first = Tensor::scalar<int64_t>(0), second = Tensor::scalar<int64_t>(1);
  const Tensor positions = pairs({0, 0, 2, 6, 0, 3, 2, 0, 1, 2}), values = filled(Shape{5}),
               shape = longs({3, 7});
  cases.good_in_every_type(op, {second, positions, values, shape}, parts(3));
  cases.good(op, {first, positions, values, shape}, parts(2));
  cases.good(op, {Tensor::scalar<int64_t>(-1), positions, values, shape}, parts(7));
  cases.good(op, {first, positions, values, shape}, parts(1));
  cases.good(op, {first, pairs({}), filled(Shape{0}), shape}, parts(3));
  cases.good(op, {second, many_pairs(30001, 200, 300), large(Shape{30001}), longs({200, 300})}, parts(7));
  add_bad_sparse_tensors(
      cases, op,
      [&](const Tensor& i, const Tensor& v, const Tensor& s) {
        return std::vector<Tensor>{first, i, v, s};
      },
      parts(1));
  cases.bad(op, {first, positions, values, shape}, parts(4), "num_split is 4");
  cases.bad(op, {first, pairs({}), filled(Shape{0}), longs({0, 7})}, parts(1), "num_split is 1");
  cases.bad(op, {first, positions, values, shape}, parts(0), "");
  cases.bad(op, {Tensor::scalar<int64_t>(2), positions, values, shape}, parts(1), "2");
  cases.bad(op, {Tensor::scalar(INT64_MIN), positions, values, shape}, parts(1), "");
  cases.bad(op, {longs({0}), positions, values, shape}, parts(1),
            "split_dim of shape [1] has rank 1, expected 0");
}

void add_slice_cases(OpCases& cases) {
  const char* const op = "SparseSlice";
  const Tensor positions = pairs({0, 0, 2, 6, 0, 3, 2, 0, 1, 2}), values = filled(Shape{5}),
               shape = longs({3, 7});
  cases.good_in_every_type(op, {positions, values, shape, longs({0, 1}), longs({2, 5})});
  cases.good(op, {positions, values, shape, longs({1, 0}), longs({9, INT64_MAX})});
  cases.good(op, {positions, values, shape, longs({4, INT64_MAX}), longs({1, INT64_MAX})});
  cases.good(op, {positions, values, shape, longs({0, 0}), longs({0, 7})});
  cases.good(op, {pairs({}), filled(Shape{0}), shape, longs({0, 0}), longs({2, 2})});
  add_bad_sparse_tensors(cases, op, [](const Tensor& i, const Tensor& v, const Tensor& s) {
    return std::vector<Tensor>{i, v, s, longs({0, 0}), longs({9, 9})};
  });
  cases.bad(op, {positions, values, shape, longs({0, -1}), longs({1, 1})}, {},
            "start = [0,-1] has a negative element");
  cases.bad(op, {positions, values, shape, longs({0, 1}), longs({1, INT64_MIN})}, {},
            "has a negative element");
  cases.bad(op, {positions, values, shape, longs({0}), longs({1, 1})}, {}, "");
  cases.bad(op, {positions, values, shape, longs({0, 0}), Tensor::scalar<int64_t>(1)}, {}, "");
}

void add_slice_gradient_cases(OpCases& cases) {
  const char* const op = "SparseSliceGrad";
  const Tensor positions = pairs({0, 0, 2, 6, 0, 3, 2, 0, 1, 2}), start = longs({0, 1}),
               kept = pairs({0, 2, 1, 1});
  cases.good_in_every_type(op, {filled(Shape{2}), positions, start, kept});
  cases.good(op, {filled(Shape{0}), positions, start, pairs({})});
  cases.good(op, {filled(Shape{0}), pairs({}), start, pairs({})});
  cases.bad(op, {filled(Shape{2}), positions, start, pairs({1, 1, 0, 2})}, {}, "output_indices[1] = [0,2]");
  cases.bad(op, {filled(Shape{2}), positions, longs({INT64_MAX, INT64_MIN}), kept}, {},
            "output_indices[0] = [0,2]");
  cases.bad(op, {filled(Shape{3}), positions, start, kept}, {}, "");
  cases.bad(op, {filled(Shape{2}), positions, longs({0, 0, 0}), kept}, {}, "");
  cases.bad(op, {filled(Shape{2}), longs({0}).reshaped(Shape{1, 1}), start, kept}, {}, "");
  cases.bad(op, {one(), positions, start, kept}, {}, "has rank 0, expected 1");
}

void add_fill_cases(OpCases& cases) {
  const char* const op = "SparseFillEmptyRows";
  const Tensor positions = pairs({3, 1, 0, 2, 0, 1, 3, 0, 1, 2}), values = filled(Shape{5}),
               shape = longs({6, 3});
  cases.good_in_every_type(op, {positions, values, shape, one(7)});
  cases.good(op, {pairs({0, 0, 1, 0}), filled(Shape{2}), longs({2, 1}), one(7)});
  cases.good(op, {pairs({}), filled(Shape{0}), longs({5, 3}), one(7)});
  cases.good(op, {pairs({}), filled(Shape{0}), longs({0, 3}), one(7)});
  cases.good(op, {longs({2}).reshaped(Shape{1, 1}), filled(Shape{1}), longs({3}), one(7)});
  add_bad_sparse_tensors(cases, op, [](const Tensor& i, const Tensor& v, const Tensor& s) {
    return std::vector<Tensor>{i, v, s, one()};
  });
  cases.bad(op, {positions, values, shape, filled(Shape{1})}, {},
            "default_value of shape [1] has rank 1, expected 0");
  cases.bad(op, {longs({}).reshaped(Shape{1, 0}), filled(Shape{1}), longs({}), one()}, {}, "has rank 0");
  cases.bad(op, {pairs({}), filled(Shape{0}), longs({INT64_MAX, 1}), one()}, {}, "", Code::ResourceExhausted);
}

void add_fill_gradient_cases(OpCases& cases) {
  const char* const op = "SparseFillEmptyRowsGrad";
  cases.good_in_every_type(op, {longs({3, 0, 4}), filled(Shape{6})});
  cases.good(op, {longs({}), filled(Shape{3})});
  cases.good(op, {longs({}), filled(Shape{0})});
  cases.bad(op, {longs({0, 6}), filled(Shape{6})}, {}, "reverse_index_map[1] = 6 is not in [0, 6)");
  cases.bad(op, {longs({-1}), filled(Shape{6})}, {}, "reverse_index_map[0] = -1 is not in [0, 6)");
  cases.bad(op, {longs({INT64_MAX}), filled(Shape{6})}, {}, "is not in [0, 6)");
  cases.bad(op, {longs({0}), one()}, {}, "grad_values of shape [] has rank 0, expected 1");
  cases.bad(op, {pairs({0, 0}), filled(Shape{6})}, {}, "has rank 2, expected 1");
}

// ---- Strings

/// Appends the TensorProto of each tensor.
void append_serialized(std::vector<std::string>& strings, std::initializer_list<Tensor> tensors) {
  for (const Tensor& tensor : tensors) strings.push_back(protobuf::write_tensor_proto(tensor));
}

void add_serialize_cases(OpCases& cases) {
  const Tensor positions = pairs({0, 1, 2, 0, 2, 2}), shape = longs({4, 3});
  for (const char* const op : {"SerializeSparse", "SerializeManySparse"}) {
    cases.good_in_every_type(op, {positions, filled(Shape{3}), shape});
    cases.good(op, {positions, strings({"a", "", "bcd"}), shape});
    cases.good(op, {pairs({}), filled(Shape{0}), shape});
    cases.good(op, {pairs({}), filled(Shape{0}), longs({0, 3})});
    cases.good(op, {longs({1, 0, 2, 1, 2, 0}).reshaped(Shape{2, 3}), filled(Shape{2}), longs({5, 3, 3})});
    cases.bad(op, {positions, filled(Shape{2}), shape}, {}, "are no sparse tensor");
    cases.bad(op, {positions, filled(Shape{3}), longs({3, -4})}, {}, "= [3,-4] has a negative element");
    cases.bad(op, {one(), one(), one()}, {}, "");
  }
  cases.good("SerializeSparse", {longs({4, 1}).reshaped(Shape{2, 1}), filled(Shape{2}), longs({5})});
  add_bad_sparse_tensors(cases, "SerializeManySparse", [](const Tensor& i, const Tensor& v, const Tensor& s) {
    return std::vector<Tensor>{i, v, s};
  });
  cases.bad("SerializeManySparse", {pairs({1, 0, 0, 1}), filled(Shape{2}), shape}, {}, "comes after [1,0]");
  cases.bad("SerializeManySparse", {longs({4, 1}).reshaped(Shape{2, 1}), filled(Shape{2}), longs({5})}, {},
            "its rank must be at least 2");
}

void add_deserialize_cases(OpCases& cases) {
  const Tensor positions = pairs({0, 1, 2, 0, 2, 2}), values = converted(filled(Shape{3}), f32),
               shape = longs({4, 3});
  std::vector<std::string> texts;
  append_serialized(texts, {positions, values, shape, pairs({}), converted(filled(Shape{0}), f32),
                            longs({2, 9}), pairs({1, 0}), converted(filled(Shape{1}), f32), longs({2, 1})});
  const Tensor three = Tensor::of<std::string>(Shape{3, 3}, texts);
  const Attributes floats{{"dtype", f32}};
  for (const char* const op : {"DeserializeManySparse", "DeserializeSparse"}) {
    cases.good(op, {three}, floats);
    cases.good(op, {three.rows(1, 2)}, floats);
    cases.bad(op, {three}, {{"dtype", f64}}, "sparse tensor 0: the strings hold int64[3,2], float[3]");
    cases.bad(op, {strings({}).reshaped(Shape{0, 3})}, floats, "at least one sparse tensor");
    cases.bad(op, {three.reshaped(Shape{9, 1})}, floats, "its last dimension must be 3");
    cases.bad(op, {strings({"", "", ""}).reshaped(Shape{1, 3})}, floats, "sparse tensor 0:");
    cases.bad(op, {strings({"ÿ", "", ""}).reshaped(Shape{1, 3})}, floats, "cut off or damaged");
    cases.bad(op, {strings({texts[0], texts[4], texts[2]}).reshaped(Shape{1, 3})}, floats,
              "the strings hold int64[3,2], float[0] and int64[2]");
    cases.bad(op, {one()}, floats, "");
  }
  for (auto dtype = DType::Float; dtype <= DType::UInt64; dtype = DType(static_cast<int>(dtype) + 1)) {
    if (is_local(dtype)) continue;
    std::vector<std::string> of_dtype;
    append_serialized(of_dtype, {positions, converted(filled(Shape{3}), dtype), shape});
    for (const char* const op : {"DeserializeManySparse", "DeserializeSparse"})
      cases.good(op, {Tensor::of<std::string>(Shape{1, 3}, of_dtype)}, {{"dtype", dtype}});
  }
  cases.good("DeserializeSparse", {three.rows(0, 1).reshaped(Shape{3})}, floats);
  cases.good("DeserializeSparse", {three.reshaped(Shape{3, 1, 1, 3})}, floats);
  cases.bad("DeserializeManySparse", {three.rows(0, 1).reshaped(Shape{3})}, floats, "rank");
  std::vector<std::string> other_rank(texts.begin(), texts.begin() + 3);
  append_serialized(other_rank,
                    {longs({1}).reshaped(Shape{1, 1}), converted(filled(Shape{1}), f32), longs({2})});
  cases.bad("DeserializeManySparse", {Tensor::of<std::string>(Shape{2, 3}, other_rank)}, floats,
            "sparse tensor 1 has rank 1, but sparse tensor 0 has rank 2");
}

}  // namespace

void add_sparse_layout_cases(OpCases& cases) {
  add_reorder_cases(cases);
  add_reshape_cases(cases);
  add_concat_cases(cases);
  add_sparse_split_cases(cases);
  add_slice_cases(cases);
  add_slice_gradient_cases(cases);
  add_fill_cases(cases);
  add_fill_gradient_cases(cases);
  add_serialize_cases(cases);
  add_deserialize_cases(cases);
}

}  // namespace troupe::test
