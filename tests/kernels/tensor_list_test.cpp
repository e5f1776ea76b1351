// Tests of lists of tensors as values, for behaviour that the cases made with TensorFlow (tests/golden/cases/graphs/list_*) do
// not show.
#include <boost/test/unit_test.hpp>

#include "devices/transfer.h"
#include "graph/build/control_flow.h"
#include "tests/support/delayed_device.h"
#include "tests/support/local_graph.h"

namespace troupe::test::tensor_list_test {
namespace {

struct Fixture : LocalGraph {
  Output empty(DType dtype = f32) {
    return g.add_one("EmptyTensorList", {number<int32_t>(-1), number<int32_t>(-1)},
                     {{"element_dtype", dtype}});
  }
  static Output push(const Scope& s, Output list, Output tensor) {
    return s.add_one("TensorListPushBack", {list, tensor});
  }
  Output length(Output list) { return g.add_one("TensorListLength", {list}); }
};

BOOST_FIXTURE_TEST_SUITE(tensor_list, Fixture)

// for i = 0 to n: list = push(list, i);   then total = 10 total + pop(list), backwards
BOOST_AUTO_TEST_CASE(a_loop_fills_a_list_and_another_empties_it) {
  const auto filled = while_loop(
      g, {number(0.0f), empty()},
      [&](const Scope& s, std::span<const Output> v) {
        return s.add_one("Less", {v[0], s.constant(Tensor::scalar(4.0f))});
      },
      [&](const Scope& s, std::span<const Output> v) {
        const Output next = s.add_one("Add", {v[0], s.constant(Tensor::scalar(1.0f))});
        return std::vector{next, push(s, v[1], v[0])};
      });
  const auto emptied = while_loop(
      g, {filled[0], filled[1], number(0.0f)},
      [&](const Scope& s, std::span<const Output> v) {
        return s.add_one("Less", {s.constant(Tensor::scalar(0.0f)), v[0]});
      },
      [&](const Scope& s, std::span<const Output> v) {
        const NodeId popped =
            s.add("TensorListPopBack", {v[1], s.constant(Tensor::scalar(-1))}, {{"element_dtype", f32}});
        const Output tenfold = s.add_one("Mul", {v[2], s.constant(Tensor::scalar(10.0f))});
        return std::vector{s.add_one("Sub", {v[0], s.constant(Tensor::scalar(1.0f))}), Output{popped, 0},
                           s.add_one("Add", {tenfold, {popped, 1}})};
      },
      {.shape_invariants = {PartialShape::scalar(), PartialShape::scalar(), PartialShape()}});
  const auto values =
      value_or_throw(runtime.run(graph, {}, {emptied[2], length(emptied[1]), length(filled[1])}));
  BOOST_TEST(values[0].item<float>() == 3210);
  BOOST_TEST(values[1].item<int32_t>() == 0);
  BOOST_TEST(values[2].item<int32_t>() == 4);
}

BOOST_AUTO_TEST_CASE(a_list_grows_when_rows_are_scattered_beyond_its_end) {
  const Output rows = g.constant(Tensor::vector<float>({1, 2}));
  const Output list =
      g.add_one("TensorListScatterIntoExistingList",
                {push(g, empty(), number(7.0f)), rows, g.constant(Tensor::vector<int32_t>({3, 1}))});
  const Output stacked = g.add_one("TensorListStack", {list, number<int32_t>(-1)}, {{"element_dtype", f32}});
  const auto values = value_or_throw(runtime.run(graph, {}, {stacked}));
  BOOST_TEST(values[0].as<float>() == (std::vector<float>{7, 2, 0, 1}), boost::test_tools::per_element());
  const Output far = g.add_one("TensorListScatterIntoExistingList",
                               {empty(), rows, g.constant(Tensor::vector<int32_t>({0, INT32_MAX}))});
  BOOST_TEST(failure(length(far)).text().find("indices[1] = 2147483647 is not in [0, 4194304)") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(lists_lie_in_lists_but_not_without_end) {
  Output list = empty();
  for (int level = 1; level <= 64; ++level) list = push(g, empty(DType::Variant), list);
  const Status status = failure(length(list));
  BOOST_TEST((status.code() == Code::InvalidArgument));
  BOOST_TEST(status.text().find("64") != std::string::npos, status.message());
  Output fits = empty();
  for (int level = 1; level < 64; ++level) fits = push(g, empty(DType::Variant), fits);
  BOOST_TEST(value_or_throw(runtime.run(graph, {}, {length(fits)}))[0].item<int32_t>() == 1);
}

BOOST_AUTO_TEST_CASE(a_list_of_more_than_memory_holds_is_refused) {
  const Output huge = g.add_one("TensorListReserve", {number<int32_t>(-1), number<int32_t>(INT32_MAX)},
                                {{"element_dtype", f32}});
  BOOST_TEST((failure(length(huge)).code() == Code::ResourceExhausted));
}

BOOST_AUTO_TEST_CASE(ops_that_move_elements_do_not_accept_lists) {
  const Output list = push(g, empty(), number(1.0f));
  const Status packed = failure(g.add_one("Pack", {list, list}));
  BOOST_TEST((packed.code() == Code::NotFound), packed.message());
  const Status fetched = failure(list);
  BOOST_TEST(fetched.text().find("variant") != std::string::npos, fetched.message());
}

// The list [x, unset, y], the zeros like it, and the sum of both and the first list again.
BOOST_AUTO_TEST_CASE(elements_may_lie_in_the_memory_of_a_device) {
  InlinePool pool;
  CpuDevice host(value_or_throw(DeviceName::parse("/job:test/replica:0/task:0/device:CPU:0")), 1, pool);
  DelayedDevice device(value_or_throw(DeviceName::parse("/job:test/replica:0/task:0/device:CPU:1")), pool,
                       {});
  Feeds feeds;
  const auto feed = [&](Tensor value) {
    const Output output = g.add_one("Placeholder", {}, {{"dtype", value.dtype()}});
    feeds.emplace_back(output, std::move(value));
    return output;
  };
  const auto on_host = [&](int32_t value) { return feed(Tensor::scalar(value)); };
  const auto on_device = [&](std::initializer_list<float> values) {
    return feed(value_or_throw(transfer(Tensor::vector<float>(values), host, device)));
  };
  const Output x = on_device({1, 2}), y = on_device({3, 4});
  Output list = g.add_one("TensorListReserve", {feed(Tensor::vector<int32_t>({2})), on_host(3)},
                          {{"element_dtype", f32}});
  list = g.add_one("TensorListSetItem", {list, on_host(0), x});
  list = g.add_one("TensorListSetItem", {list, on_host(2), y});
  const Output zeros = g.add_one("ZerosLike", {list}), sum = g.add_one("AddN", {list, zeros, list});
  const auto stack = [&](Output of) {
    return g.add_one("TensorListStack", {of, on_host(-1)}, {{"element_dtype", f32}});
  };
  const Output unset =
      g.add_one("TensorListGetItem", {list, on_host(1), on_host(-1)}, {{"element_dtype", f32}});
  const NodeId popped = g.add("TensorListPopBack", {list, on_host(-1)}, {{"element_dtype", f32}});
  const std::vector<Output> fetches = {stack(sum), stack(zeros), unset, {popped, 1}, length({popped, 0})};

  auto values = value_or_throw(LocalRuntime(op_library(), device).run(graph, feeds, fetches));
  for (Tensor& value : values) {
    value = value_or_throw(transfer(value, device, host));
    BOOST_TEST_REQUIRE(device.wait(value.completion()).ok());
  }
  BOOST_TEST(identical(values[0], Tensor::of<float>({3, 2}, {2, 4, 0, 0, 6, 8})));
  BOOST_TEST(identical(values[1], Tensor::of<float>({3, 2}, {0, 0, 0, 0, 0, 0})));
  BOOST_TEST(identical(values[2], Tensor::vector<float>({0, 0})));
  BOOST_TEST(identical(values[3], Tensor::vector<float>({3, 4})));
  BOOST_TEST(values[4].item<int32_t>() == 2);
  BOOST_TEST(device.check_memory().ok());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::tensor_list_test
