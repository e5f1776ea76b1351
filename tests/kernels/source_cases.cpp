// Samples of the ops that make tensors or hand them on, and of random ones.
#include "tests/kernels/all_cases.h"

namespace troupe::test {
namespace {

Tensor box() { return random_doubles(Shape{2, 3, 5}, 1, 9, 31); }
Tensor none() { return random_doubles(Shape{0, 2}, 0, 1); }

void add_identities(OpCases& cases) {
  for (const char* op : {"Identity", "Snapshot", "StopGradient", "PreventGradient"}) {
    cases.good_in_every_type(op, {box()});
    for (const Tensor& tensor : {none(), doubles({}, {1})}) cases.good(op, {tensor});
    cases.bad(op, {}, {}, "takes 1 inputs, got 0");
  }
  cases.good("IdentityN", {box(), strings({"a", "b"}), none(), doubles({}, {1})});
  cases.good("IdentityN", {box()});
  cases.bad("IdentityN", {}, {}, "IdentityN");
  cases.good_in_every_type("PlaceholderWithDefault", {box()}, {{"shape", PartialShape{-1, 3, -1}}});
  for (const Tensor& tensor : {none(), doubles({}, {1})})
    cases.good("PlaceholderWithDefault", {tensor}, {{"shape", PartialShape(tensor.shape())}});
  cases.bad("PlaceholderWithDefault", {box()}, {{"shape", PartialShape{3}}}, "[2,3,5]");
  const Attributes message = {{"message", "here"}};
  cases.good_in_every_type("CheckNumerics", {box()}, message);
  for (const Tensor& tensor : {none(), doubles({}, {1})}) cases.good("CheckNumerics", {tensor}, message);
  cases.good("Assert", {bools({}, {true}), box(), strings({"a"})});
  cases.good("Assert", {bools({}, {true}), none()}, {{"summarize", int64_t{-1}}});
  const Tensor no = bools({}, {false});
  cases.bad("Assert", {no, ints({1, 2, 3, 4}), strings({"is wrong"})}, {},
            "assertion failed: [1 2 3...] [is wrong]");
  cases.bad("Assert", {no, floats(Shape{2}, {0.5, -1}), none()}, {{"summarize", int64_t{-1}}},
            "assertion failed: [0.5 -1] []");
  cases.bad("Assert", {bools(Shape{2}, {true, true}), box()}, {},
            "condition must be a scalar, its shape is [2]");
  cases.bad("CheckNumerics", {floats(Shape{2}, {1, INFINITY})}, message, "here : Tensor had Inf values");
  for (const DType dtype : {DType::Float, DType::Double, DType::Half, DType::BFloat16})
    cases.bad("CheckNumerics", {converted(floats(Shape{2}, {1, NAN}), dtype)}, message,
              "here : Tensor had NaN values");
}

void add_makers(OpCases& cases) {
  for (int type = 1; dtype_from_number(type).ok(); ++type) {
    if (is_local(static_cast<DType>(type))) continue;
    const Tensor value = converted(box(), static_cast<DType>(type));
    cases.good("Const", {}, {{"value", value}, {"dtype", value.dtype()}});
  }
  cases.bad("Const", {}, {{"value", box()}, {"dtype", f32}}, "value is double[2,3,5], dtype is float");
  cases.good_in_every_type("Fill", {ints({3, 5}), doubles({}, {7})});
  cases.good("Fill", {ints({2, 0}), doubles({}, {7})});
  cases.good("Fill", {ints({}), doubles({}, {7})});
  cases.bad("Fill", {ints({2, -1}), doubles({}, {7})}, {}, "-1");
  cases.bad("Fill", {ints({2}), doubles(Shape{1}, {7})}, {}, "[1]");
  cases.good("NoOp", {});
  cases.bad("NoOp", {box()}, {}, "takes 0 inputs, got 1");
  cases.good_in_every_type("Range", {int_scalar(1), int_scalar(9), int_scalar(1)});
  cases.good("Range", {int_scalar(11), int_scalar(-2), int_scalar(-3)});
  cases.good("Range", {int_scalar(3), int_scalar(3), int_scalar(1)});
  cases.bad("Range", {int_scalar(0), int_scalar(1), int_scalar(0)}, {}, "delta");
  cases.bad("Range", {int_scalar(0), int_scalar(1), int_scalar(-1)}, {}, "delta leads away from limit");
  cases.bad("Range", {int_scalar(0), ints({1}), int_scalar(1)}, {}, "[1]");
  const Tensor zero = Tensor::scalar<int64_t>(0), step = Tensor::scalar<int64_t>(1);
  cases.bad("Range", {zero, Tensor::scalar(int64_t{1} << 40), step}, {}, "needs more than",
            Code::ResourceExhausted);
  cases.good_in_every_type("LinSpace", {floats({}, {0}), floats({}, {1}), int_scalar(5)});
  cases.good("LinSpace", {floats({}, {3}), floats({}, {1}), int_scalar(1)});
  cases.bad("LinSpace", {floats({}, {0}), floats({}, {1}), int_scalar(0)}, {}, "0");
}

void add_random_cases(OpCases& cases) {
  const Attributes seeded = {{"seed", int64_t{3}}, {"dtype", f32}};
  for (const char* op : {"RandomUniform", "RandomStandardNormal", "TruncatedNormal"}) {
    cases.good_in_every_type(op, {ints({3, 7})}, seeded);
    cases.good(op, {ints({3, 70001})}, seeded);
    cases.good(op, {ints({3, 0})}, seeded);
    cases.good(op, {ints({})}, seeded);
    cases.bad(op, {ints({3, -1})}, seeded, "-1");
  }
  const Attributes seed = {{"seed", int64_t{3}}};
  cases.good_in_every_type("RandomUniformInt", {ints({7}), int_scalar(-5), int_scalar(9)}, seed);
  cases.good("RandomUniformInt", {ints({70001}), int_scalar(-5), int_scalar(9)}, seed);
  cases.good("RandomUniformInt", {ints({0}), int_scalar(-5), int_scalar(9)}, seed);
  cases.bad("RandomUniformInt", {ints({3}), int_scalar(9), int_scalar(9)}, seed, "9");
  cases.good_in_every_type("RandomShuffle", {random_doubles(Shape{11, 3}, 0, 1)}, seed);
  cases.good("RandomShuffle", {none()}, seed);
  cases.good("RandomShuffle", {doubles({}, {1})}, seed);
  cases.bad("RandomShuffle", {}, seed, "takes 1 inputs, got 0");
}

}  // namespace

void add_source_cases(OpCases& cases) {
  add_identities(cases);
  add_makers(cases);
  add_random_cases(cases);
}

}  // namespace troupe::test
