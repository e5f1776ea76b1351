// Samples of the ops of kernels/ops/nn.
#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
namespace {

/// Returns a matrix whose rows are distributions.
Tensor distributions(int64_t rows, int64_t classes) {
  Tensor tensor = random_doubles(Shape{rows, classes}, 0.1, 1, 21);
  const auto values = tensor.write<double>();
  for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
    const auto row_values = values.subspan(row * static_cast<size_t>(classes), static_cast<size_t>(classes));
    double total = 0;
    for (const double value : row_values) total += value;
    for (double& value : row_values) value /= total;
  }
  return tensor;
}

Tensor labels(int64_t rows, int32_t classes, DType dtype) {
  return converted(random_doubles(Shape{rows}, 0, classes, 22), dtype);
}

void add_activation_cases(OpCases& cases) {
  for (const char* op :
       {"Relu", "Relu6", "LeakyRelu", "Elu", "Selu", "Softplus", "Softsign", "Sigmoid", "Tanh"}) {
    add_function_cases(cases, op, -4, 8);
    cases.good(op, {converted(random_doubles(Shape{37}, -100, 100), DType::Float)});
  }
  for (const char* op : {"Relu", "Relu6"})
    for (const DType dtype : {DType::Int32, DType::Int8, DType::UInt8, DType::Int64})
      cases.good(op, {converted(random_doubles(Shape{37}, -9, 9), dtype)});
  for (const char* op : {"ReluGrad", "Relu6Grad", "LeakyReluGrad", "EluGrad", "SeluGrad", "SoftplusGrad",
                         "SoftsignGrad", "SigmoidGrad", "TanhGrad"}) {
    add_paired_cases(cases, op, -0.9, 0.9);
    add_paired_cases(cases, op, 3, 8);
  }
}

void add_loss_cases(OpCases& cases) {
  for (const char* op : {"Softmax", "LogSoftmax"}) {
    for (const Shape& shape : {Shape{3}, Shape{4, 7}, Shape{2, 3, 17}, Shape{0, 3}, Shape{2, 1}})
      cases.good(op, {random_doubles(shape, -3, 3)});
    cases.good_in_every_type(op, {random_doubles(Shape{5, 33}, -60, 60)});
    cases.good(op, {converted(random_doubles(Shape{3, 10007}, -5, 5), DType::Float)});
    cases.good(op, {converted(random_doubles(Shape{5000, 11}, 900, 1000), DType::Float)});
    cases.bad(op, {doubles({}, {1})}, {}, "scalar");
    cases.bad(op, {ints({1})}, {}, "T is int32");
  }
  const char* dense = "SoftmaxCrossEntropyWithLogits";
  cases.good(dense, {random_doubles(Shape{4, 7}, -3, 3), distributions(4, 7)});
  for (const DType dtype : {DType::Float, DType::Half, DType::BFloat16})
    cases.good(dense, {converted(random_doubles(Shape{70, 33}, -30, 30), dtype),
                       converted(distributions(70, 33), dtype)});
  cases.good(dense, {floats(Shape{0, 3}, {}), floats(Shape{0, 3}, {})});
  const Tensor scores = random_doubles(Shape{4, 7}, -3, 3), row = distributions(1, 7);
  const Tensor even = doubles(Shape{1, 1}, {1.0 / 7});
  for (const Tensor& labels : {row, row.reshaped(Shape{7}), even, even.reshaped(Shape())})
    cases.good(dense, {scores, labels});
  for (const Shape& shape : {Shape{1, 7}, Shape{4, 1}, Shape{7}, Shape{1, 1}, Shape()})
    cases.good(dense, {random_doubles(shape, -3, 3), distributions(4, 7)});
  cases.good(dense, {random_doubles(Shape{4, 1}, -3, 3), row});
  cases.good(dense, {converted(scores, DType::Half), converted(row, DType::Half)});
  cases.bad(dense, {random_doubles(Shape{2, 3}, 0, 1), random_doubles(Shape{2, 4}, 0, 1)}, {}, "[2,");
  cases.bad(dense, {doubles({}, {1}), doubles({}, {1})}, {}, "[]");
  cases.bad(dense, {random_doubles(Shape{3}, 0, 1), random_doubles(Shape{3}, 0, 1)}, {}, "[3]");
  cases.bad(dense, {random_doubles(Shape{2, 0}, 0, 1), random_doubles(Shape{2, 0}, 0, 1)}, {}, "no classes");
  const char* sparse = "SparseSoftmaxCrossEntropyWithLogits";
  for (const DType dtype : {DType::Int32, DType::Int64}) {
    cases.good(sparse, {random_doubles(Shape{4, 7}, -3, 3), labels(4, 7, dtype)});
    cases.good(sparse,
               {converted(random_doubles(Shape{3000, 10}, -30, 30), DType::Float), labels(3000, 10, dtype)});
  }
  for (const DType dtype : {DType::Half, DType::BFloat16})
    cases.good(sparse,
               {converted(random_doubles(Shape{70, 33}, -30, 30), dtype), labels(70, 33, DType::Int32)});
  cases.good(sparse, {random_doubles(Shape{0, 3}, 0, 1), ints({})});
  const Tensor features = random_doubles(Shape{3, 4}, -1, 1);
  cases.bad(sparse, {features, ints({0, 4, 1})}, {}, "labels[1] = 4 is not in [0, 4)");
  cases.bad(sparse, {features, Tensor::vector<int64_t>({0, 1, -1})}, {}, "labels[2] = -1 is not in [0, 4)");
  cases.bad(sparse, {features, ints({0, 1})}, {}, "3");
  cases.bad(sparse, {doubles({}, {1}), int_scalar(0)}, {}, "[]");
  cases.bad(sparse, {features, ints(Shape{3, 1}, {0, 1, 2})}, {}, "[3,1]");
  cases.bad(sparse, {floats(Shape{2, 0}, {}), ints({0, 0})}, {}, "no classes");
  for (const Shape& shape : {Shape(), Shape{5}, Shape{3, 4}, Shape{0}})
    cases.good("L2Loss", {random_doubles(shape, -2, 2)});
  for (const DType dtype : {DType::Float, DType::Half, DType::BFloat16})
    cases.good("L2Loss", {converted(random_doubles(Shape{1031}, -2, 2), dtype)});
  cases.good("L2Loss", {converted(random_doubles(Shape{200003}, -2, 2), DType::Float)});
  cases.bad("L2Loss", {ints({1})}, {}, "T is int32");
}

void add_bias_cases(OpCases& cases) {
  const Tensor box = random_doubles(Shape{2, 3, 5}, 1, 9), last = random_doubles(Shape{5}, 1, 9, 2);
  const Attributes second{{"data_format", std::string("NCHW")}};
  for (const char* op : {"BiasAdd", "BiasAddV1"}) {
    cases.good_in_every_type(op, {box, last});
    cases.good(op, {rows(3), last});
    cases.good(op, {rows(0), last});
    cases.bad(op, {box, random_doubles(Shape{3}, 1, 9)}, {}, "3");
    cases.bad(op, {last, last}, {}, "rank 1 has no channels");
    cases.bad(op, {box, one()}, {}, "[]");
  }
  cases.good("BiasAdd", {box, random_doubles(Shape{3}, 1, 9, 2)}, second);
  cases.good("BiasAdd", {random_doubles(Shape{2, 3, 2, 2}, 1, 9), random_doubles(Shape{3}, 1, 9, 2)}, second);
  cases.good("BiasAdd",
             {converted(random_doubles(Shape{300, 7, 101}, 1, 9), f32),
              converted(random_doubles(Shape{7}, 1, 9), f32)},
             second);
  cases.bad("BiasAdd", {rows(3), random_doubles(Shape{5}, 1, 9)}, second, "rank 2 has no channels");
  cases.bad("BiasAdd", {box, last}, {{"data_format", std::string("HWC")}}, "data_format");
  cases.good_in_every_type("BiasAddGrad", {box});
  for (const Tensor& value : {rows(3), rows(0), converted(random_doubles(Shape{300, 7, 101}, 1, 9), f32)})
    cases.good("BiasAddGrad", {value});
  cases.good("BiasAddGrad", {random_doubles(Shape{2, 3, 2, 2}, 1, 9)}, second);
  cases.bad("BiasAddGrad", {last}, {}, "rank 1 has no channels");
  cases.bad("BiasAddGrad", {one()}, {}, "rank 0 has no channels");
}

}  // namespace

void add_nn_cases(OpCases& cases) {
  add_activation_cases(cases);
  add_loss_cases(cases);
  add_bias_cases(cases);
}

}  // namespace troupe::test
