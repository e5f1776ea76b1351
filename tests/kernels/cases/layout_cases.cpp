// Samples of the ops of kernels/ops/array that move elements without computing: padding, blocks, sequences, diagonals, other types.
#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
namespace {

Tensor long_scalar(int64_t value) { return Tensor::scalar(value); }
Tensor pairs(std::initializer_list<int32_t> values) {
  return ints(Shape{static_cast<int64_t>(values.size()) / 2, 2}, values);
}
Tensor long_pairs(std::initializer_list<int64_t> values) {
  return longs(values).reshaped(Shape{static_cast<int64_t>(values.size()) / 2, 2});
}

// ---- Padding

void add_pad_v2_cases(OpCases& cases) {
  const Tensor box = filled(Shape{2, 3, 5});
  cases.good_in_every_type("PadV2", {box, pairs({0, 0, 1, 2, 0, 1}), one(7)});
  cases.good("PadV2", {box, pairs({1, 0, 2, 3, 4, 1}), one(0)});
  cases.good("PadV2", {one(), pairs({}), one(7)});
  cases.good("PadV2", {filled(Shape{0, 2}), pairs({1, 1, 0, 0}), one(7)});
  cases.good("PadV2", {large(Shape{300, 401}), pairs({7, 1, 3, 3}), floats({}, {7})});
  cases.bad("PadV2", {box, pairs({0, 0, -1, 2, 0, 1}), one(7)}, {},
            "the padding (-1, 2) of dimension 1 must not be negative");
  cases.bad("PadV2", {box, pairs({0, 0, 1, 2}), one(7)}, {}, "paddings");
  cases.bad("PadV2", {box, pairs({0, 0, 1, 2, 0, 1}), doubles(Shape{1}, {7})}, {}, "[1]");
  for (const char* op : {"Pad", "PadV2"}) {
    std::vector<Tensor> inputs{filled(Shape{3}), long_pairs({1, INT64_MAX})};
    if (op == std::string_view("PadV2")) inputs.push_back(one());
    cases.bad(op, inputs, {}, "too large");
    inputs[1] = long_pairs({0, int64_t{1} << 40});
    cases.bad(op, inputs, {}, "", Code::ResourceExhausted);
  }
}

void add_mirror_pad_cases(OpCases& cases) {
  const Tensor box = filled(Shape{2, 3, 5});
  for (const char* mode : {"SYMMETRIC", "REFLECT"}) {
    const Attributes attrs{{"mode", std::string(mode)}};
    cases.good_in_every_type("MirrorPad", {box, pairs({1, 0, 1, 2, 3, 4})}, attrs);
    cases.good("MirrorPad", {filled(Shape{2, 0, 5}), pairs({1, 0, 0, 0, 3, 4})}, attrs);
    cases.good("MirrorPad", {one(), pairs({})}, attrs);
    cases.good("MirrorPad", {box, pairs({0, 0, 0, 0, 0, 0})}, attrs);
    cases.good("MirrorPad", {large(Shape{300, 401}), pairs({299, 7, 0, 3})}, attrs);
    cases.good_in_every_type("MirrorPadGrad", {filled(Shape{3, 6, 12}), pairs({1, 0, 1, 2, 3, 4})}, attrs);
    cases.good("MirrorPadGrad", {filled(Shape{3, 2, 12}), pairs({1, 0, 0, 0, 3, 4})}, attrs);
    cases.good("MirrorPadGrad", {filled(Shape{3, 0, 12}), pairs({1, 0, 0, 0, 3, 4})}, attrs);
    cases.good("MirrorPadGrad", {one(), pairs({})}, attrs);
    cases.good("MirrorPadGrad", {box, pairs({0, 0, 0, 0, 0, 0})}, attrs);
    cases.good("MirrorPadGrad", {large(Shape{606, 404}), pairs({299, 7, 0, 3})}, attrs);
    cases.bad("MirrorPad", {box, pairs({0, 0, 0, 0, 0, 6})}, attrs,
              "padding (0, 6) of dimension 2 is too large");
    cases.bad("MirrorPad", {box, pairs({0, 0, 0, -1, 0, 0})}, attrs,
              "the padding (0, -1) of dimension 1 must not be negative");
    cases.bad("MirrorPad", {filled(Shape{0}), pairs({1, 0})}, attrs, "too large to mirror");
    cases.bad("MirrorPad", {box, long_pairs({0, 0, 0, 0, INT64_MAX, 1})}, attrs, "too large");
    cases.bad("MirrorPad", {box, ints({1, 2})}, attrs, "[2]");
    cases.bad("MirrorPadGrad", {filled(Shape{5}), pairs({3, 3})}, attrs,
              "is more than the size of the dimension, 5");
    cases.bad("MirrorPadGrad", {filled(Shape{5}), pairs({3, 0})}, attrs,
              "is too large to mirror a dimension of size 2");
    cases.bad("MirrorPadGrad", {filled(Shape{5}), long_pairs({INT64_MAX, INT64_MAX})}, attrs, "is more than");
    cases.bad("MirrorPadGrad", {filled(Shape{5}), pairs({-1, 0})}, attrs, "must not be negative");
  }
  const Attributes reflect{{"mode", std::string("REFLECT")}};
  cases.bad("MirrorPad", {box, pairs({0, 0, 0, 0, 0, 5})}, reflect,
            "is too large to mirror a dimension of size 5");
  cases.bad("MirrorPadGrad", {filled(Shape{4}), pairs({2, 0})}, reflect,
            "is too large to mirror a dimension of size 2");
  cases.bad("MirrorPad", {box, pairs({0, 0, 0, 0, 0, 0})}, {{"mode", std::string("EDGE")}}, "EDGE");
}

// ---- Blocks

void add_space_depth_cases(OpCases& cases) {
  const auto block = [](int64_t size, const char* format = "NHWC") {
    return Attributes{{"block_size", size}, {"data_format", std::string(format)}};
  };
  cases.good_in_every_type("SpaceToDepth", {filled(Shape{2, 4, 6, 3})}, block(2));
  cases.good_in_every_type("DepthToSpace", {filled(Shape{2, 2, 3, 12})}, block(2));
  cases.good("SpaceToDepth", {filled(Shape{2, 5, 4, 6})}, block(2, "NCHW"));
  cases.good("DepthToSpace", {filled(Shape{2, 12, 3, 5})}, block(2, "NCHW"));
  cases.good("SpaceToDepth", {filled(Shape{1, 3, 9, 1})}, block(3));
  cases.good("DepthToSpace", {filled(Shape{1, 1, 3, 9})}, block(3));
  cases.good("SpaceToDepth", {large(Shape{3, 64, 70, 9})}, block(2));
  cases.good("DepthToSpace", {large(Shape{3, 32, 35, 36})}, block(2));
  cases.good("SpaceToDepth", {filled(Shape{2, 0, 4, 3})}, block(2));
  cases.good("DepthToSpace", {filled(Shape{0, 4, 4, 8})}, block(2));
  for (const char* op : {"SpaceToDepth", "DepthToSpace"}) {
    cases.bad(op, {filled(Shape{4, 4, 4})}, block(2), "");
    cases.bad(op, {one()}, block(2), "");
    cases.bad(op, {filled(Shape{2, 3, 4, 5})}, block(2), "is not a multiple of");
    cases.bad(op, {filled(Shape{2, 3, 4, 5})}, block(1), "block_size");
    cases.bad(op, {filled(Shape{2, 4, 4, 4})}, block(INT64_MAX),
              "block_size 9223372036854775807 is too large");
    cases.bad(op, {filled(Shape{2, 0, 0, 3})}, block(int64_t{1} << 31), "");
    cases.bad(op, {filled(Shape{2, 4, 4, 4})}, block(2, "NCHW_VECT_C"), "NCHW_VECT_C");
  }
}

void add_space_batch_nd_cases(OpCases& cases) {
  const Tensor image = filled(Shape{2, 4, 5, 3}), two = ints({2, 3}), margins = pairs({1, 1, 0, 1});
  const Tensor stacked = filled(Shape{12, 2, 3, 3});
  cases.good_in_every_type("SpaceToBatchND", {image, two, margins});
  cases.good_in_every_type("BatchToSpaceND", {stacked, two, margins});
  cases.good("SpaceToBatchND", {image, ints({2}), pairs({0, 0})});
  cases.good("BatchToSpaceND", {stacked, ints({2}), pairs({0, 0})});
  cases.good("SpaceToBatchND", {image, ints({4, 1, 7}), pairs({9, 3, 0, 2, 11, 0})});
  cases.good("BatchToSpaceND", {filled(Shape{12, 3, 2}), ints({4}), pairs({9, 1})});
  cases.good("BatchToSpaceND", {filled(Shape{12, 3, 2}), ints({4}), pairs({5, 7})});
  for (const char* op : {"SpaceToBatchND", "BatchToSpaceND"}) {
    cases.good(op, {filled(Shape{2, 3, 5}), ints({}), pairs({})});
    cases.good(op, {filled(Shape{0, 3, 5}), ints({3}), pairs({0, 0})});
    cases.good(op, {filled(Shape{6, 0, 5}), ints({3}), pairs({0, 0})});
    cases.good(op, {large(Shape{4, 70, 66, 9}), ints({2, 2}), pairs({2, 0, 1, 1})});
    cases.bad(op, {one(), ints({2}), pairs({0, 0})}, {}, "");
    cases.bad(op, {image, ints({0}), pairs({0, 0})}, {}, "block_shape [0] has an element less than 1");
    cases.bad(op, {image, ints({-2}), pairs({0, 0})}, {}, "block_shape [-2] has an element less than 1");
    cases.bad(op, {image, int_scalar(2), pairs({0, 0})}, {}, "block_shape");
    cases.bad(op, {image, ints({2}), pairs({-1, 1})}, {}, "has a negative element");
    cases.bad(op, {image, two, pairs({0, 0})}, {}, "");
    cases.bad(op, {image, ints({2}), ints({0, 0})}, {}, "[2]");
    cases.bad(op, {image, ints({1, 1, 1, 1}), pairs({0, 0, 0, 0, 0, 0, 0, 0})}, {}, "");
    cases.bad(op, {image, ints({2}), long_pairs({INT64_MAX, INT64_MAX})}, {}, "");
    cases.bad(op, {filled(Shape{0, 0, 0}), longs({INT64_MAX, 4}), pairs({0, 0, 0, 0})}, {}, "is too large");
    cases.bad(op, {filled(Shape{4, 1, 1}), longs({INT64_MAX, 1}), pairs({0, 0, 0, 0})}, {}, "");
  }
  cases.bad("SpaceToBatchND", {image, ints({3}), pairs({0, 0})}, {},
            "the padded size 4 is not a multiple of block 3");
  cases.bad("BatchToSpaceND", {image, ints({3}), pairs({0, 0})}, {},
            "does not divide the size of dimension 0");
  cases.bad("BatchToSpaceND", {stacked, ints({2}), pairs({3, 2})}, {}, "crops (3, 2) are more than the size");
}

void add_space_batch_cases(OpCases& cases) {
  const Attributes two{{"block_size", int64_t{2}}};
  const Tensor margins = pairs({1, 1, 0, 1});
  cases.good_in_every_type("SpaceToBatch", {filled(Shape{2, 4, 5, 3}), margins}, two);
  cases.good_in_every_type("BatchToSpace", {filled(Shape{8, 2, 3, 3}), margins}, two);
  for (const char* op : {"SpaceToBatch", "BatchToSpace"}) {
    cases.good(op, {filled(Shape{0, 4, 2, 3}), pairs({0, 0, 0, 0})}, two);
    cases.good(op, {filled(Shape{9, 3, 3, 1}), pairs({0, 0, 0, 0})}, {{"block_size", int64_t{3}}});
    cases.bad(op, {filled(Shape{8, 4, 4}), margins}, two, "");
    cases.bad(op, {one(), margins}, two, "");
    cases.bad(op, {filled(Shape{8, 4, 4, 1}), pairs({0, 0})}, two, "");
    cases.bad(op, {filled(Shape{8, 4, 4, 1}), pairs({0, 0, -2, 0})}, two, "has a negative element");
    cases.bad(op, {filled(Shape{8, 4, 4, 1}), margins}, {{"block_size", int64_t{1}}}, "block_size");
    cases.bad(op, {filled(Shape{8, 4, 4, 1}), margins}, {{"block_size", INT64_MAX}}, "");
  }
  cases.bad("SpaceToBatch", {filled(Shape{2, 4, 5, 3}), pairs({0, 0, 0, 0})}, two,
            "is not a multiple of block 2");
  cases.bad("BatchToSpace", {filled(Shape{6, 4, 5, 3}), margins}, two,
            "does not divide the size of dimension 0");
}

// ---- Sequences

void add_reverse_sequence_cases(OpCases& cases) {
  const auto axes = [](int64_t sequence, int64_t batch) {
    return Attributes{{"seq_dim", sequence}, {"batch_dim", batch}};
  };
  const Tensor box = filled(Shape{2, 3, 5});
  cases.good_in_every_type("ReverseSequence", {box, ints({2, 3})}, axes(1, 0));
  cases.good("ReverseSequence", {box, longs({0, 1, 5})}, axes(2, 1));
  cases.good("ReverseSequence", {box, longs({2, 1, 0, 2, 2})}, axes(0, -1));
  cases.good("ReverseSequence", {box, longs({3, 3, 1, 0, 2})}, axes(-2, 2));
  cases.good("ReverseSequence", {filled(Shape{0, 3}), longs({})}, axes(1, 0));
  cases.good("ReverseSequence", {filled(Shape{2, 0}), longs({0, 0})}, axes(1, 0));
  cases.good("ReverseSequence", {large(Shape{3, 501, 70}), longs({77, 0, 501})}, axes(1, 0));
  cases.bad("ReverseSequence", {box, longs({2, 4})}, axes(1, 0), "seq_lengths[1] = 4 is not in [0, 3]");
  cases.bad("ReverseSequence", {box, longs({-1, 3})}, axes(1, 0), "seq_lengths[0] = -1 is not in [0, 3]");
  cases.bad("ReverseSequence", {box, longs({INT64_MAX, 3})}, axes(1, 0), "is not in [0, 3]");
  cases.bad("ReverseSequence", {box, longs({2})}, axes(1, 0), "");
  cases.bad("ReverseSequence", {box, long_scalar(2)}, axes(1, 0), "");
  cases.bad("ReverseSequence", {box, longs({2, 3})}, axes(0, -3),
            "seq_dim and batch_dim are both dimension 0");
  cases.bad("ReverseSequence", {box, longs({2, 3})}, axes(3, 0), "axis 3 is outside [-3, 3)");
  cases.bad("ReverseSequence", {box, longs({2, 3})}, axes(1, -4), "axis -4 is outside [-3, 3)");
  cases.bad("ReverseSequence", {one(), longs({})}, axes(0, 0), "axis 0");
}

// ---- Diagonals

void add_diag_cases(OpCases& cases) {
  cases.good_in_every_type("Diag", {filled(Shape{5})});
  cases.good("Diag", {filled(Shape{2, 3})});
  cases.good("Diag", {filled(Shape{0, 3})});
  cases.bad("Diag", {one()}, {}, "diagonal is a scalar");
  cases.good_in_every_type("DiagPart", {filled(Shape{5, 5})});
  cases.good("DiagPart", {filled(Shape{2, 3, 2, 3})});
  cases.good("DiagPart", {filled(Shape{0, 3, 0, 3})});
  for (const Tensor& input : {one(), filled(Shape{3}), filled(Shape{2, 3}), filled(Shape{2, 2, 2})})
    cases.bad("DiagPart", {input}, {}, "has no diagonal");

  const Tensor matrices = filled(Shape{2, 3, 5});
  cases.good_in_every_type("MatrixBandPart", {matrices, int_scalar(1), int_scalar(0)});
  for (const auto& [lower, upper] :
       std::vector<std::pair<int64_t, int64_t>>{{0, 0}, {-1, 1}, {2, -5}, {3, 5}, {0, 3}})
    for (const Tensor& input : {matrices, filled(Shape{7, 5})})
      cases.good("MatrixBandPart", {input, long_scalar(lower), long_scalar(upper)});
  for (const Tensor& input : {filled(Shape{2, 0, 5}), filled(Shape{0, 3, 5}), filled(Shape{3, 0})})
    cases.good("MatrixBandPart", {input, long_scalar(0), long_scalar(0)});
  cases.good("MatrixBandPart", {large(Shape{301, 403}), long_scalar(5), long_scalar(77)});
  cases.bad("MatrixBandPart", {matrices, long_scalar(4), long_scalar(0)}, {},
            "num_lower is 4, the most is 3");
  cases.bad("MatrixBandPart", {matrices, long_scalar(0), long_scalar(INT64_MAX)}, {}, "num_upper is 922");
  cases.bad("MatrixBandPart", {matrices, longs({1, 1}), long_scalar(0)}, {}, "[2]");
  cases.bad("MatrixBandPart", {filled(Shape{3}), long_scalar(0), long_scalar(0)}, {}, "holds no matrices");
  cases.bad("MatrixBandPart", {one(), long_scalar(0), long_scalar(0)}, {}, "holds no matrices");
}

void add_first_matrix_diag_cases(OpCases& cases) {
  cases.good_in_every_type("MatrixDiag", {filled(Shape{2, 5})});
  cases.good_in_every_type("MatrixDiagPart", {filled(Shape{2, 3, 5})});
  cases.good_in_every_type("MatrixSetDiag", {filled(Shape{2, 3, 5}), filled(Shape{2, 3}, 2)});
  cases.good("MatrixDiag", {filled(Shape{3})});
  cases.good("MatrixDiag", {filled(Shape{2, 0})});
  cases.bad("MatrixDiag", {one()}, {}, "diagonal of shape []");
  cases.good("MatrixDiagPart", {filled(Shape{5, 3})});
  for (const Tensor& input : {filled(Shape{0, 3}), filled(Shape{0, 3, 3})}) {
    cases.good("MatrixDiagPart", {input});
    cases.good("MatrixSetDiag", {input, filled(input.shape().rank() == 2 ? Shape{0} : Shape{0, 3})});
  }
  for (const Tensor& input : {one(), filled(Shape{3})}) {
    cases.bad("MatrixDiagPart", {input}, {}, "holds no matrices");
    cases.bad("MatrixSetDiag", {input, one()}, {}, "holds no matrices");
  }
  cases.bad("MatrixSetDiag", {filled(Shape{2, 3, 5}), filled(Shape{2, 5})}, {}, "[2,5]");
  cases.bad("MatrixSetDiag", {filled(Shape{2, 3, 5}), filled(Shape{3})}, {}, "[3]");
}

/// Of both later versions; `attrs` are those of V3.
void add_diag_versions(OpCases& cases, const std::string& op, const std::vector<Tensor>& inputs,
                       bool every_type) {
  for (const std::string version : {"V2", "V3"}) {
    if (every_type)
      cases.good_in_every_type(op + version, inputs);
    else
      cases.good(op + version, inputs);
  }
  for (const char* align : {"LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"})
    cases.good(op + "V3", inputs, {{"align", std::string(align)}});
}

void add_later_matrix_diag_cases(OpCases& cases) {
  const Tensor none = int_scalar(-1), zero = int_scalar(0), matrices = filled(Shape{2, 3, 5});
  add_diag_versions(cases, "MatrixDiag", {filled(Shape{2, 3, 3}), ints({-1, 1}), none, none, one(7)}, true);
  add_diag_versions(cases, "MatrixDiag",
                    {filled(Shape{2, 3, 3}), ints({0, 2}), int_scalar(3), int_scalar(4), one(7)}, false);
  add_diag_versions(cases, "MatrixDiag", {filled(Shape{5}), int_scalar(-2), none, int_scalar(7), one(7)},
                    false);
  add_diag_versions(cases, "MatrixDiag", {filled(Shape{3, 0}), zero, none, none, one(7)}, false);
  add_diag_versions(cases, "MatrixDiagPart", {matrices, ints({-2, 3}), one(7)}, true);
  add_diag_versions(cases, "MatrixDiagPart", {filled(Shape{5, 3}), ints({-4, 0}), one(7)}, false);
  add_diag_versions(cases, "MatrixDiagPart", {matrices, ints({4}), one(7)}, false);
  add_diag_versions(cases, "MatrixDiagPart", {filled(Shape{2, 0, 3}), ints({0, 1}), one(7)}, false);
  add_diag_versions(cases, "MatrixDiagPart", {large(Shape{301, 403}), ints({-9, 11}), floats({}, {7})},
                    false);
  add_diag_versions(cases, "MatrixSetDiag", {matrices, filled(Shape{2, 4, 3}, 2), ints({-1, 2})}, true);
  add_diag_versions(cases, "MatrixSetDiag", {filled(Shape{5, 3}), filled(Shape{2}, 2), int_scalar(-3)},
                    false);
  add_diag_versions(cases, "MatrixSetDiag", {filled(Shape{2, 0, 3}), filled(Shape{2, 0}), zero}, false);
  for (const std::string version : {"V2", "V3"}) {
    const std::string diag = "MatrixDiag" + version, part = "MatrixDiagPart" + version,
                      set = "MatrixSetDiag" + version;
    const Tensor three = filled(Shape{3, 2});
    cases.bad(diag, {one(), zero, none, none, one()}, {}, "diagonal of shape []");
    cases.bad(diag, {filled(Shape{3}), ints({0, 1}), none, none, one()}, {}, "diagonal of shape [3]");
    cases.bad(diag, {three, ints({0, 1}), none, none, one()}, {}, "does not hold 2 diagonals");
    cases.bad(diag, {three, ints({1, -1}), none, none, one()}, {}, "the first is above the second");
    cases.bad(diag, {three, ints({0, 1, 2}), none, none, one()}, {}, "k has 3 elements");
    cases.bad(diag, {three, ints(Shape{1, 1}, {0}), none, none, one()}, {}, "[1,1]");
    cases.bad(diag, {three, zero, int_scalar(1), none, one()}, {}, "num_rows is 1, the diagonals need 2");
    cases.bad(diag, {three, zero, none, int_scalar(-2), one()}, {}, "num_cols is -2");
    cases.bad(diag, {three, zero, int_scalar(4), int_scalar(5), one()}, {},
              "do not fit matrices of shape [4,5]");
    cases.bad(diag, {three, zero, none, none, doubles(Shape{1}, {1})}, {}, "[1]");
    cases.bad(part, {filled(Shape{3}), zero, one()}, {}, "holds no matrices");
    cases.bad(part, {matrices, ints({-3, 0}), one()}, {}, "k [-3, 0] is outside of matrices of shape [3,5]");
    cases.bad(part, {matrices, int_scalar(5), one()}, {}, "k [5, 5] is outside of matrices of shape [3,5]");
    cases.bad(part, {matrices, int_scalar(INT32_MIN), one()}, {}, "is outside of matrices");
    cases.bad(part, {matrices, ints({}), one()}, {}, "k has 0 elements");
    cases.bad(part, {matrices, zero, doubles(Shape{1}, {1})}, {}, "[1]");
    cases.bad(set, {one(), one(), zero}, {}, "holds no matrices");
    cases.bad(set, {matrices, filled(Shape{2, 3}), ints({0, 1})}, {}, "[2,3]");
    cases.bad(set, {matrices, filled(Shape{2, 3}), ints({1, 0})}, {}, "the first is above the second");
    cases.bad(set, {matrices, filled(Shape{2, 3}), int_scalar(INT32_MAX)}, {}, "is outside of matrices");
  }
}

// ---- Types and shapes

void add_bitcast_cases(OpCases& cases) {
  const Tensor doubled = filled(Shape{2, 5});
  const auto to = [](DType type) { return Attributes{{"type", type}}; };
  for (int number = 1; dtype_from_number(number).ok(); ++number) {
    const auto type = static_cast<DType>(number);
    if (!is_plain(type) || type == DType::Bool) continue;
    cases.good("Bitcast", {converted(doubled, type)}, to(type));
    cases.good("Bitcast", {converted(doubled, type)}, to(DType::UInt8));
    const Tensor bytes = converted(filled(Shape{3, static_cast<int64_t>(size_of(type))}), DType::UInt8);
    cases.good("Bitcast", {bytes}, to(type));
  }
  cases.good("Bitcast", {one()}, to(DType::Int64));
  cases.good("Bitcast", {filled(Shape{0})}, to(DType::Int32));
  cases.good("Bitcast", {floats(Shape{3, 0, 2}, {})}, to(DType::Complex64));
  cases.bad("Bitcast", {floats(Shape{3}, {1, 2, 3})}, to(DType::Int64), "the last dimension must be 2");
  cases.bad("Bitcast", {floats({}, {1})}, to(DType::Int64), "the last dimension must be 2");
  cases.bad("Bitcast", {floats(Shape{0}, {})}, to(DType::Int64), "the last dimension must be 2");
  cases.bad("Bitcast", {strings({"a"})}, to(DType::Int64), "T is string");
  cases.bad("Bitcast", {one()}, to(DType::Bool), "type is bool");
}

void add_broadcast_args_cases(OpCases& cases) {
  cases.good_in_every_type("BroadcastArgs", {ints({2, 1, 3, 5, 1}), ints({4, 1, 5, 9})});
  cases.good("BroadcastArgs", {ints({}), ints({3})});
  cases.good("BroadcastArgs", {longs({0, 1}), longs({1, INT64_MAX})});
  cases.bad("BroadcastArgs", {ints({2, 4}), ints({3})}, {}, "s0 [2,4] and s1 [3] do not broadcast");
  cases.bad("BroadcastArgs", {ints({-1, 2}), ints({3, 2})}, {}, "do not broadcast");
  cases.bad("BroadcastArgs", {int_scalar(2), ints({3})}, {}, "[]");
}

void add_ensure_shape_cases(OpCases& cases) {
  const Tensor box = filled(Shape{2, 3, 5});
  const auto shape = [](const PartialShape& value) { return Attributes{{"shape", value}}; };
  cases.good_in_every_type("EnsureShape", {box}, shape({2, -1, 5}));
  cases.good("EnsureShape", {box}, shape(PartialShape()));
  cases.good("EnsureShape", {filled(Shape{0, 2})}, shape({-1, 2}));
  cases.good("EnsureShape", {one()}, shape(PartialShape::scalar()));
  cases.bad("EnsureShape", {box}, shape({2, -1, 4}), "[2,?,4]");
  cases.bad("EnsureShape", {box}, shape({-1, -1}), "[?,?]");
  cases.bad("EnsureShape", {one()}, shape({1}), "[1]");
}

void add_data_format_cases(OpCases& cases) {
  const auto formats = [](const char* from, const char* to) {
    return Attributes{{"src_format", std::string(from)}, {"dst_format", std::string(to)}};
  };
  cases.good_in_every_type("DataFormatDimMap", {ints({1, 2, 3, 1, 2, 3, 1})});
  cases.good("DataFormatDimMap", {ints(Shape{2, 4}, {-4, -3, -2, -1, 0, 1, 2, 3})}, formats("NHWC", "HWNC"));
  cases.good("DataFormatDimMap", {int_scalar(-1)}, formats("NDHWC", "NCDHW"));
  cases.good("DataFormatDimMap", {ints({})});
  cases.bad("DataFormatDimMap", {ints({4})}, {}, "dimension 4 is not in [-4, 4), the dimensions of 'NHWC'");
  cases.bad("DataFormatDimMap", {ints({-5})}, {}, "dimension -5");
  cases.bad("DataFormatDimMap", {ints({1, 0})}, formats("NC", "CN"),
            "src_format is 'NC'; it must have four or five letters");
  cases.good_in_every_type("DataFormatVecPermute", {ints(Shape{4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})});
  cases.good("DataFormatVecPermute", {ints({1, 2, 3, 4})}, formats("NCHW", "NHWC"));
  cases.good("DataFormatVecPermute", {ints({1, 2})}, formats("NHWC", "WHCN"));
  cases.good("DataFormatVecPermute", {ints({1, 2, 3, 4, 5})}, formats("NDHWC", "NCDHW"));
  cases.good("DataFormatVecPermute", {ints({})}, formats("NC", "CN"));
  cases.bad("DataFormatVecPermute", {int_scalar(1)}, {}, "x has shape []");
  cases.bad("DataFormatVecPermute", {ints({1, 2, 3})}, {}, "with 4 or 2 rows");
  for (const char* op : {"DataFormatDimMap", "DataFormatVecPermute"}) {
    cases.bad(op, {ints({1, 2})}, formats("NHWC", "NHW"), "must have the same letters, once each");
    cases.bad(op, {ints({1, 2})}, formats("NHHC", "HNHC"), "must have the same letters, once each");
  }
}

}  // namespace

void add_layout_cases(OpCases& cases) {
  add_data_format_cases(cases);
  add_pad_v2_cases(cases);
  add_mirror_pad_cases(cases);
  add_space_depth_cases(cases);
  add_space_batch_nd_cases(cases);
  add_space_batch_cases(cases);
  add_reverse_sequence_cases(cases);
  add_diag_cases(cases);
  add_first_matrix_diag_cases(cases);
  add_later_matrix_diag_cases(cases);
  add_bitcast_cases(cases);
  add_broadcast_args_cases(cases);
  add_ensure_shape_cases(cases);
}

}  // namespace troupe::test
