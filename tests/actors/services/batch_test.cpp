// The batch roles, tested by messages under a simulated clock: what answers each request, and when.
#include <boost/test/unit_test.hpp>

#include "actors/services/batch/batch.h"
#include "devices/cpu_device.h"
#include "messages/schemas/batch.capnp.h"
#include "messages/schemas/waiting.capnp.h"
#include "messages/wire/wire.h"
#include "tests/support/simulation/simulated_node.h"

namespace troupe::batch_test {
namespace {

using namespace test;
using Answered = std::optional<Result<AnyMessage>>;

Tensor rows(std::vector<int32_t> values) { return Tensor::vector<int32_t>(std::span<const int32_t>(values)); }
Tensor id(int64_t value) { return Tensor::scalar(value); }
/// An index of parts, each with its id and its number of rows.
Tensor index(const std::vector<std::pair<int64_t, int64_t>>& parts) {
  std::vector<int64_t> values;
  int64_t begin = 0;
  for (const auto& [of, count] : parts) {
    values.insert(values.end(), {of, begin, begin + count});
    begin += count;
  }
  return Tensor::of<int64_t>(Shape{static_cast<int64_t>(parts.size()), 3}, std::span<const int64_t>(values));
}

/// Returns "-" while the request waits, the code of a failure, or the rows of the first tensor: "[1,2]".
std::string text(const Answered& answered) {
  if (!answered) return "-";
  if (!answered->ok()) return std::string(name(answered->status().code()));
  std::string result;
  for (const int32_t value : (*answered)->attachments()[0].as<int32_t>())
    result += (result.empty() ? "" : ",") + std::to_string(value);
  return '[' + result + ']';
}

struct Bench {
  Simulation simulation{0};
  SimulatedDisk disk{0};
  SimulatedNode node{simulation, disk};
  std::shared_ptr<Device> device =
      std::make_shared<CpuDevice>(DeviceName{"localhost", 0, 0, "CPU", 0}, 1, node.pool);
  ActorRef actor;
  uint64_t steps = 0;
  std::vector<std::shared_ptr<const Answered>> answers;

  /// Sends a request of a new step.
  template <class T, class Fill>
  void ask(std::vector<Tensor> tensors, Fill fill) {
    Draft<T> draft;
    draft->initStep().setOrdinal(++steps);
    fill(draft);
    answers.push_back(node.ask(actor, draft.finish(std::move(tensors))));
    simulation.run_ready();
  }
  void join(std::vector<Tensor> tensors, const std::string& queue = "") {
    ask<wire::JoinBatch>(std::move(tensors), [&](auto& draft) { draft->setQueue(as_text(queue)); });
  }
  void take(Tensor batch, Tensor parts, int64_t of, int64_t timeout = 5) {
    ask<wire::TakeBatchPart>({std::move(batch), std::move(parts), id(of)},
                             [&](auto& draft) { draft->setTimeout(timeout); });
  }
  void gradient(Tensor batch, Tensor parts, Tensor of_part, int64_t of) {
    ask<wire::JoinGradients>({std::move(batch), std::move(parts), std::move(of_part), id(of)}, [](auto&) {});
  }
  void cancel(uint64_t step) {
    Draft<wire::CancelRequests> draft;
    draft->initStep().setOrdinal(step);
    node.actors.engine.send(actor, draft.finish());
    simulation.run_ready();
  }
  std::string told() const {
    std::string result;
    for (const auto& answer : answers) result += (result.empty() ? "" : " ") + text(*answer);
    return result;
  }
  /// The attachment of answer i.
  Tensor got(size_t i, uint32_t attachment) const {
    return value_or_throw((*answers[i])->value().attachment(attachment));
  }
};

BatchSpec spec_of(int64_t max_rows, int64_t timeout = 10, std::vector<int64_t> sizes = {},
                  int64_t max_batches = 10) {
  return {BatchKind::Batch, "b", max_rows, timeout, max_batches, std::move(sizes)};
}

struct BatchBench : Bench {
  explicit BatchBench(const BatchSpec& spec) {
    actor = node.actors.engine.spawn(make_batch(node.actors, spec, device));
  }
};

struct UnbatchBench : Bench {
  UnbatchBench() { actor = node.actors.engine.spawn(make_unbatch(node.actors, {BatchKind::Unbatch, "u"})); }
};

struct GradientBench : Bench {
  GradientBench() {
    actor =
        node.actors.engine.spawn(make_batch_gradient(node.actors, {BatchKind::BatchGradient, "g"}, device));
  }
};

const Tensor no_rows = rows({}), no_index = index({});

}  // namespace

BOOST_AUTO_TEST_SUITE(batch)

BOOST_AUTO_TEST_CASE(a_full_batch_goes_to_the_last_of_its_steps) {
  BatchBench bench(spec_of(4));
  bench.join({rows({1, 2})});
  bench.join({rows({3})});
  BOOST_TEST(bench.told() == "- -");
  bench.join({rows({4})});
  BOOST_TEST(bench.told() == "[] [] [1,2,3,4]");
  const int64_t ids[] = {bench.got(0, 2).item<int64_t>(), bench.got(1, 2).item<int64_t>(),
                         bench.got(2, 2).item<int64_t>()};
  BOOST_TEST(identical(bench.got(2, 1), index({{ids[0], 2}, {ids[1], 1}, {ids[2], 1}})));
  BOOST_TEST(identical(bench.got(0, 0), no_rows));
  BOOST_TEST(identical(bench.got(0, 1), no_index));
  BOOST_TEST((ids[0] != ids[1] && ids[1] != ids[2]));
}

BOOST_AUTO_TEST_CASE(a_batch_that_is_due_need_not_be_full) {
  BatchBench bench(spec_of(4, 10));
  bench.join({rows({1})});
  bench.simulation.pass(9);
  bench.join({rows({2})});
  BOOST_TEST(bench.told() == "- -");
  bench.simulation.pass(1);
  BOOST_TEST(bench.told() == "[] [1,2]");
  bench.join({rows({3})});  // the time of the next batch begins with its first rows
  bench.simulation.pass(9);
  BOOST_TEST(bench.told() == "[] [1,2] -");
  bench.simulation.pass(1);
  BOOST_TEST(bench.told() == "[] [1,2] [3]");
}

BOOST_AUTO_TEST_CASE(without_a_timeout_nobody_waits) {
  BatchBench bench(spec_of(4, 0));
  bench.join({rows({1, 2})});
  bench.join({rows({})});
  BOOST_TEST(bench.told() == "[1,2] []");
}

BOOST_AUTO_TEST_CASE(rows_that_do_not_fit_begin_another_batch_if_there_may_be_one) {
  BatchBench several(spec_of(4)), one(spec_of(4, 10, {}, 1));
  for (BatchBench* const bench : {&several, &one}) {
    bench->join({rows({1, 2, 3})});
    bench->join({rows({4, 5})});
  }
  BOOST_TEST(several.told() == "[1,2,3] -");
  BOOST_TEST(one.told() == "- Unavailable");
  several.simulation.pass(10);
  BOOST_TEST(several.told() == "[1,2,3] [4,5]");
}

BOOST_AUTO_TEST_CASE(batches_are_filled_up_to_an_allowed_size) {
  BatchBench bench(spec_of(6, 10, {2, 4, 6}));
  bench.join({rows({7, 8})});
  bench.join({rows({9})});
  bench.simulation.pass(10);
  BOOST_TEST(bench.told() == "[] [7,8,9,7]");
  BOOST_TEST((bench.got(1, 1).shape() == Shape{2, 3}));
  bench.join({rows({})});
  bench.simulation.pass(10);
  BOOST_TEST(bench.told() == "[] [7,8,9,7] InvalidArgument");  // there is no row to fill it with
}

BOOST_AUTO_TEST_CASE(queues_of_one_batch_do_not_mix) {
  BatchBench bench(spec_of(2));
  bench.join({rows({1})}, "a");
  bench.join({rows({2})}, "b");
  bench.join({rows({3})}, "a");
  BOOST_TEST(bench.told() == "[] - [1,3]");
}

BOOST_AUTO_TEST_CASE(a_step_that_ends_leaves_its_batch) {
  BatchBench bench(spec_of(3, 10));
  bench.join({rows({1, 2})});
  bench.join({rows({3})}, "other");
  bench.cancel(1);
  bench.cancel(2);
  bench.simulation.pass(10);
  bench.join({rows({4})});
  bench.simulation.pass(9);
  BOOST_TEST(bench.told() == "Cancelled Cancelled -");
  bench.join({rows({5, 6})});
  BOOST_TEST(bench.told() == "Cancelled Cancelled [] [4,5,6]");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_in_a_batch_is_refused) {
  BatchBench bench(spec_of(3));
  bench.join({});
  bench.join({Tensor::scalar(1)});
  bench.join({rows({1}), rows({1, 2})});
  bench.join({rows({1, 2, 3, 4})});
  BOOST_TEST(bench.told() == "InvalidArgument InvalidArgument InvalidArgument InvalidArgument");
  bench.join({rows({1})});
  bench.join({rows({1}), rows({1})});
  bench.join({Tensor::vector<int64_t>({1})});
  for (size_t i = 4; i < 7; ++i) BOOST_TEST(text(*bench.answers[i]) == "InvalidArgument");
}

BOOST_AUTO_TEST_CASE(each_step_gets_its_part) {
  UnbatchBench bench;
  bench.take(no_rows, no_index, 1);
  bench.take(rows({5, 6, 7, 8}), index({{1, 2}, {2, 1}, {3, 1}}), 2);
  BOOST_TEST(bench.told() == "[5,6] [7]");
  bench.simulation.pass(5);
  bench.take(no_rows, no_index, 3);  // its part is just young enough
  BOOST_TEST(bench.told() == "[5,6] [7] [8]");
}

BOOST_AUTO_TEST_CASE(parts_and_steps_wait_for_a_time) {
  UnbatchBench bench;
  bench.take(no_rows, no_index, 1);
  bench.simulation.pass(5);
  BOOST_TEST(bench.told() == "DeadlineExceeded");
  bench.take(rows({5, 6, 7}), index({{1, 1}, {2, 1}, {3, 1}}), 2);
  bench.simulation.pass(6);
  bench.take(no_rows, no_index, 1);
  bench.take(no_rows, no_index, 3, -1);  // waits for nobody
  bench.cancel(3);
  bench.simulation.pass(0);
  BOOST_TEST(bench.told() == "DeadlineExceeded [6] Cancelled DeadlineExceeded");
}

BOOST_AUTO_TEST_CASE(parts_that_contradict_each_other_are_refused) {
  UnbatchBench bench;
  bench.take(no_rows, no_index, 1);
  bench.take(no_rows, no_index, 1);
  bench.take(rows({1}), index({{2, 2}}), 2);
  bench.take(rows({1}), rows({1}), 2);
  bench.take(Tensor::scalar(1), no_index, 2);
  bench.take(rows({1, 2}), Tensor::of<int64_t>(Shape{1, 3}, {2, 1, 0}), 2);
  bench.take(rows({1, 2}), index({{3, 1}, {3, 1}}), 2);
  BOOST_TEST(bench.told() ==
             "- AlreadyExists InvalidArgument InvalidArgument InvalidArgument InvalidArgument AlreadyExists");
}

BOOST_AUTO_TEST_CASE(gradients_are_joined_in_the_order_of_the_parts) {
  GradientBench bench;
  bench.gradient(no_rows, no_index, rows({8}), 2);
  bench.gradient(rows({5, 6, 7, 8}), index({{1, 2}, {2, 1}, {3, 1}}), rows({9}), 3);
  BOOST_TEST(bench.told() == "[] -");
  bench.gradient(no_rows, no_index, rows({6, 7}), 1);
  BOOST_TEST(bench.told() == "[] [6,7,8,9] []");
  BOOST_TEST(identical(bench.got(2, 0), no_rows));
}

BOOST_AUTO_TEST_CASE(gradients_that_contradict_each_other_are_refused) {
  GradientBench bench;
  bench.gradient(no_rows, no_index, rows({8}), 2);
  bench.gradient(no_rows, no_index, rows({8}), 2);
  bench.gradient(rows({1}), no_index, rows({8}), 3);
  bench.gradient(rows({1, 2}), index({{4, 1}, {4, 1}}), rows({8}), 4);
  bench.gradient(rows({1, 2}), index({{5, 1}, {6, 1}}), rows({8}), 5);
  bench.gradient(rows({1, 2}), index({{6, 1}, {7, 1}}), rows({8}), 7);
  bench.gradient(no_rows, no_index, Tensor::scalar(1), 8);
  BOOST_TEST(bench.told() ==
             "[] InvalidArgument InvalidArgument InvalidArgument - InvalidArgument InvalidArgument");
  bench.cancel(5);
  BOOST_TEST(text(*bench.answers[4]) == "Cancelled");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::batch_test
