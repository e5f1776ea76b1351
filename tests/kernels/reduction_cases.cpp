#include <functional>

#include "tests/kernels/all_cases.h"

namespace troupe::test {
namespace {

const Attributes keep = {{"keep_dims", true}};

/// Every set of axes of a box, with and without the axes kept; shapes with sizes 0 and 1.
void add_axes(OpCases& cases, const std::string& op, const std::function<Tensor(const Shape&)>& make) {
  const Tensor box = make(Shape{2, 3, 2, 5});
  for (int set = 0; set < 16; ++set) {
    std::vector<int32_t> axes;
    for (int axis = 0; axis < 4; ++axis)
      if ((set >> axis & 1) != 0) axes.push_back(axis);
    cases.good(op, {box, Tensor::vector<int32_t>(std::span<const int32_t>(axes))},
               set % 2 == 0 ? keep : Attributes());
  }
  cases.good(op, {box, Tensor::vector<int64_t>({-1, 0})});
  cases.good(op, {box, int_scalar(-2)});
  cases.good(op, {make(Shape()), ints({})});
  cases.good(op, {make(Shape{1, 3, 1}), ints({0, 2})});
  cases.good(op, {make(Shape{2, 0}), ints({0})});
  cases.bad(op, {box, ints({4})}, {}, "axis 4 is outside [-4, 4)");
  cases.bad(op, {box, ints({0, -5})}, {}, "axis -5 is outside [-4, 4)");
  cases.bad(op, {box, ints(Shape{1, 1}, {0})}, {}, "are not a vector");
}

/// Large enough for blocks: long runs, tall columns, narrow columns, wide rows.
void add_large(OpCases& cases, const std::string& op) {
  const auto sample = [&](std::initializer_list<int64_t> dims, std::initializer_list<int32_t> axes) {
    cases.good(op, {converted(random_doubles(Shape(dims), 0.999, 1.001), DType::Float), ints(axes)});
  };
  sample({200003}, {0});
  sample({3, 70001}, {1});
  sample({2000, 101}, {0});
  sample({30001, 3}, {0});
  sample({150, 5003}, {0});
  sample({7, 40, 9, 31}, {1, 3});
}

}  // namespace

void add_reduction_cases(OpCases& cases) {
  const auto random = [](const Shape& shape) { return random_doubles(shape, 0.5, 2, 9); };
  for (const char* op : {"Sum", "Mean", "Prod", "Max", "Min"}) {
    add_axes(cases, op, random);
    add_large(cases, op);
    cases.good_in_every_type(op, {random_doubles(Shape{5, 7}, 1, 9), ints({1})});
    cases.bad(op, {strings({"a"}), ints({0})}, {}, "T is string");
  }
  cases.good("Prod", {doubles(Shape{4, 3}, {1, 2, 3, 0, 5, 6, 0, 8, 0, 0, 0, 0}), ints({1})});
  for (const char* op : {"Sum", "Prod"}) cases.good(op, {random_doubles(Shape{0, 3}, 0, 1), ints({0})});
  for (const char* op : {"Max", "Min"}) cases.good(op, {floats(Shape{0, 3}, {}), ints({0})});
  cases.good("Mean", {floats(Shape{0, 3}, {}), ints({0})});
  cases.bad("Mean", {ints(Shape{0, 3}, {}), ints({0})}, {}, "the mean of no integers");
  for (const char* op : {"All", "Any"})
    add_axes(cases, op, [](const Shape& shape) {  // an odd one out here and there
      return converted(converted(random_doubles(shape, -1.5, 1.5), DType::Int32), DType::Bool);
    });
  for (const char* op : {"All", "Any"})
    cases.good(op, {converted(ints({1, 1, 1, 0, 1, 1, 1}), DType::Bool), ints({0})});
  for (const char* op : {"ArgMax", "ArgMin"}) {
    cases.good_in_every_type(op, {random_doubles(Shape{9, 3}, 1, 9), int_scalar(0)}, {{"output_type", i64}});
    for (const int axis : {0, 1, 2, -1})
      cases.good(op, {random_doubles(Shape{3, 4, 5}, -1, 1), int_scalar(axis)});
    cases.good(op, {floats(Shape{5}, {1, 3, 3, 0, 0}), int_scalar(0)}, {{"output_type", i32}});
    cases.good(op, {floats(Shape{0, 2}, {}), int_scalar(1)});
    cases.bad(op, {floats(Shape{0, 2}, {}), int_scalar(0)}, {}, "axis 0 of float[0,2] is empty");
    cases.bad(op, {floats(Shape{2}, {1, 2}), int_scalar(1)}, {}, "axis 1 is outside [-1, 1)");
    cases.bad(op, {floats({}, {1}), int_scalar(0)}, {}, "a scalar");
  }
}

}  // namespace troupe::test
