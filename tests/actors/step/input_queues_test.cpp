// Input through queues: what producers and batches yield, in which order, how they end, and what they refuse.
#include "graph/build/input_queues.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <thread>

#include "actors/runtime.h"
#include "graph/build/input_buckets.h"
#include "graph/build/queue_runner.h"
#include "graph/build/variables.h"
#include "tests/support/failure_of.h"
#include "tests/support/temporary_folder.h"

namespace troupe::input_queues_test {
namespace {

using test::failure_of;
using Ints = std::vector<int32_t>;

struct Fixture {
  Output constant(const Ints& values) { return g.constant(Tensor::vector<int32_t>(values)); }
  Output constant(const Shape& shape, const Ints& values) {
    return g.constant(Tensor::of<int32_t>(shape, std::span<const int32_t>(values)));
  }
  Output placeholder(DType dtype, const PartialShape& shape) {
    return g.add_one("Placeholder", {}, {{"dtype", dtype}, {"shape", shape}});
  }
  /// Returns a tensor of these values, whose shape becomes known when the step runs.
  Output of_unknown_size(Output values) {
    return g.add_one("PlaceholderWithDefault", {values}, {{"shape", PartialShape::vector(unknown_dim)}});
  }
  Output dequeue(Output queue, DType dtype = DType::Int32) {
    return g.add_one("QueueDequeueV2", {queue}, {{"component_types", std::vector<DType>{dtype}}});
  }
  Output range(int32_t limit) { return g.add_one("Range", {number(0), number(limit), number(1)}); }
  Output number(int32_t value) { return g.constant(Tensor::scalar<int32_t>(value)); }

  /// Opens a session in which the queues are being filled.
  Session start(const SessionOptions& options = {}) {
    const Output initialize = local_initializer(g);
    Session session = runtime.session(graph, options);
    session.run({initialize});
    session.start_queue_runners();
    return session;
  }

  /// Returns the values of `output` in all steps until the input ends, each as a list.
  static std::vector<Ints> all(Session& session, Output output) {
    std::vector<Ints> result;
    const Status end = failure_of([&] {
      while (true) {
        const std::vector<Tensor> fetched = session.run({output});
        const auto values = fetched[0].as<int32_t>();
        result.emplace_back(values.begin(), values.end());
      }
    });
    BOOST_TEST((end.code() == Code::OutOfRange), end.message());
    session.stop_queue_runners();
    return result;
  }
  std::vector<Ints> all(Output output) {
    Session session = start();
    return all(session, output);
  }
  static Ints joined(const std::vector<Ints>& lists) {
    Ints result;
    for (const Ints& list : lists) result.insert(result.end(), list.begin(), list.end());
    return result;
  }
  static Ints sorted(Ints values) {
    std::ranges::sort(values);
    return values;
  }
  /// Returns the integers from 0 to `limit` - 1, each `times` times.
  static Ints repeated(int32_t limit, int times = 1) {
    Ints result;
    for (int32_t i = 0; i < limit; ++i) result.insert(result.end(), static_cast<size_t>(times), i);
    return result;
  }

  /// Checks that the call is refused, in the name of the function, with this text.
  template <class F>
  void refused(const std::string& function, const std::string& text, F call) {
    const Status failure = failure_of(call);
    BOOST_TEST((failure.code() == Code::InvalidArgument), failure.message());
    BOOST_TEST(failure.op() == function);
    BOOST_TEST(failure.text().find(text) != std::string::npos, failure.text());
  }

  Runtime runtime{{.threads = 2}};
  Graph graph{runtime.ops()};
  Scope g{graph};
};

void check(const std::vector<Ints>& found, const std::vector<Ints>& expected) {
  BOOST_TEST_REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    BOOST_TEST(found[i] == expected[i], boost::test_tools::per_element());
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(input_queues, Fixture)

// ---- Producers

BOOST_AUTO_TEST_CASE(a_producer_yields_its_rows_epoch_by_epoch_and_ends) {
  const Output rows = constant({3, 2}, {1, 2, 3, 4, 5, 6});
  const Output queue = input_producer(g, rows, {.num_epochs = 2, .shuffle = false});
  BOOST_TEST(graph.node(queue.node).name == "input_producer");
  check(all(dequeue(queue)), {{1, 2}, {3, 4}, {5, 6}, {1, 2}, {3, 4}, {5, 6}});
}

BOOST_AUTO_TEST_CASE(each_epoch_has_every_row_in_an_order_that_follows_from_the_seed) {
  const Output value =
      dequeue(range_input_producer(g, number(20), {.num_epochs = 3, .seed = 5, .capacity = 7}));
  const Ints first = joined(all(value)), again = joined(all(value));
  BOOST_TEST(first == again, boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(first.size() == 60u);
  std::vector<Ints> epochs;
  for (auto at = first.begin(); at != first.end(); at += 20) epochs.emplace_back(at, at + 20);
  for (const Ints& epoch : epochs)
    BOOST_TEST(sorted(epoch) == repeated(20), boost::test_tools::per_element());
  BOOST_TEST((epochs[0] != epochs[1] && epochs[1] != epochs[2] && epochs[0] != repeated(20)));
}

BOOST_AUTO_TEST_CASE(a_producer_without_a_number_of_epochs_goes_on) {
  const Output value = dequeue(range_input_producer(g, number(3), {.shuffle = false, .capacity = 1}));
  Session session = start();
  for (int32_t i = 0; i < 100; ++i) BOOST_TEST(session.run({value})[0].item<int32_t>() == i % 3);
  session.stop_queue_runners();
}

BOOST_AUTO_TEST_CASE(strings_may_be_given_as_values_or_as_a_tensor_of_unknown_size) {
  const Output fed = of_unknown_size(g.constant(Tensor::vector<std::string>({"c"})));
  const Output a =
      dequeue(string_input_producer(g, {"a", "b"}, {.num_epochs = 1, .shuffle = false}), DType::String);
  const Output c =
      dequeue(string_input_producer(g, fed, {.num_epochs = 1, .name = "letters"}), DType::String);
  Session session = start();
  BOOST_TEST(session.run({a})[0].item<std::string>() == "a");
  BOOST_TEST(session.run({a})[0].item<std::string>() == "b");
  BOOST_TEST((failure_of([&] { session.run({a}); }).code() == Code::OutOfRange));
  BOOST_TEST(session.run({c})[0].item<std::string>() == "c");
  session.stop_queue_runners();
  BOOST_TEST(graph.find("letters/limit_epochs/epochs"));
}

BOOST_AUTO_TEST_CASE(slices_of_all_tensors_have_the_same_index) {
  const auto slices = slice_input_producer(
      g, {range(6), constant({6, 2}, {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5})}, {.num_epochs = 2, .seed = 1});
  BOOST_TEST((graph.shape(slices[1]) == PartialShape::vector(2)));
  Session session = start();
  Ints seen;
  for (int i = 0; i < 12; ++i) {
    const auto fetched = session.run(slices);
    seen.push_back(fetched[0].item<int32_t>());
    for (const int32_t value : fetched[1].as<int32_t>()) BOOST_TEST(value == seen.back());
  }
  BOOST_TEST(sorted(seen) == repeated(6, 2), boost::test_tools::per_element());
  BOOST_TEST((failure_of([&] { session.run(slices); }).code() == Code::OutOfRange));
  session.stop_queue_runners();
}

BOOST_AUTO_TEST_CASE(slices_of_tensors_whose_number_of_rows_is_known_when_the_step_runs) {
  const Output rows = of_unknown_size(constant({7, 8, 9}));
  const Output slice = slice_input_producer(g, {rows}, {.num_epochs = 1, .shuffle = false})[0];
  check(all(slice), {{7}, {8}, {9}});
}

BOOST_AUTO_TEST_CASE(a_tensor_may_be_used_as_often_as_its_epochs_say) {
  const Output limited = limit_epochs(g, number(4), 2);
  check(all(limited), {{4}, {4}});
}

BOOST_AUTO_TEST_CASE(a_step_without_rows_fails_with_the_cause) {
  const Output none = of_unknown_size(constant(Ints{}));
  const Output value = dequeue(input_producer(g, none, {}));
  Session session = start();
  BOOST_TEST((failure_of([&] { session.run({value}); }).code() == Code::OutOfRange));
  const Status failure = failure_of([&] { session.stop_queue_runners(); });
  BOOST_TEST((failure.code() == Code::InvalidArgument));
  BOOST_TEST(failure.text().find("there are no rows to produce") != std::string::npos, failure.text());
}

BOOST_AUTO_TEST_CASE(counters_that_nobody_initialised_are_the_cause_of_the_end) {
  const Output value = dequeue(range_input_producer(g, number(3), {.num_epochs = 1}));
  Session session = runtime.session(graph);
  session.start_queue_runners();
  BOOST_TEST((failure_of([&] { session.run({value}); }).code() == Code::OutOfRange));
  const Status failure = failure_of([&] { session.stop_queue_runners(); });
  BOOST_TEST((failure.code() == Code::FailedPrecondition), failure.message());
  BOOST_TEST(failure.message().find("input_producer/limit_epochs/epochs") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(producers_refuse_what_they_cannot_produce) {
  refused("input_producer", "num_epochs is 0, but must be at least 1",
          [&] { input_producer(g, range(3), {.num_epochs = 0}); });
  refused("limit_epochs", "num_epochs is -1", [&] { limit_epochs(g, number(1), -1); });
  refused("input_producer", "capacity is 0, but must be from 1 to 2147483647",
          [&] { input_producer(g, range(3), {.capacity = 0}); });
  refused("input_producer", "has no rows: its rank must be at least 1",
          [&] { input_producer(g, number(3)); });
  refused("input_producer", "has no rows to produce", [&] { input_producer(g, constant(Ints{})); });
  refused("input_producer", "have shape [?], whose dimensions must be known", [&] {
    input_producer(g, placeholder(DType::Float, {3, -1}));
  });
  refused("input_producer", "have shape [4], which those of", [&] {
    input_producer(g, placeholder(DType::Float, {3, 2}), {.element_shape = {4}});
  });
  refused("string_input_producer", "must be a vector of strings",
          [&] { string_input_producer(g, range(3)); });
  refused("string_input_producer", "has no rows to produce",
          [&] { string_input_producer(g, std::vector<std::string>{}); });
  refused("range_input_producer", "must be an int32 scalar", [&] { range_input_producer(g, range(3)); });
  refused("range_input_producer", "has no rows to produce", [&] { range_input_producer(g, number(0)); });
  refused("slice_input_producer", "another number of rows than a tensor before it, which has 3", [&] {
    slice_input_producer(g, {range(3), range(4)});
  });
  refused("slice_input_producer", "there are no tensors", [&] { slice_input_producer(g, {}); });
  input_producer(g, placeholder(DType::Float, {3, -1}), {.element_shape = {2}});
}

// ---- Batches

BOOST_AUTO_TEST_CASE(a_batch_stacks_elements_in_their_order) {
  const Output value = dequeue(range_input_producer(g, number(7), {.num_epochs = 1, .shuffle = false}));
  throw_if_failed(graph.refine_shape(value, PartialShape::scalar()));
  const auto batches = batch(g, {value, g.add_one("Neg", {value})}, {.batch_size = 3});
  BOOST_TEST((graph.shape(batches[0]) == PartialShape::vector(3)));
  BOOST_TEST(graph.name_of(batches[1]) == "batch:1");
  Session session = start();
  for (int32_t first : {0, 3}) {
    const auto fetched = session.run(batches);
    for (int32_t i = 0; i < 3; ++i) {
      BOOST_TEST(fetched[0].as<int32_t>()[static_cast<size_t>(i)] == first + i);
      BOOST_TEST(fetched[1].as<int32_t>()[static_cast<size_t>(i)] == -first - i);
    }
  }
  // One element is left.
  BOOST_TEST((failure_of([&] { session.run(batches); }).code() == Code::OutOfRange));
  session.stop_queue_runners();
}

BOOST_AUTO_TEST_CASE(the_last_batch_may_be_smaller) {
  const Output value = slice_input_producer(g, {range(7)}, {.num_epochs = 1, .shuffle = false})[0];
  const Output batches = batch(g, {value}, {.batch_size = 3, .allow_smaller_final_batch = true})[0];
  BOOST_TEST((graph.shape(batches) == PartialShape::vector(unknown_dim)));
  check(all(batches), {{0, 1, 2}, {3, 4, 5}, {6}});
}

BOOST_AUTO_TEST_CASE(a_batch_may_be_larger_than_the_queue) {
  const Output value =
      slice_input_producer(g, {range(10)}, {.num_epochs = 1, .shuffle = false, .capacity = 1})[0];
  check(all(batch(g, {value}, {.batch_size = 5, .capacity = 2})[0]), {{0, 1, 2, 3, 4}, {5, 6, 7, 8, 9}});
}

BOOST_AUTO_TEST_CASE(rows_of_a_tensor_are_elements_of_their_own) {
  const Output rows = limit_epochs(g, range(5), 2);
  const Output batches = batch(g, {rows}, {.batch_size = 4, .capacity = 3, .enqueue_many = true})[0];
  check(all(batches), {{0, 1, 2, 3}, {4, 0, 1, 2}});
}

BOOST_AUTO_TEST_CASE(several_steps_may_fill_a_queue_at_the_same_time) {
  const Output value = slice_input_producer(g, {range(50)}, {.num_epochs = 2})[0];
  const Output batches = batch(g, {value}, {.batch_size = 10, .num_threads = 4})[0];
  BOOST_TEST(sorted(joined(all(batches))) == repeated(50, 2), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(elements_of_different_sizes_are_padded) {
  const Output length =
      slice_input_producer(g, {constant({1, 3, 2, 0})}, {.num_epochs = 1, .shuffle = false})[0];
  const Output element = g.add_one("Fill", {g.add_one("Reshape", {length, constant({1})}), length});
  throw_if_failed(graph.refine_shape(element, PartialShape::vector(unknown_dim)));
  const Output batches = batch(g, {element}, {.batch_size = 2, .dynamic_pad = true})[0];
  check(all(batches), {{1, 0, 0, 3, 3, 3}, {2, 2, 0, 0}});
}

BOOST_AUTO_TEST_CASE(elements_may_be_dropped) {
  const Output value = slice_input_producer(g, {range(8)}, {.num_epochs = 1, .shuffle = false})[0];
  const Output even = g.add_one("Equal", {g.add_one("FloorMod", {value, number(2)}), number(0)});
  check(all(batch(g, {value}, {.batch_size = 2, .keep_input = even})[0]), {{0, 2}, {4, 6}});
}

BOOST_AUTO_TEST_CASE(rows_may_be_dropped) {
  const Output rows = limit_epochs(g, range(6), 1);
  const Output kept = g.constant(Tensor::vector<bool>({true, false, false, true, true, true}));
  const Output batches = batch(g, {rows}, {.batch_size = 2, .enqueue_many = true, .keep_input = kept})[0];
  check(all(batches), {{0, 3}, {4, 5}});
}

BOOST_AUTO_TEST_CASE(lists_of_tensors_fill_one_queue) {
  const auto source = [&](int32_t limit) {
    return slice_input_producer(g, {range(limit)}, {.num_epochs = 1})[0];
  };
  const Output batches = batch_join(g, {{source(6)}, {source(4)}, {source(5)}}, {.batch_size = 5})[0];
  const Ints expected = {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5};
  BOOST_TEST(sorted(joined(all(batches))) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(lists_of_different_shapes_are_padded) {
  const Output one = limit_epochs(g, constant({1}), 1), three = limit_epochs(g, constant({3, 3, 3}), 1);
  const Output batches = batch_join(g, {{one}, {three}}, {.batch_size = 2, .dynamic_pad = true})[0];
  BOOST_TEST(sorted(joined(all(batches))) == (Ints{0, 0, 1, 3, 3, 3}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(shuffled_batches_have_every_element_in_another_order) {
  const auto value = slice_input_producer(g, {range(30)}, {.num_epochs = 1, .shuffle = false});
  const Output batches = shuffle_batch(g, value,
                                       {.batch_size = 4,
                                        .capacity = 20,
                                        .min_after_dequeue = 10,
                                        .seed = 3,
                                        .allow_smaller_final_batch = true})[0];
  const Ints order = joined(all(batches));
  BOOST_TEST(sorted(order) == repeated(30), boost::test_tools::per_element());
  BOOST_TEST((order != repeated(30)));
}

// The orders are those of tf.compat.v1.train.shuffle_batch with these seeds. The first element leaves when all are in the queue,
// and the others once it is closed, so nothing depends on which step is faster.
BOOST_AUTO_TEST_CASE(elements_leave_in_the_order_of_tensorflow) {
  const auto batches = [&](int64_t seed) {
    return shuffle_batch(
        g, {limit_epochs(g, range(12), 1)},
        {.batch_size = 4, .capacity = 64, .min_after_dequeue = 11, .seed = seed, .enqueue_many = true})[0];
  };
  const Output of_three = batches(3), of_zero = batches(0);
  check(all(of_three), {{11, 3, 0, 8}, {7, 10, 2, 5}, {1, 4, 9, 6}});
  check(all(of_zero), {{9, 8, 10, 2}, {1, 7, 5, 6}, {4, 0, 3, 11}});
}

BOOST_AUTO_TEST_CASE(lists_of_tensors_fill_one_shuffled_queue) {
  const Output a = limit_epochs(g, range(10), 1), b = limit_epochs(g, range(10), 2);
  const Output batches = shuffle_batch_join(
      g, {{a}, {b}}, {.batch_size = 3, .capacity = 8, .min_after_dequeue = 4, .enqueue_many = true})[0];
  BOOST_TEST(sorted(joined(all(batches))) == repeated(10, 3), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(batches_refuse_what_cannot_be_stacked) {
  const Output x = number(1), any = placeholder(DType::Int32, {}), row = placeholder(DType::Int32, {-1});
  refused("batch", "batch_size is 0, but must be from 1 to", [&] { batch(g, {x}, {}); });
  refused("batch", "capacity is -1", [&] { batch(g, {x}, {.batch_size = 2, .capacity = -1}); });
  refused("batch", "num_threads is 0, but must be from 1 to 1024",
          [&] { batch(g, {x}, {.batch_size = 2, .num_threads = 0}); });
  refused("batch", "there are no tensors", [&] { batch(g, {}, {.batch_size = 2}); });
  refused("batch", "have shape [?], whose dimensions must be known",
          [&] { batch(g, {row}, {.batch_size = 2}); });
  refused("batch", "have shape ?, whose rank must be known",
          [&] { batch(g, {any}, {.batch_size = 2, .dynamic_pad = true}); });
  refused("batch", "there are 2 shapes for 1 tensors", [&] {
    batch(g, {any}, {.batch_size = 2, .shapes = {{2}, {3}}});
  });
  refused("batch", "another number of rows than a tensor before it, which has 2", [&] {
    batch(g, {range(2), range(3)}, {.batch_size = 2, .enqueue_many = true});
  });
  refused("batch", "has no rows", [&] { batch(g, {x}, {.batch_size = 2, .enqueue_many = true}); });
  refused("batch", "must be a bool scalar", [&] { batch(g, {x}, {.batch_size = 2, .keep_input = x}); });
  refused("batch_join", "there are no tensors", [&] { batch_join(g, {}, {.batch_size = 2}); });
  refused("batch_join", "list 1 has 2 tensors, but list 0 has 1", [&] {
    batch_join(g, {{x}, {x, x}}, {.batch_size = 2});
  });
  refused("batch_join", "of list 1 has dtype string, but that of list 0 has int32", [&] {
    batch_join(g, {{x}, {g.constant(Tensor::scalar<std::string>("a"))}}, {.batch_size = 2});
  });
  refused("batch_join", "have shape [2], which those of 'Const", [&] {
    batch_join(g, {{constant({1, 2})}, {constant({1, 2, 3})}}, {.batch_size = 2});
  });
  refused("batch_join", "give more lists",
          [&] { batch_join(g, {{x}}, {.batch_size = 2, .num_threads = 2}); });
  refused("shuffle_batch", "min_after_dequeue is 8, but must be at least 0 and less than the capacity, 8",
          [&] { shuffle_batch(g, {x}, {.batch_size = 2, .capacity = 8, .min_after_dequeue = 8}); });
  refused("shuffle_batch", "capacity is 0", [&] { shuffle_batch(g, {x}, {.batch_size = 2}); });
  BOOST_TEST(queue_runners(graph).empty());
}

// files -> queue of names -> reader -> lines -> numbers -> batches
BOOST_AUTO_TEST_CASE(lines_of_files_become_batches) {
  const test::TemporaryFolder folder;
  const std::string a = folder.write("a.csv", "1,2\n3,4\n"), b = folder.write("b.csv", "5,6\n");
  const Output files = string_input_producer(g, {a, b}, {.num_epochs = 2, .shuffle = false});
  const Output line = g.outputs(g.add_one("ReaderReadV2", {g.add_one("TextLineReaderV2", {}), files}))[1];
  const auto fields = g.outputs(g.add_one("DecodeCSV", {line, number(0), number(0)}));
  const auto batches = batch(g, fields, {.batch_size = 4, .allow_smaller_final_batch = true});
  check(all(g.add_one("Add", {batches[0], batches[1]})), {{3, 7, 11, 3}, {7, 11}});
}

// ---- Ends and failures

BOOST_AUTO_TEST_CASE(the_failure_of_a_step_that_enqueues_is_reported) {
  const Output value =
      slice_input_producer(g, {constant({2, 1, 0, 3})}, {.num_epochs = 1, .shuffle = false})[0];
  const Output quotient = g.with_name("quotient").add_one("FloorDiv", {number(2), value});
  const Output batches = batch(g, {quotient}, {.batch_size = 2})[0];
  const Output later = batch(g, {batches}, {.batch_size = 1, .name = "later"})[0];  // of a third queue
  Session session = start();
  Status end;
  while (end.ok()) end = failure_of([&] { session.run({later}); });
  BOOST_TEST((end.code() == Code::OutOfRange), end.message());
  const Status failure = failure_of([&] { session.stop_queue_runners(); });
  BOOST_TEST((failure.code() == Code::InvalidArgument), failure.message());
  BOOST_TEST(failure.node() == "quotient");
}

BOOST_AUTO_TEST_CASE(elements_of_another_shape_than_given_are_reported) {
  const Output any = of_unknown_size(constant({1, 2}));
  const Output batches = batch(g, {any}, {.batch_size = 2, .shapes = {{3}}})[0];
  Session session = start();
  BOOST_TEST((failure_of([&] { session.run({batches}); }).code() == Code::OutOfRange));
  const Status failure = failure_of([&] { session.stop_queue_runners(); });
  BOOST_TEST((failure.code() == Code::InvalidArgument), failure.message());
}

BOOST_AUTO_TEST_CASE(a_stop_ends_those_who_wait) {
  const Output value = dequeue(range_input_producer(g, number(3), {}));
  throw_if_failed(graph.refine_shape(value, PartialShape::scalar()));
  const Output batches = batch(g, {value}, {.batch_size = 1, .num_threads = 2})[0];
  Session session = start();
  session.run({batches});
  session.stop_queue_runners();
  Status end;
  while (end.ok()) end = failure_of([&] { session.run({batches}); });  // what was in the queue
  BOOST_TEST((end.code() == Code::OutOfRange));
}

BOOST_AUTO_TEST_CASE(a_session_may_be_cancelled_while_its_queues_are_filled) {
  const Output value = slice_input_producer(g, {range(3)}, {})[0];
  const Output batches =
      shuffle_batch(g, {value}, {.batch_size = 8, .capacity = 64, .min_after_dequeue = 32})[0];
  Session session = start();
  session.run({batches});
  std::jthread cancels([&] { session.cancel(); });
  Status end;
  while (end.ok()) end = failure_of([&] { session.run({batches}); });
  BOOST_TEST((end.code() == Code::Cancelled || end.code() == Code::FailedPrecondition), end.message());
}

BOOST_AUTO_TEST_CASE(a_summary_says_how_full_a_queue_is) {
  const Output rows = limit_epochs(g, range(6), 1);
  batch(g.with_prefix("in"), {rows}, {.batch_size = 1, .capacity = 12, .enqueue_many = true});
  shuffle_batch(g, {rows}, {.batch_size = 1, .capacity = 12, .min_after_dequeue = 2, .enqueue_many = true});
  for (const char* name : {"in/batch/fraction_of_12_full", "shuffle_batch/fraction_over_2_of_10_full"}) {
    const Node* const summary = graph.find(name);
    BOOST_TEST_REQUIRE(summary);
    BOOST_TEST(graph.constant(summary->inputs[0])->item<std::string>() == name);
    Session session = runtime.session(graph);
    const Output fraction = graph.output(summary->inputs[1].node, 0);
    BOOST_TEST(session.run({fraction})[0].item<float>() == 0.0f);
    session.run({local_initializer(g)});
    session.run({queue_runners(graph)[summary->name.starts_with("in") ? 0 : 1].enqueue[0]});
    BOOST_TEST(session.run({fraction})[0].item<float>() == (summary->name.starts_with("in") ? 0.5f : 0.4f));
  }
}

BOOST_AUTO_TEST_CASE(names_do_not_meet) {
  const Output x = number(1);
  const Output first = batch(g, {x}, {.batch_size = 1})[0], second = batch(g, {x}, {.batch_size = 1})[0];
  BOOST_TEST(graph.name_of(first) == "batch:0");
  BOOST_TEST(graph.name_of(second) == "batch_1:0");
  BOOST_TEST(graph.find("batch_1/fraction_of_32_full"));
}

// ---- Buckets

BOOST_AUTO_TEST_CASE(sequences_of_similar_length_share_a_batch) {
  const Output length =
      slice_input_producer(g, {constant({1, 5, 2, 9, 6, 1, 3})}, {.num_epochs = 1, .shuffle = false})[0];
  const Output sequence = g.add_one("Fill", {g.add_one("Reshape", {length, constant({1})}), length});
  throw_if_failed(graph.refine_shape(sequence, PartialShape::vector(unknown_dim)));
  const BucketedSequences batches =
      bucket_by_sequence_length(g, length, {sequence}, {3, 8},
                                {.batch_sizes = {2}, .dynamic_pad = true, .allow_smaller_final_batch = true});
  Session session = start();
  std::vector<Ints> found;
  const Status end = failure_of([&] {
    while (true) {
      const auto fetched = session.run({batches.lengths, batches.tensors[0]});
      const auto batch = fetched[0].as<int32_t>();
      found.emplace_back(batch.begin(), batch.end());
      BOOST_TEST(fetched[1].shape()[1] == *std::ranges::max_element(batch));
    }
  });
  BOOST_TEST((end.code() == Code::OutOfRange));
  session.stop_queue_runners();
  std::ranges::sort(found);
  check(found, {{1}, {1, 2}, {3}, {5, 6}, {9}});
}

BOOST_AUTO_TEST_CASE(each_bucket_has_its_batch_size) {
  const Output value = slice_input_producer(g, {range(12)}, {.num_epochs = 1, .shuffle = false})[0];
  const Output which = g.add_one("FloorMod", {value, number(2)});
  const Output small = g.add_one("Less", {value, number(10)});
  const auto batches =
      bucket(g, {value}, which, {.num_buckets = 2, .batch_sizes = {2, 3}, .keep_input = small});
  Session session = start();
  std::vector<Ints> found;
  const Status end = failure_of([&] {
    while (true) {
      const auto fetched = session.run({batches.bucket, batches.tensors[0]});
      const auto batch = fetched[1].as<int32_t>();
      found.emplace_back(batch.begin(), batch.end());
      for (const int32_t one : batch) BOOST_TEST(one % 2 == fetched[0].item<int32_t>());
    }
  });
  BOOST_TEST((end.code() == Code::OutOfRange));
  session.stop_queue_runners();
  std::ranges::sort(found);
  check(found, {{0, 2}, {1, 3, 5}, {4, 6}});  // 8, 7 and 9 are left
}

BOOST_AUTO_TEST_CASE(a_bucket_that_does_not_exist_is_reported) {
  const Output value = slice_input_producer(g, {range(4)}, {.num_epochs = 1, .shuffle = false})[0];
  const auto batches = bucket(g, {value}, value, {.num_buckets = 2, .batch_sizes = {5}});
  Session session = start();
  BOOST_TEST((failure_of([&] { session.run({batches.bucket}); }).code() == Code::OutOfRange));
  const Status failure = failure_of([&] { session.stop_queue_runners(); });
  BOOST_TEST((failure.code() == Code::InvalidArgument), failure.message());
  BOOST_TEST(failure.text().find("which_bucket must be from 0 to 1") != std::string::npos, failure.text());
}

BOOST_AUTO_TEST_CASE(buckets_refuse_what_they_cannot_sort) {
  const Output x = number(1);
  refused("bucket", "num_buckets is 0", [&] { bucket(g, {x}, x, {.batch_sizes = {1}}); });
  refused("bucket", "there are 3 batch_sizes, but must be 1 or, for the buckets, 2", [&] {
    bucket(g, {x}, x, {.num_buckets = 2, .batch_sizes = {1, 2, 3}});
  });
  refused("bucket", "a batch size is 0", [&] { bucket(g, {x}, x, {.num_buckets = 2, .batch_sizes = {0}}); });
  refused("bucket", "which_bucket is",
          [&] { bucket(g, {x}, range(2), {.num_buckets = 2, .batch_sizes = {1}}); });
  const auto by_length = [&](std::vector<int64_t> boundaries) {
    return [this, x, boundaries = std::move(boundaries)] {
      bucket_by_sequence_length(g, x, {x}, boundaries, {.batch_sizes = {1}});
    };
  };
  refused("bucket_by_sequence_length", "there are 0 boundaries", by_length({}));
  refused("bucket_by_sequence_length", "boundary 1 is 3, but must be more than the one before, 3",
          by_length({3, 3}));
  refused("bucket_by_sequence_length", "boundary 0 is -1", by_length({-1}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::input_queues_test
