// Samples of the ops that rank the elements of rows: TopK, InTopK, NthElement.
#include <functional>
#include <limits>

#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
namespace {

Tensor table(const Shape& shape, uint64_t seed = 1) { return random_doubles(shape, 1, 9, seed); }

void add_top_k_samples(OpCases& cases, const std::string& op,
                       const std::function<void(const Tensor&, int32_t, bool)>& good) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const bool sorted : {false, true}) {
    good(table(Shape{3, 7}), 3, sorted);
    good(table(Shape{2, 3, 5}), 5, sorted);
  }
  good(table(Shape{9}), 1, true);
  good(table(Shape{4, 3}), 0, true);
  good(table(Shape{0, 3}), 2, true);
  good(table(Shape{3, 0}), 0, true);
  good(doubles(Shape{6}, {nan, 2, INFINITY, nan, -INFINITY, 2}), 5, true);
  good(converted(table(Shape{3, 70001}), f32), 100, true);
  good(converted(table(Shape{900, 333}), i32), 70, true);
  cases.bad(op, {strings({"a"})}, {{"k", int64_t{1}}}, "");
}

void add_top_k_cases(OpCases& cases) {
  const auto with_attr = [](int32_t k, bool sorted = true) {
    return Attributes{{"k", int64_t{k}}, {"sorted", sorted}};
  };
  add_top_k_samples(cases, "TopK", [&](const Tensor& input, int32_t k, bool sorted) {
    cases.good("TopK", {input}, with_attr(k, sorted));
  });
  add_top_k_samples(cases, "TopKV2", [&](const Tensor& input, int32_t k, bool sorted) {
    cases.good("TopKV2", {input, int_scalar(k)}, {{"sorted", sorted}});
  });
  const Tensor rows = doubles(Shape{2, 5}, {2, 1, 5, 3, 4, 9, 6, 8, 7, 1});
  cases.good_in_every_type("TopK", {rows}, with_attr(3));
  cases.good_in_every_type("TopKV2", {rows, int_scalar(3)});
  cases.good_in_every_type("TopKV2", {rows, int_scalar(3)}, {{"index_type", i64}});
  cases.good("TopKV2", {floats(Shape{2, 5}, {2, 1, 2, 3, 2, 1, 1, 1, 1, 1}), int_scalar(4)});
  const Attributes small{{"index_type", DType::Int16}};
  cases.good("TopKV2", {converted(table(Shape{32768}), f32), int_scalar(4)}, small);
  cases.bad("TopKV2", {converted(table(Shape{32769}), f32), int_scalar(4)}, small, "does not fit int16");
  cases.bad("TopK", {one()}, with_attr(0), "input is a scalar");
  cases.bad("TopK", {rows}, with_attr(6), "k is 6; it must be in [0, 5]");
  cases.bad("TopK", {rows}, with_attr(-1), "k");
  cases.bad("TopKV2", {one(), int_scalar(0)}, {}, "input is a scalar");
  for (const int64_t k : {int64_t{6}, int64_t{-1}, INT64_MAX, INT64_MIN})
    cases.bad("TopKV2", {rows, Tensor::scalar(k)}, {},
              "k is " + std::to_string(k) + "; it must be in [0, 5]");
  cases.bad("TopKV2", {rows, ints({1})}, {}, "[1]");
}

void add_in_top_k_cases(OpCases& cases) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor predictions = floats(Shape{5, 3}, {1, 2, 3, 2, 2, 1, INFINITY, 1, 0, 1, nan, 3, 1, 1, 1});
  const Tensor targets = ints({1, 1, 1, 2, 3}), many = converted(table(Shape{700, 501}), f32);
  const Tensor some = converted(random_doubles(Shape{700}, 0, 501), i32);
  const auto add = [&](const Tensor& scores, const Tensor& classes, int32_t k) {
    cases.good("InTopK", {scores, classes}, {{"k", int64_t{k}}});
    cases.good("InTopKV2", {scores, classes, int_scalar(k)});
  };
  for (const int32_t k : {-1, 0, 1, 2, 100}) add(predictions, targets, k);
  add(predictions, ints({-1, INT32_MAX, 0, 0, INT32_MIN}), 2);
  add(many, some, 50);
  add(floats(Shape{0, 3}, {}), ints({}), 1);
  add(floats(Shape{2, 0}, {}), ints({0, 1}), 1);
  cases.good_in_every_type("InTopK", {predictions, targets}, {{"k", int64_t{2}}});
  cases.good_in_every_type("InTopKV2", {predictions, targets, int_scalar(2)});
  const auto refuse = [&](const Tensor& scores, const Tensor& classes, const char* text) {
    cases.bad("InTopK", {scores, classes}, {{"k", int64_t{2}}}, text);
    cases.bad("InTopKV2", {scores, classes, int_scalar(2)}, {}, text);
  };
  refuse(predictions, ints({1, 1}), "[2]");
  refuse(predictions, int_scalar(1), "targets");
  refuse(floats(Shape{5}, {1, 2, 3, 4, 5}), targets, "predictions");
  cases.bad("InTopKV2", {predictions, targets, ints({2})}, {}, "[1]");
}

void add_nth_element_cases(OpCases& cases) {
  const char* const op = "NthElement";
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor rows = table(Shape{3, 7}), few = doubles(Shape{2, 5}, {2, 1, 5, 3, 4, 9, 6, 8, 7, 1});
  for (const bool reverse : {false, true}) {
    const Attributes attrs{{"reverse", reverse}};
    for (const int32_t n : {0, 2, 6}) cases.good(op, {rows, int_scalar(n)}, attrs);
    cases.good_in_every_type(op, {few, int_scalar(3)}, attrs);
    cases.good(op, {doubles(Shape{5}, {nan, 1, INFINITY, -INFINITY, nan}), int_scalar(2)}, attrs);
    cases.good(op, {doubles(Shape{2}, {nan, nan}), int_scalar(0)}, attrs);
    cases.good(op, {floats(Shape{5}, {1, 2, 1, 2, 2}), int_scalar(2)}, attrs);
    cases.good(op, {table(Shape{0, 3}), int_scalar(1)}, attrs);
    cases.good(op, {converted(table(Shape{300, 3001}), f32), int_scalar(1500)}, attrs);
    cases.bad(op, {rows, int_scalar(7)}, attrs, "n is 7; it must be in [0, 7)");
  }
  cases.bad(op, {rows, int_scalar(-1)}, {}, "n is -1; it must be in [0, 7)");
  cases.bad(op, {rows, int_scalar(INT32_MAX)}, {}, "it must be in [0, 7)");
  cases.bad(op, {table(Shape{3, 0}), int_scalar(0)}, {}, "n is 0; it must be in [0, 0)");
  cases.bad(op, {one(), int_scalar(0)}, {}, "input is a scalar");
  cases.bad(op, {rows, ints({1})}, {}, "[1]");
}

}  // namespace

void add_selection_cases(OpCases& cases) {
  add_top_k_cases(cases);
  add_in_top_k_cases(cases);
  add_nth_element_cases(cases);
}

}  // namespace troupe::test
