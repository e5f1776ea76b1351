// Tests of ops that move elements: reshaping, concatenating, splitting, permuting, repeating. Each case runs with constants,
// with known shapes and with unknown shapes when the graph is built; the results must be equal.
#include <boost/test/unit_test.hpp>

#include "kernels/constructors.h"
#include "tests/support/failure_of.h"
#include "tests/support/ops/run_op.h"

namespace troupe::test::array_ops_test {
namespace {

Attributes axis(int64_t value) { return {{"axis", value}}; }

BOOST_AUTO_TEST_SUITE(array_ops)

BOOST_AUTO_TEST_CASE(every_definition_is_sound) {
  BOOST_TEST(op_library()->status.message() == Status().message());
}

BOOST_AUTO_TEST_CASE(shape_size_and_rank_are_integers) {
  const Tensor x = counting(Shape{2, 3, 0});
  check_op("Shape", {x}, {}, {ints({2, 3, 0})});
  check_op("Shape", {x}, {{"out_type", i64}}, {Tensor::vector<int64_t>({2, 3, 0})});
  check_op("ShapeN", {x, Tensor::scalar(1.0f)}, {}, {ints({2, 3, 0}), ints({})});
  check_op("Size", {x}, {}, {int_scalar(0)});
  check_op("Rank", {x}, {}, {int_scalar(3)});
  check_op("Rank", {strings({"a"})}, {}, {int_scalar(1)});
}

BOOST_AUTO_TEST_CASE(reshape_finds_the_open_dimension) {
  const Tensor x = counting(Shape{2, 6});
  check_op("Reshape", {x, ints({3, -1})}, {}, {counting(Shape{3, 4})});
  check_op("Reshape", {x, Tensor::vector<int64_t>({-1})}, {}, {counting(Shape{12})});
  check_op("Reshape", {counting(Shape{1}), ints({})}, {}, {Tensor::scalar(0.0f)});
  check_op("Reshape", {counting(Shape{0, 3}), ints({3, 0})}, {}, {counting(Shape{3, 0})});
  check_refused("Reshape", {x, ints({5, -1})}, {}, "12 elements cannot be reshaped to [5,-1]");
  check_refused("Reshape", {x, ints({3, 3})}, {}, "12 elements cannot be reshaped to [3,3]");
  check_refused("Reshape", {x, ints({-1, -1})}, {}, "more than one -1");
  check_refused("Reshape", {x, ints({-2, 3})}, {}, "below -1");
  check_refused("Reshape", {x, int_scalar(12)}, {}, "");
  check_op("Reshape", {counting(Shape{0}), ints({0, -1})}, {}, {counting(Shape{0, 1})});
  check_op("Reshape", {counting(Shape{0, 6}), ints({0, -1, 3})}, {}, {counting(Shape{0, 2, 3})});
  check_op("Reshape", {counting(Shape{0, 6}), ints({-1, 3})}, {}, {counting(Shape{0, 3})});
  check_refused("Reshape", {x, ints({0, -1})}, {}, "12 elements cannot be reshaped to [0,-1]");
  check_refused("Reshape", {x, Tensor::vector<int64_t>({INT64_MAX, INT64_MAX})}, {}, "does not fit int64");
}

// Also where a tensor is reshaped to a shape that other nodes compute.
BOOST_AUTO_TEST_CASE(a_shape_computed_from_shapes_is_known_in_part) {
  Graph graph(op_library()->ops);
  const Scope g(graph);
  const Output x = placeholder(g, f32, {-1, 7, 4}), size = shape(g, x);
  const auto shape_of = [&](const Output& target) { return g.shape(reshape(g, x, target)).text(); };
  const auto element = [&](int64_t i) {
    return g.add_one("StridedSlice",
                     {size, g.constant(ints({static_cast<int32_t>(i)})),
                      g.constant(ints({static_cast<int32_t>(i + 1)})), g.constant(ints({1}))},
                     {{"shrink_axis_mask", 1}});
  };
  BOOST_TEST(shape_of(concat(g, {slice(g, size, {0}, {1}), g.constant(ints({4, 7}))}, 0)) == "[?,4,7]");
  BOOST_TEST(shape_of(stack(g, {element(0), element(-1), g.constant(int_scalar(7))})) == "[?,4,7]");
  BOOST_TEST(shape_of(cast(g, cast(g, slice(g, size, {1}, {-1}), i64), i32)) == "[7,4]");
  BOOST_TEST(
      g.shape(reshape(g, zeros(g, {8, 6}), concat(g, {slice(g, size, {0}, {1}), g.constant(ints({12}))}, 0)))
          .text() == "[4,12]");
}

BOOST_AUTO_TEST_CASE(reshape_shares_the_buffer) {
  const Tensor x = counting(Shape{2, 3});
  const auto outputs = value_or_throw(run_op("Reshape", {x, ints({6})}));
  BOOST_TEST(outputs[0].shares_buffer_with(x));
}

BOOST_AUTO_TEST_CASE(expand_dims_and_squeeze_undo_each_other) {
  const Tensor x = counting(Shape{2, 3});
  check_op("ExpandDims", {x, int_scalar(0)}, {}, {counting(Shape{1, 2, 3})});
  check_op("ExpandDims", {x, int_scalar(-1)}, {}, {counting(Shape{2, 3, 1})});
  check_op("ExpandDims", {x, int_scalar(-3)}, {}, {counting(Shape{1, 2, 3})});
  check_refused("ExpandDims", {x, int_scalar(3)}, {}, "axis 3 is outside [-3, 3)");
  const Tensor wide = counting(Shape{1, 2, 1, 3, 1});
  check_op("Squeeze", {wide}, {}, {x});
  check_op("Squeeze", {wide}, {{"squeeze_dims", std::vector<int64_t>{0, -1}}}, {counting(Shape{2, 1, 3})});
  check_refused("Squeeze", {wide}, {{"squeeze_dims", std::vector<int64_t>{1}}},
                "dimension 1 of shape [1,2,1,3,1] is not 1");
}

BOOST_AUTO_TEST_CASE(concat_joins_along_any_axis) {
  const Tensor a = floats(Shape{2, 1}, {1, 2}), b = floats(Shape{2, 2}, {3, 4, 5, 6});
  check_op("ConcatV2", {a, b, int_scalar(1)}, {}, {floats(Shape{2, 3}, {1, 3, 4, 2, 5, 6})});
  check_op("ConcatV2", {a, b, Tensor::scalar<int64_t>(-1)}, {}, {floats(Shape{2, 3}, {1, 3, 4, 2, 5, 6})});
  check_op("Concat", {int_scalar(0), b, b}, {}, {floats(Shape{4, 2}, {3, 4, 5, 6, 3, 4, 5, 6})});
  check_op("ConcatV2", {strings({"a"}), strings({}), strings({"b", "c"}), int_scalar(0)}, {},
           {strings({"a", "b", "c"})});
  check_refused("ConcatV2", {a, b, int_scalar(0)}, {}, "differ in");
  check_refused("ConcatV2", {a, b, int_scalar(2)}, {}, "axis 2 is outside [-2, 2)");
  check_refused("ConcatV2", {Tensor::scalar(1.0f), Tensor::scalar(2.0f), int_scalar(0)}, {},
                "a scalar has no axis 0");
  check_op("ConcatOffset", {int_scalar(1), ints({2, 1}), ints({2, 5}), ints({2, 3})}, {},
           {ints({0, 0}), ints({0, 1}), ints({0, 6})});
  const auto refused = run_op("ConcatOffset", {int_scalar(1), ints({2, 1}), ints({3, 5})});
  BOOST_TEST(refused.status().text() == "shapes [2,1] and [3,5] differ in more than dimension 1");
}

BOOST_AUTO_TEST_CASE(split_cuts_into_parts) {
  const Tensor x = floats(Shape{2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});
  const Tensor left = floats(Shape{2, 2}, {0, 1, 4, 5}), right = floats(Shape{2, 2}, {2, 3, 6, 7});
  check_op("Split", {int_scalar(1), x}, {{"num_split", int64_t{2}}}, {left, right});
  check_op("Split", {int_scalar(-1), x}, {{"num_split", int64_t{2}}}, {left, right});
  check_refused("Split", {int_scalar(1), x}, {{"num_split", int64_t{3}}},
                "dimension 1 of size 4 cannot be cut into 3 equal parts");
  const Attributes two{{"num_split", int64_t{2}}};
  check_op("SplitV", {x, ints({1, -1}), int_scalar(1)}, two,
           {floats(Shape{2, 1}, {0, 4}), floats(Shape{2, 3}, {1, 2, 3, 5, 6, 7})});
  check_refused("SplitV", {x, ints({1, 2}), int_scalar(1)}, two, "do not add up to 4");
  check_refused("SplitV", {x, ints({5, -1}), int_scalar(1)}, two, "do not add up to 4");
  check_refused("SplitV", {x, ints({4}), int_scalar(1)}, two, "one size for each of the 2 outputs");
}

// Memory for so many dimensions is never asked for.
BOOST_AUTO_TEST_CASE(a_vector_of_too_many_elements_says_no_rank) {
  Graph graph(op_library()->ops);
  const Scope g(graph);
  constexpr int64_t many = int64_t{1} << 50;
  const Output x = placeholder(g, f32, PartialShape()), sizes = placeholder(g, i64, {many}),
               indices = placeholder(g, i64, {-1, many}), values = placeholder(g, f32, {-1});
  const auto check_unknown = [&](const char* op, std::vector<Output> inputs, Attributes attrs = {}) {
    const Output result = g.add_one(op, std::move(inputs), std::move(attrs));
    BOOST_TEST(!g.shape(result).known_rank(), op << " is of shape " << g.shape(result).text());
  };
  check_unknown("Slice", {x, sizes, sizes});
  check_unknown("Pad", {x, placeholder(g, i64, {many, 2})});
  check_unknown("Tile", {x, sizes});
  check_unknown("SparseTensorDenseAdd", {indices, values, sizes, x});
  check_unknown("SparseReduceSum", {indices, values, sizes, g.constant(ints({0}))}, {{"keep_dims", true}});
}

BOOST_AUTO_TEST_CASE(sizes_of_shapes_do_not_overflow) {
  Graph graph(op_library()->ops);
  const Scope g(graph);
  constexpr int64_t many = int64_t{1} << 62;
  const Output x = placeholder(g, f32, {2, many}), images = placeholder(g, f32, {1, 4, 4, many}),
               filter = placeholder(g, f32, {1, 1, many, 4});
  const Status joined = failure_of([&] { concat(g, {x, x}, 1); });
  BOOST_TEST(joined.message().find("does not fit int64") != std::string::npos);
  const Output y = depthwise_conv2d(g, images, filter, {1, 1, 1, 1}, "VALID");
  BOOST_TEST(g.shape(y).text() == "[1,4,4,?]");
  // Floats hold 16777219 only as 16777220.
  const Output rows = placeholder(g, f32, {1, 16777219, 3, 1});
  const Output pooled =
      g.add_one("FractionalMaxPool", {rows}, {{"pooling_ratio", std::vector<float>{1, 1, 1, 1}}});
  BOOST_TEST(g.shape(pooled).text() == "[1,16777219,3,1]");
}

BOOST_AUTO_TEST_CASE(slice_and_pad_are_inverse) {
  const Tensor x = floats(Shape{2, 3}, {0, 1, 2, 3, 4, 5});
  check_op("Slice", {x, ints({0, 1}), ints({2, 2})}, {}, {floats(Shape{2, 2}, {1, 2, 4, 5})});
  check_op("Slice", {x, ints({1, 0}), ints({-1, 1})}, {}, {floats(Shape{1, 1}, {3})});
  check_op("Slice", {x, ints({2, 0}), ints({0, -1})}, {}, {counting(Shape{0, 3})});
  check_op("Slice", {x, ints({0, 0}), ints({-1, -1})}, {}, {x});
  check_refused("Slice", {x, ints({0, 2}), ints({2, 2})}, {},
                "begin [0,2] and size [2,2] are out of bounds in dimension 1");
  check_refused("Slice", {x, ints({-1, 0}), ints({1, 1})}, {}, "are out of bounds in dimension 0");
  check_refused("Slice", {x, ints({0, 0}), ints({1, -2})}, {}, "are out of bounds in dimension 1");
  check_refused("Slice", {x, Tensor::vector<int64_t>({INT64_MIN, 0}), Tensor::vector<int64_t>({-1, 1})}, {},
                "are out of bounds in dimension 0");
  check_op("Pad", {x, ints(Shape{2, 2}, {1, 0, 0, 2})}, {},
           {floats(Shape{3, 5}, {0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 5, 0, 0})});
  check_op("Pad", {strings({"a"}), ints(Shape{1, 2}, {1, 1})}, {}, {strings({"", "a", ""})});
  check_refused("Pad", {x, ints(Shape{2, 2}, {1, 0, -1, 0})}, {},
                "the padding (-1, 0) of dimension 1 must not be negative");
  check_refused("Pad", {x, ints(Shape{1, 2}, {1, 0})}, {}, "paddings");
}

BOOST_AUTO_TEST_CASE(pack_and_unpack_are_inverse) {
  const Tensor a = ints({1, 2}), b = ints({3, 4});
  check_op("Pack", {a, b}, {}, {ints(Shape{2, 2}, {1, 2, 3, 4})});
  check_op("Pack", {a, b}, axis(-1), {ints(Shape{2, 2}, {1, 3, 2, 4})});
  check_op("Pack", {int_scalar(7)}, {}, {ints({7})});
  check_refused("Pack", {a, ints({1})}, {}, "differ");
  check_refused("Pack", {a, b}, axis(2), "axis 2 is outside [-2, 2)");
  check_op("Unpack", {ints(Shape{2, 2}, {1, 3, 2, 4})}, {{"num", int64_t{2}}, {"axis", int64_t{1}}}, {a, b});
  check_op("Unpack", {ints(Shape{0, 2}, {})}, {{"num", int64_t{0}}}, {});
  check_refused("Unpack", {a}, {{"num", int64_t{3}}},
                "dimension 0 of shape [2] must be equal to num, which is 3");
  check_refused("Unpack", {int_scalar(1)}, {{"num", int64_t{1}}}, "a scalar has no axis 0");
}

BOOST_AUTO_TEST_CASE(transpose_permutes) {
  check_op("Transpose", {floats(Shape{2, 3}, {0, 1, 2, 3, 4, 5}), ints({1, 0})}, {},
           {floats(Shape{3, 2}, {0, 3, 1, 4, 2, 5})});
  check_op("Transpose", {Tensor::scalar(4.0f), ints({})}, {}, {Tensor::scalar(4.0f)});
  check_op("Transpose", {floats(Shape{2, 1, 2}, {0, 1, 2, 3}), ints({2, 0, 1})}, {},
           {floats(Shape{2, 2, 1}, {0, 2, 1, 3})});
  check_refused("Transpose", {counting(Shape{2, 3}), ints({0, 0})}, {},
                "[0,0] is not a permutation: element 1 is 0");
  check_refused("Transpose", {counting(Shape{2, 3}), ints({0, 2})}, {},
                "[0,2] is not a permutation: element 1 is 2");
  check_refused("Transpose", {counting(Shape{2, 3}), ints({0})}, {}, "");
  check_op("InvertPermutation", {ints({2, 0, 1})}, {}, {ints({1, 2, 0})});
}

BOOST_AUTO_TEST_CASE(tile_repeats) {
  check_op("Tile", {ints(Shape{2, 2}, {1, 2, 3, 4}), ints({2, 2})}, {},
           {ints(Shape{4, 4}, {1, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4})});
  check_op("Tile", {ints({1, 2}), ints({0})}, {}, {ints({})});
  check_op("Tile", {strings({"a", "b"}), Tensor::vector<int64_t>({2})}, {}, {strings({"a", "b", "a", "b"})});
  check_refused("Tile", {ints({1, 2}), ints({-1})}, {}, "multiples [-1] has a negative element");
  check_refused("Tile", {ints({1, 2}), ints({1, 1})}, {}, "");
  check_refused("Tile", {ints({1, 2}), Tensor::vector<int64_t>({INT64_MAX})}, {}, "too large for shape [2]");
}

BOOST_AUTO_TEST_CASE(ranges_count) {
  check_op("Range", {int_scalar(3), int_scalar(10), int_scalar(3)}, {}, {ints({3, 6, 9})});
  check_op("Range", {int_scalar(3), int_scalar(0), int_scalar(-2)}, {}, {ints({3, 1})});
  check_op("Range", {int_scalar(3), int_scalar(3), int_scalar(1)}, {}, {ints({})});
  check_op("Range", {Tensor::scalar(0.0f), Tensor::scalar(1.0f), Tensor::scalar(0.25f)}, {},
           {floats(Shape{4}, {0, 0.25f, 0.5f, 0.75f})});
  check_refused("Range", {int_scalar(0), int_scalar(3), int_scalar(0)}, {}, "delta must not be 0");
  check_refused("Range", {int_scalar(0), int_scalar(3), int_scalar(-1)}, {}, "leads away");
  check_refused("Range", {Tensor::scalar(0.0), Tensor::scalar(1.0), Tensor::scalar(std::nan(""))}, {},
                "delta");
  const auto longs = [](int64_t value) { return Tensor::scalar<int64_t>(value); };
  check_refused("Range", {longs(INT64_MIN), longs(INT64_MAX), longs(1)}, {}, "too many elements");
  for (const int64_t limit : {INT64_MAX, int64_t{1} << 40})
    BOOST_TEST(
        (run_op("Range", {longs(0), longs(limit), longs(1)}).status().code() == Code::ResourceExhausted));
  check_op("LinSpace", {Tensor::scalar(10.0f), Tensor::scalar(12.0f), int_scalar(3)}, {},
           {floats(Shape{3}, {10, 11, 12})});
  const auto whole =
      value_or_throw(run_op("LinSpace", {Tensor::scalar(0.0f), Tensor::scalar(1.0f), int_scalar(42)}));
  BOOST_TEST(whole[0].as<float>()[41] == 1.0f);
  check_op("LinSpace", {Tensor::scalar(10.0f), Tensor::scalar(12.0f), int_scalar(1)}, {},
           {floats(Shape{1}, {10})});
  check_refused("LinSpace", {Tensor::scalar(0.0f), Tensor::scalar(1.0f), int_scalar(0)}, {}, "num is 0");
}

BOOST_AUTO_TEST_CASE(gather_takes_rows) {
  const Tensor params = floats(Shape{3, 2}, {0, 1, 2, 3, 4, 5});
  check_op("Gather", {params, ints({2, 0, 2})}, {}, {floats(Shape{3, 2}, {4, 5, 0, 1, 4, 5})});
  check_op("Gather", {params, Tensor::scalar<int64_t>(1)}, {}, {floats(Shape{2}, {2, 3})});
  check_op("Gather", {params, ints(Shape{1, 0}, {})}, {}, {counting(Shape{1, 0, 2})});
  check_op("Gather", {strings({"a", "b"}), ints({1})}, {}, {strings({"b"})});
  check_refused("Gather", {params, ints({0, 3})}, {}, "indices[1] = 3 is not in [0, 3)");
  check_refused("Gather", {params, ints({-1})}, {}, "indices[0] = -1 is not in [0, 3)");
  check_refused("Gather", {counting(Shape{0, 2}), ints({0})}, {}, "indices[0] = 0 is not in [0, 0)");
  check_refused("Gather", {Tensor::scalar(1.0f), ints({0})}, {}, "params is a scalar");
}

BOOST_AUTO_TEST_CASE(gather_takes_slices_along_any_axis) {
  const Tensor params = counting(Shape{2, 3, 2}), two = ints({2, 0});
  check_op("GatherV2", {params, two, int_scalar(1)}, {},
           {floats(Shape{2, 2, 2}, {4, 5, 0, 1, 10, 11, 6, 7})});
  check_op("GatherV2", {params, int_scalar(1), int_scalar(-1)}, {},
           {floats(Shape{2, 3}, {1, 3, 5, 7, 9, 11})});
  const Tensor each = ints(Shape{2, 1}, {2, 0});  // one for each entry of the batch
  check_op("GatherV2", {params, each, int_scalar(1)}, {{"batch_dims", int64_t{1}}},
           {floats(Shape{2, 1, 2}, {4, 5, 6, 7})});
  check_op("GatherV2", {params, each, int_scalar(1)}, {{"batch_dims", int64_t{-1}}},
           {floats(Shape{2, 1, 2}, {4, 5, 6, 7})});
  check_op("ResourceGather", {params, each}, {{"dtype", f32}, {"batch_dims", int64_t{1}}},
           {floats(Shape{2, 1, 2}, {4, 5, 6, 7})});
}

BOOST_AUTO_TEST_CASE(segment_sums_add_rows) {
  const Tensor data = floats(Shape{3, 2}, {1, 2, 3, 4, 5, 6});
  check_op("UnsortedSegmentSum", {data, ints({2, 0, 2}), int_scalar(3)}, {},
           {floats(Shape{3, 2}, {3, 4, 0, 0, 6, 8})});
  check_op("UnsortedSegmentSum", {data, ints({1, 1, 0}), int_scalar(2)}, {},
           {floats(Shape{2, 2}, {5, 6, 4, 6})});
  check_op("UnsortedSegmentSum", {data, ints(Shape{3, 2}, {0, 1, 0, 1, 0, 1}), int_scalar(2)}, {},
           {floats(Shape{2}, {9, 12})});
  check_refused("UnsortedSegmentSum", {data, ints({2, 0, 2}), int_scalar(2)}, {},
                "segment_ids[0] = 2 is not below num_segments 2");
  check_op("UnsortedSegmentSum", {data, ints({-1, 0, -5}), int_scalar(2)}, {},
           {floats(Shape{2, 2}, {3, 4, 0, 0})});
  check_op("UnsortedSegmentSum", {data, ints({1, 1, 0}), Tensor::scalar<int64_t>(2)}, {},
           {floats(Shape{2, 2}, {5, 6, 4, 6})});
  check_refused("UnsortedSegmentSum", {data, ints({2, 0}), int_scalar(3)}, {}, "");
  check_refused("UnsortedSegmentSum", {data, ints({0, 0, 0}), int_scalar(-1)}, {}, "-1");
}

BOOST_AUTO_TEST_CASE(rows_are_dealt_out_and_stitched) {
  const Tensor data = floats(Shape{3, 2}, {1, 2, 3, 4, 5, 6});
  check_op("DynamicPartition", {data, ints({1, 0, 1})}, {{"num_partitions", int64_t{3}}},
           {floats(Shape{1, 2}, {3, 4}), floats(Shape{2, 2}, {1, 2, 5, 6}), floats(Shape{0, 2}, {})});
  check_op("DynamicStitch", {ints({3, 0}), int_scalar(0), floats(Shape{2}, {1, 2}), floats({}, {3})}, {},
           {floats(Shape{4}, {3, 0, 0, 1})});  // the later one counts; rows without an index are zeros
  check_refused("DynamicPartition", {data, ints({0, 1, 2})}, {{"num_partitions", int64_t{2}}},
                "partitions[2] = 2 is not in [0, 2)");
  check_refused("DynamicStitch", {ints({0, -1, 1}), data}, {}, "indices[0][1] = -1");
  check_refused("DynamicPartition", {data, ints(Shape{3, 2}, {0, 1, 1, 5, 0, 0})},
                {{"num_partitions", int64_t{2}}}, "partitions[1,1] = 5 is not in [0, 2)");
}

BOOST_AUTO_TEST_CASE(comparisons_are_packed_from_the_highest_bit_on) {
  const auto bytes = [](const Shape& shape, std::initializer_list<uint8_t> values) {
    return Tensor::of<uint8_t>(shape, values);
  };
  check_op(
      "CompareAndBitpack",
      {floats(Shape{2, 8}, {1, 0, 0, 0, 0, 0, 0, 2, 0.5F, 0.25F, 3, -1, NAN, 1, 1, 0}), Tensor::scalar(0.5F)},
      {}, {bytes(Shape{2, 1}, {0x81, 0x26})});
  check_op("CompareAndBitpack",
           {Tensor::of<bool>(Shape{8}, {true, false, true, false, false, false, false, true}),
            Tensor::scalar(true)},
           {}, {bytes(Shape{1}, {0xA1})});  // a bool is its own bit
}

BOOST_AUTO_TEST_CASE(unique_keeps_the_first_of_each) {
  check_op("Unique", {ints({7, 3, 7, 1, 3})}, {}, {ints({7, 3, 1}), ints({0, 1, 0, 2, 1})});
  check_refused("Unique", {int_scalar(1)}, {}, "[]");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::array_ops_test
