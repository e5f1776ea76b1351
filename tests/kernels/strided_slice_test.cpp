// Tests of slices in the notation of NumPy; each expected value is the result of NumPy.
#include <boost/test/unit_test.hpp>

#include "kernels/constructors.h"
#include "tests/support/ops/run_op.h"

namespace troupe::test::strided_slice_test {
namespace {

struct Masks {
  int64_t begin = 0, end = 0, ellipsis = 0, new_axis = 0, shrink_axis = 0;
  operator Attributes() const {  // NOLINT: implicit, to keep the cases below short
    return {{"begin_mask", begin},
            {"end_mask", end},
            {"ellipsis_mask", ellipsis},
            {"new_axis_mask", new_axis},
            {"shrink_axis_mask", shrink_axis}};
  }
};

BOOST_AUTO_TEST_SUITE(strided_slices)

BOOST_AUTO_TEST_CASE(bounds_and_strides) {
  const Tensor x = ints({0, 1, 2, 3, 4, 5});
  const auto slice = [&](int32_t begin, int32_t end, int32_t stride, const Tensor& expected,
                         const Masks& masks = {}) {
    check_op("StridedSlice", {x, ints({begin}), ints({end}), ints({stride})}, masks, {expected});
  };
  slice(1, 4, 1, ints({1, 2, 3}));                           // x[1:4]
  slice(1, 6, 2, ints({1, 3, 5}));                           // x[1:6:2]
  slice(4, 1, -1, ints({4, 3, 2}));                          // x[4:1:-1]
  slice(0, 0, -2, ints({5, 3, 1}), {.begin = 1, .end = 1});  // x[::-2]
  slice(-3, -1, 1, ints({3, 4}));                            // x[-3:-1]
  slice(-100, 100, 3, ints({0, 3}));                         // x[-100:100:3]
  slice(4, 2, 1, ints({}));                                  // x[4:2]
  slice(2, 0, 1, int_scalar(2), {.shrink_axis = 1});         // x[2]
  slice(-1, 0, 1, int_scalar(5), {.shrink_axis = 1});        // x[-1]
  slice(3, 4, INT32_MAX, ints({3}));                         // x[3:4:2147483647]
  slice(5, 0, INT32_MIN, ints({5}));                         // x[5:0:-2147483648]
  check_refused("StridedSlice", {x, ints({6}), ints({7}), ints({1})}, Masks{.shrink_axis = 1},
                "index 6 is outside dimension 0 of size 6");
  check_refused("StridedSlice", {x, ints({-7}), ints({7}), ints({1})}, Masks{.shrink_axis = 1},
                "index -7 is outside");
  check_refused("StridedSlice", {x, ints({0}), ints({7}), ints({0})}, {}, "the stride of dimension 0 is 0");
}

BOOST_AUTO_TEST_CASE(several_dimensions) {
  const Tensor x = floats(Shape{2, 3}, {0, 1, 2, 3, 4, 5});
  // x[1]
  check_op("StridedSlice", {x, ints({1}), ints({2}), ints({1})}, Masks{.shrink_axis = 1},
           {floats(Shape{3}, {3, 4, 5})});
  // x[..., 1]
  check_op("StridedSlice", {x, ints({0, 1}), ints({0, 2}), ints({1, 1})},
           Masks{.ellipsis = 1, .shrink_axis = 2}, {floats(Shape{2}, {1, 4})});
  // x[:, newaxis, ::-1]
  check_op("StridedSlice", {x, ints({0, 0, 0}), ints({0, 0, 0}), ints({1, 1, -1})},
           Masks{.begin = 5, .end = 5, .new_axis = 2}, {floats(Shape{2, 1, 3}, {2, 1, 0, 5, 4, 3})});
  // x[newaxis, ..., newaxis]
  check_op("StridedSlice", {x, ints({0, 0, 0}), ints({0, 0, 0}), ints({1, 1, 1})},
           Masks{.ellipsis = 2, .new_axis = 5}, {counting(Shape{1, 2, 3, 1})});
  check_refused("StridedSlice", {x, ints({0, 0, 0}), ints({1, 1, 1}), ints({1, 1, 1})}, {},
                "more indices than the 2 dimensions");
  check_refused("StridedSlice", {x, ints({0}), ints({1}), ints({1})}, Masks{.ellipsis = 3},
                "more than one ellipsis");
  check_refused("StridedSlice", {x, ints({0, 0}), ints({1, 1}), ints({1, 1})}, Masks{.ellipsis = 3},
                "more than one ellipsis");
  check_refused("StridedSlice", {x, ints({0, 0}), ints({1}), ints({1, 1})}, {}, "");
}

BOOST_AUTO_TEST_CASE(the_gradient_lies_where_the_slice_was) {
  const Tensor dy = floats(Shape{2}, {7, 8});
  // x[::-1, 1] of [2,3]
  check_op("StridedSliceGrad", {ints({2, 3}), ints({0, 1}), ints({0, 2}), ints({-1, 1}), dy},
           Masks{.begin = 1, .end = 1, .shrink_axis = 2}, {floats(Shape{2, 3}, {0, 8, 0, 0, 7, 0})});
  const auto refused =
      run_op("StridedSliceGrad", {ints({2, 3}), ints({0, 1}), ints({1, 2}), ints({1, 1}), dy});
  BOOST_TEST(refused.status().text() == "dy has shape [2], but the slice has shape [1,1]");
}

BOOST_AUTO_TEST_CASE(bounds_that_are_not_known_hide_only_their_own_dimensions) {
  const auto library = make_op_library();
  Graph graph{library->ops};
  const Scope g{graph};
  const Output x = placeholder(g, f32, {unknown_dim, 5, 4}), i = placeholder(g, i32, PartialShape::scalar());
  const auto integer = [&](int32_t value) { return g.constant(Tensor::scalar(value)); };
  const auto shape = [&](std::vector<Output> begin, std::vector<Output> end, const Masks& masks) {
    const Output strides = stack(g, std::vector<Output>(begin.size(), integer(1)));
    return graph.shape(g.add_one("StridedSlice", {x, stack(g, begin), stack(g, end), strides}, masks)).text();
  };
  const Output zero = integer(0), next = add(g, i, integer(1));
  // x[:, i]
  BOOST_TEST(shape({zero, i}, {zero, next}, {.begin = 1, .end = 1, .shrink_axis = 2}) == "[?,4]");
  // x[i]
  BOOST_TEST(shape({i}, {next}, {.shrink_axis = 1}) == "[5,4]");
  // x[:, :i]
  BOOST_TEST(shape({zero, zero}, {zero, i}, {.begin = 3, .end = 1}) == "[?,?,4]");
  // x[..., i, 1:-1]
  BOOST_TEST(shape({zero, i, integer(1)}, {zero, next, integer(3)}, {.ellipsis = 1, .shrink_axis = 2}) ==
             "[?,2]");
  // x[:, i:, newaxis]
  BOOST_TEST(shape({zero, i, zero}, {zero, zero, zero}, {.begin = 1, .end = 3, .new_axis = 4}) ==
             "[?,?,1,4]");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::strided_slice_test
