// Samples of the sizes for which kernels of GPUs choose other ways: whole packs of elements and odd ones, tiles, chunks, and
// partial results. The samples of the ops themselves are in the other files.
#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
namespace {

Tensor numbers(const Shape& shape, double low = 0.5, double high = 1.5, DType dtype = DType::Float) {
  return converted(random_doubles(shape, low, high, 5), dtype);
}

/// Numbers 0 .. limit - 1 in another order.
Tensor scattered(int64_t count, int64_t limit) {
  std::vector<int32_t> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<int32_t>(i * 7919 % limit));
  return Tensor::vector<int32_t>(std::span<const int32_t>(values));
}

void add_broadcasts(OpCases& cases) {
  for (const DType dtype : {DType::Float, DType::Double, DType::Half}) {
    const auto sample = [&](const Shape& a, const Shape& b) {
      cases.good("Sub", {numbers(a, 1, 2, dtype), numbers(b, 3, 4, dtype)});
    };
    sample(Shape{64, 1, 32}, Shape{1, 7, 32});
    sample(Shape{33, 5}, Shape{5});
    sample(Shape{3, 4, 8}, Shape{});
    sample(Shape{8}, Shape{6, 1});
    sample(Shape{2, 1, 3, 1}, Shape{5, 1, 16});
    sample(Shape{1027}, Shape{1027});
  }
  cases.good("SelectV2", {converted(ints(Shape{3, 1}, {1, 0, 1}), DType::Bool), numbers(Shape{3, 16}),
                          numbers(Shape{16}, 3, 4)});
  cases.good("Less", {numbers(Shape{5, 16}), numbers(Shape{16})});
}

void add_moves(OpCases& cases) {
  for (const DType dtype : {DType::Float, DType::Double, DType::Half, DType::Bool}) {
    const auto box = [&](const Shape& shape) { return numbers(shape, -0.5, 9, dtype); };
    cases.good("Transpose", {box(Shape{40, 70}), ints({1, 0})});
    cases.good("Transpose", {box(Shape{3, 33, 40}), ints({0, 2, 1})});
    cases.good("Transpose", {box(Shape{3, 9, 10, 12}), ints({0, 3, 1, 2})});
    cases.good("Transpose", {box(Shape{3, 9, 10, 12}), ints({3, 1, 0, 2})});
    cases.good("Transpose", {box(Shape{5, 3, 16}), ints({1, 0, 2})});
    cases.good("Slice", {box(Shape{6, 64}), ints({1, 16}), ints({4, 32})});
    cases.good("Slice", {box(Shape{6, 63}), ints({1, 5}), ints({4, 32})});
    cases.good("Pad", {box(Shape{5, 16}), ints(Shape{2, 2}, {1, 2, 16, 0})});
    cases.good("Tile", {box(Shape{4, 8}), ints({3, 2})});
    cases.good("BroadcastTo", {box(Shape{8, 1}), ints({4, 8, 6})});
    cases.good("ConcatV2", {box(Shape{6, 8}), box(Shape{6, 16}), int_scalar(1)});
    cases.good("Gather", {box(Shape{20, 16}), scattered(50, 20)});
    cases.good("Gather", {box(Shape{20, 7}), scattered(50, 20)});
    for (const int64_t row : {16, 7})
      cases.good("DynamicStitch",
                 {scattered(6, 20), ints({29, 3, 28}), box(Shape{6, row}), box(Shape{3, row})});
    cases.good("RandomShuffle", {box(Shape{20, 16})}, {{"seed", int64_t{3}}});
    cases.good("Roll", {box(Shape{3, 4, 16}), ints({2, -1}), ints({0, 1})});
    cases.good("SpaceToBatchND", {box(Shape{1, 4, 6, 8}), ints({2, 3}), ints(Shape{2, 2}, {1, 1, 0, 3})});
    cases.good("BatchToSpaceND", {box(Shape{6, 3, 3, 8}), ints({2, 3}), ints(Shape{2, 2}, {1, 1, 0, 3})});
  }
}

/// Every function of fused programs, for a number of elements that is not a multiple of four.
void add_programs(OpCases& cases) {
  const Tensor x = numbers(Shape{37}, 0.3, 0.9), y = numbers(Shape{}, 1.2, 1.3);
  for (const char* name : {"Abs",   "Ceil",     "Elu",        "Erf",  "Exp",    "Expm1", "Floor", "Log",
                           "Log1p", "Neg",      "Reciprocal", "Relu", "Relu6",  "Rsqrt", "Selu",  "Sigmoid",
                           "Sign",  "Softplus", "Softsign",   "Sqrt", "Square", "Tanh"})
    cases.good("_FusedElementwise", {x},
               {{"program", std::vector<std::string>{std::string(name) + " 0", "Sub 1 0"}},
                {"num_args", int64_t{1}}});
  for (const char* name : {"Add",          "AddV2",       "Div",
                           "EluGrad",      "Maximum",     "Minimum",
                           "Mul",          "RealDiv",     "ReciprocalGrad",
                           "Relu6Grad",    "ReluGrad",    "RsqrtGrad",
                           "SeluGrad",     "SigmoidGrad", "SoftplusGrad",
                           "SoftsignGrad", "SqrtGrad",    "SquaredDifference",
                           "Sub",          "TanhGrad"})
    cases.good("_FusedElementwise", {x, y},
               {{"program", std::vector<std::string>{"Neg 1", std::string(name) + " 0 2", "Mul 3 0"}},
                {"num_args", int64_t{2}}});
}

void add_parts(OpCases& cases) {
  std::vector<Tensor> many;
  for (int i = 0; i < 20; ++i) many.push_back(numbers(Shape{3, 4}, i, i + 1));
  for (const int64_t axis : {0, 1, 2}) cases.good("Pack", many, {{"axis", axis}});
  cases.good("Unpack", {numbers(Shape{3, 20, 4})}, {{"num", int64_t{20}}, {"axis", int64_t{1}}});
  cases.good("Split", {int_scalar(1), numbers(Shape{3, 40})}, {{"num_split", int64_t{20}}});
  cases.good("SplitV", {numbers(Shape{3, 40}), ints({8, 0, 31, 1}), int_scalar(1)},
             {{"num_split", int64_t{4}}});
}

void add_sums(OpCases& cases) {
  for (const DType dtype : {DType::Float, DType::Double, DType::Half, DType::BFloat16})
    for (const int64_t columns : {16, 17})
      for (const int count : {2, 8, 11}) {
        std::vector<Tensor> terms;
        for (int i = 0; i < count; ++i) terms.push_back(numbers(Shape{3, columns}, i, i + 1, dtype));
        cases.good("AddN", terms);
      }
}

void add_combined_rows(OpCases& cases) {
  const Tensor ids = scattered(300, 7), positions = ids.reshaped(Shape{300, 1}),
               updates = numbers(Shape{300, 5});
  cases.good("UnsortedSegmentSum", {updates, ids, int_scalar(9)});
  cases.good("UnsortedSegmentMax", {updates, ids, int_scalar(9)});
  cases.good("ScatterNd", {positions, updates, ints({9, 5})});
  cases.good("TensorScatterUpdate", {numbers(Shape{9, 5}), positions, updates});
}

void add_lines(OpCases& cases) {
  for (const bool reverse : {false, true})
    for (const bool exclusive : {false, true}) {
      const Attributes attrs{{"reverse", reverse}, {"exclusive", exclusive}};
      cases.good("Cumsum", {numbers(Shape{3, 5000}), int_scalar(1)}, attrs);
      cases.good("Cumsum", {numbers(Shape{5000, 3}), int_scalar(0)}, attrs);
      cases.good("Cumsum", {numbers(Shape{2, 40, 3}), int_scalar(1)}, attrs);
    }
  for (const char* op : {"ArgMax", "ArgMin"}) {
    cases.good(op, {numbers(Shape{3, 70001}), int_scalar(1)});
    cases.good(op, {numbers(Shape{70001, 3}), int_scalar(0)});
    cases.good(op, {numbers(Shape{40, 30}), int_scalar(0)});
  }
  cases.good("L2Loss", {numbers(Shape{100003})});
}

}  // namespace

void add_gpu_cases(OpCases& cases) {
  add_broadcasts(cases);
  add_moves(cases);
  add_parts(cases);
  add_programs(cases);
  add_sums(cases);
  add_combined_rows(cases);
  add_lines(cases);
}

}  // namespace troupe::test
