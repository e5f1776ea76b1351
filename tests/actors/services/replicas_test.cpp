// The replicas role: rounds are applied once, in shard order, even if pushes arrive twice, late, early, or not at all (features.md,
// section R; robustness.md I2).
#include "actors/services/replicas/replicas.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "actors/services/variable/variable_service.h"
#include "actors/task.h"
#include "devices/cpu_device.h"
#include "graph/build/scope.h"
#include "messages/schemas/replicas.capnp.h"
#include "messages/schemas/variable.capnp.h"
#include "messages/wire/wire.h"
#include "tests/support/simulation/simulated_node.h"

namespace troupe::replicas_test {
namespace {

using Answered = std::optional<Result<AnyMessage>>;

/// Returns "-" while the push waits, "3" for Committed with round 3, otherwise the code of the failure.
std::string text(const Answered& answered) {
  if (!answered) return "-";
  if (!answered->ok()) return std::string(name(answered->status().code()));
  return std::to_string(Message<wire::Committed>(**answered)->getRound());
}

/// The fields of a push that tests vary; the others have usual values.
struct PushOf {
  uint64_t round = 1;
  uint32_t shard = 0, shards = 2;
  std::vector<float> gradient;
  int64_t samples = 1;
  uint64_t step = 0;  ///< 0: a new step
  uint64_t rule = 0;  ///< 0: v -= -1 * mean
  Tensor rate = Tensor::scalar(-1.0f);
};

/// The replicas role of a device with one variable "w", floats that are zero at first, and its counter "w/round".
struct Bench {
  explicit Bench(int64_t size = 2, uint64_t seed = 0) : simulation(seed) {
    w = value_or_throw(site->state->require("", "w", DType::Float, PartialShape{size}));
    counter = value_or_throw(site->state->require("", "w/round", DType::Int64, PartialShape::scalar()));
    w->publish(Tensor::vector<float>(std::vector<float>(static_cast<size_t>(size))));
    counter->publish(Tensor::scalar<int64_t>(0));
    descent = add_rule("ApplyGradientDescent", 2);
    assignment = add_rule("Assign", 1);
  }

  /// Adds a rule: an op on one variable of floats, with this many other inputs.
  uint64_t add_rule(const std::string& op, size_t values) {
    auto graph = std::make_shared<Graph>(node.actors.library->ops);
    const Scope g(*graph);
    std::vector<Output> inputs = {
        g.add_one("VariableV2", {}, {{"dtype", DType::Float}, {"shape", w->shape()}})};
    for (size_t i = 0; i < values; ++i)
      inputs.push_back(g.add_one("Placeholder", {}, {{"dtype", DType::Float}, {"shape", PartialShape{}}}));
    const Node& rule = graph->node(g.add(op, inputs));
    return VariableService::of(*site).rules().add(
        value_or_throw(prepare_rule(graph, rule, node.actors.library->kernels, *site->device)));
  }

  AnyMessage message(PushOf push) {
    Draft<wire::PushGradient> draft;
    draft->initStep().setOrdinal(push.step != 0 ? push.step : 1000 + answers.size());
    draft->setRound(push.round);
    draft->setWorker(push.shard);
    draft->setShard(push.shard);
    draft->setShards(push.shards);
    draft->setSamples(push.samples);
    draft->setRoundCell(counter->id());
    draft->initCells(1).set(0, w->id());
    draft->setRule(push.rule != 0 ? push.rule : descent);
    std::vector<Tensor> values = {push.rate};
    if (push.rule == assignment) values.clear();
    draft->setGradient(push.rule == assignment ? -1 : 1);
    values.push_back(Tensor::vector<float>(std::span<const float>(push.gradient)));
    return draft.finish(std::move(values));
  }

  /// Sends a push and returns the index of its answer. Nothing runs yet.
  size_t send(PushOf push) {
    answers.push_back(node.ask(replicas, message(std::move(push))));
    return answers.size() - 1;
  }
  size_t push(PushOf what) {
    const size_t index = send(std::move(what));
    simulation.run_ready();
    return index;
  }
  void cancel(uint64_t step) {
    Draft<wire::CancelPushes> draft;
    draft->initStep().setOrdinal(step);
    node.actors.engine.send(replicas, draft.finish());
  }
  std::string answered(size_t index) const { return text(*answers[index]); }
  std::string answered() const {
    std::string all;
    for (size_t i = 0; i < answers.size(); ++i) all += (i == 0 ? "" : " ") + answered(i);
    return all;
  }
  Status status(size_t index) const { return *answers[index] ? (*answers[index])->status() : Status(); }

  std::vector<float> value() const {
    Snapshot snapshot;
    BOOST_REQUIRE((w->try_read(snapshot) == StateCell::Reading::Ready));
    const auto values = snapshot.value.as<float>();
    return {values.begin(), values.end()};
  }
  int64_t rounds() const {
    Snapshot snapshot;
    BOOST_REQUIRE((counter->try_read(snapshot) == StateCell::Reading::Ready));
    return snapshot.value.as<int64_t>()[0];
  }

  test::Simulation simulation;
  SimulatedDisk disk{0};
  test::SimulatedNode node{simulation, disk};
  std::shared_ptr<TaskSites> task =
      make_task(node.actors, "/job:localhost/replica:0/task:0", 1,
                {std::make_shared<CpuDevice>(DeviceName{"localhost", 0, 0, "CPU", 0}, 1, node.pool)});
  std::shared_ptr<DeviceSite> site = task->sites.front();
  ActorRef replicas = value_or_throw(
      node.actors.directory.find_local(task->address("replicas", site->device->name().text())));
  std::shared_ptr<StateCell> w, counter;
  uint64_t descent = 0, assignment = 0;
  std::vector<std::shared_ptr<const Answered>> answers;
};

using Floats = std::vector<float>;

/// Returns (g0 s0 + g1 s1 + ...) / (s0 + s1 + ...), with every operation rounded.
Floats mean(const std::vector<Floats>& gradients, const std::vector<int64_t>& samples) {
  Floats result(gradients[0].size());
  float total = 0;
  for (const int64_t n : samples) total += static_cast<float>(n);
  for (size_t i = 0; i < result.size(); ++i) {
    float sum = gradients[0][i] * static_cast<float>(samples[0]);
    for (size_t k = 1; k < gradients.size(); ++k) {
      const float product = gradients[k][i] * static_cast<float>(samples[k]);
      sum = sum + product;
    }
    result[i] = sum / total;
  }
  return result;
}

Floats random_floats(std::mt19937_64& random, size_t size) {
  std::normal_distribution<float> normal;
  Floats values(size);
  for (float& value : values) value = normal(random);
  return values;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(replicas)

BOOST_AUTO_TEST_CASE(a_round_is_applied_when_all_shards_are_here) {
  Bench bench;
  bench.push({.shard = 1, .gradient = {1, 10}, .samples = 1});
  BOOST_TEST(bench.answered() == "-");
  BOOST_TEST(bench.value() == (Floats{0, 0}));
  bench.push({.shard = 0, .gradient = {5, 30}, .samples = 3});
  BOOST_TEST(bench.answered() == "1 1");
  BOOST_TEST(bench.value() == (Floats{4, 25}));
  BOOST_TEST(bench.rounds() == 1);
  bench.push({.round = 2, .shard = 0, .gradient = {1, 1}});
  bench.push({.round = 2, .shard = 1, .gradient = {1, 1}});
  BOOST_TEST(bench.value() == (Floats{5, 26}));
  BOOST_TEST(bench.rounds() == 2);
}

BOOST_AUTO_TEST_CASE(every_order_of_arrival_gives_the_same_bits) {
  std::mt19937_64 random(1);
  const std::vector<Floats> gradients = {random_floats(random, 33), random_floats(random, 33),
                                         random_floats(random, 33), random_floats(random, 33)};
  const std::vector<int64_t> samples = {17, 16, 16, 3};
  std::vector<uint32_t> order = {0, 1, 2, 3};
  do {
    Bench bench(33);
    for (const uint32_t shard : order)
      bench.push({.shard = shard, .shards = 4, .gradient = gradients[shard], .samples = samples[shard]});
    BOOST_TEST(bench.value() == mean(gradients, samples));
  } while (std::next_permutation(order.begin(), order.end()));
}

BOOST_AUTO_TEST_CASE(gradients_too_large_for_a_handler_give_the_same_bits) {
  constexpr size_t size = 30'000;
  std::mt19937_64 random(2);
  const std::vector<Floats> gradients = {random_floats(random, size), random_floats(random, size)};
  Bench bench(size);
  bench.push({.shard = 1, .gradient = gradients[1], .samples = 5});
  bench.push({.shard = 0, .gradient = gradients[0], .samples = 3});
  BOOST_TEST(bench.answered() == "1 1");
  BOOST_TEST((bench.value() == mean(gradients, {3, 5})));
}

BOOST_AUTO_TEST_CASE(a_push_of_an_applied_round_is_answered_and_not_applied_again) {
  Bench bench;
  for (const uint32_t shard : {0, 1}) bench.push({.shard = shard, .gradient = {1, 1}});
  for (const uint32_t shard : {0, 1, 1}) bench.push({.shard = shard, .gradient = {100, 100}});
  BOOST_TEST(bench.answered() == "1 1 1 1 1");
  BOOST_TEST(bench.value() == (Floats{1, 1}));
  for (const uint32_t shard : {0, 1}) bench.push({.round = 2, .shard = shard, .gradient = {1, 1}});
  BOOST_TEST(bench.answered(bench.push({.round = 1, .shard = 0, .gradient = {100, 100}})) == "2");
  BOOST_TEST(bench.value() == (Floats{2, 2}));
}

BOOST_AUTO_TEST_CASE(a_second_push_of_a_shard_replaces_nothing_and_gets_the_same_answer) {
  Bench bench;
  bench.push({.shard = 0, .gradient = {1, 1}});
  bench.push({.shard = 0, .gradient = {100, 100}});
  BOOST_TEST(bench.answered() == "- -");
  bench.push({.shard = 1, .gradient = {1, 1}});
  BOOST_TEST(bench.answered() == "1 1 1");
  BOOST_TEST(bench.value() == (Floats{1, 1}));
}

BOOST_AUTO_TEST_CASE(a_push_too_early_is_aborted) {
  Bench bench;
  bench.push({.round = 2, .shard = 0, .gradient = {1, 1}});
  bench.push({.round = 1, .shard = 0, .gradient = {1, 1}});
  bench.push({.round = 2, .shard = 1, .gradient = {1, 1}});
  BOOST_TEST(bench.answered() == "Aborted - Aborted");
  BOOST_TEST(bench.status(0).text() == "round 2 was pushed for 'w/round', but the next round is 1");
}

BOOST_AUTO_TEST_CASE(a_cancelled_step_takes_its_gradient_back) {
  Bench bench;
  bench.push({.shard = 0, .gradient = {100, 100}, .step = 7});
  bench.cancel(7);
  bench.push({.shard = 1, .gradient = {1, 1}});
  BOOST_TEST(bench.answered() == "Cancelled -");
  bench.push({.shard = 0, .gradient = {3, 3}, .step = 8});
  BOOST_TEST(bench.answered() == "Cancelled 1 1");
  BOOST_TEST(bench.value() == (Floats{2, 2}));
}

BOOST_AUTO_TEST_CASE(unless_another_step_pushed_the_same_shard) {
  Bench bench;
  bench.push({.shard = 0, .gradient = {3, 3}, .step = 7});
  bench.push({.shard = 0, .gradient = {3, 3}, .step = 8});
  bench.cancel(7);
  bench.push({.shard = 1, .gradient = {1, 1}, .step = 9});
  BOOST_TEST(bench.answered() == "Cancelled 1 1");
  BOOST_TEST(bench.value() == (Floats{2, 2}));
}

BOOST_AUTO_TEST_CASE(a_round_that_is_being_committed_cannot_be_cancelled) {
  for (const int64_t size : {2, 30'000}) {
    Bench bench(size);
    const Floats ones(static_cast<size_t>(size), 1);
    bench.send({.shard = 0, .gradient = ones, .step = 7});
    bench.send({.shard = 1, .gradient = ones, .step = 7});
    bench.cancel(7);
    bench.simulation.run_ready();
    BOOST_TEST(bench.answered() == "1 1");
    BOOST_TEST((bench.value() == ones));
    BOOST_TEST(bench.rounds() == 1);
  }
}

BOOST_AUTO_TEST_CASE(a_push_that_does_not_go_with_the_others_is_refused_alone) {
  Bench bench;
  bench.push({.shard = 0, .gradient = {1, 1}});
  const size_t shards = bench.push({.shard = 1, .shards = 3, .gradient = {1, 1}});
  const size_t shape = bench.push({.shard = 1, .gradient = {1, 1, 1}});
  const size_t rule = bench.push({.shard = 1, .gradient = {1, 1}, .rule = bench.assignment});
  const size_t unknown = bench.push({.shard = 1, .gradient = {1, 1}, .rule = 99});
  const size_t beyond = bench.push({.shard = 2, .gradient = {1, 1}});
  const size_t samples = bench.push({.shard = 1, .gradient = {1, 1}, .samples = -1});
  for (const size_t refused : {shards, shape, rule, beyond, samples})
    BOOST_TEST(bench.answered(refused) == "InvalidArgument");
  BOOST_TEST(
      bench.status(shape).text() ==
      "shard 1 of worker 1 pushed to 'w/round' with a gradient float[3], shard 0 of worker 0 with float[2]");
  BOOST_TEST(bench.answered(unknown) == "NotFound");
  BOOST_TEST(bench.answered(0) == "-");
  BOOST_TEST(bench.answered(bench.push({.shard = 1, .gradient = {1, 1}})) == "1");
  BOOST_TEST(bench.value() == (Floats{1, 1}));
}

BOOST_AUTO_TEST_CASE(a_rule_that_fails_is_not_counted_and_the_round_can_be_pushed_again) {
  Bench bench;
  for (const uint32_t shard : {0, 1}) bench.push({.shard = shard, .gradient = {1, 1, 1}});
  BOOST_TEST(bench.answered() == "InvalidArgument InvalidArgument");
  BOOST_TEST(bench.status(0).op() == "ApplyGradientDescent");
  for (const uint32_t shard : {0, 1}) bench.push({.shard = shard, .gradient = {1, 1}, .samples = 0});
  BOOST_TEST(bench.answered(2) == "InvalidArgument");
  BOOST_TEST(bench.rounds() == 0);
  for (const uint32_t shard : {0, 1}) bench.push({.shard = shard, .gradient = {1, 1}});
  BOOST_TEST(bench.value() == (Floats{1, 1}));
}

BOOST_AUTO_TEST_CASE(values_beside_the_gradient_are_those_of_shard_0) {
  Bench bench;
  bench.push({.shard = 1, .gradient = {1, 1}, .rate = Tensor::scalar(-100.0f)});
  bench.push({.shard = 0, .gradient = {1, 1}, .rate = Tensor::scalar(-2.0f)});
  BOOST_TEST(bench.value() == (Floats{2, 2}));
}

BOOST_AUTO_TEST_CASE(a_rule_without_a_gradient_is_applied_once_per_round) {
  Bench bench;
  for (const uint32_t shard : {1, 0})
    bench.push({.shard = shard, .gradient = {1 + static_cast<float>(shard), 1}, .rule = bench.assignment});
  BOOST_TEST(bench.answered() == "1 1");
  BOOST_TEST(bench.value() == (Floats{1, 1}));
  BOOST_TEST(bench.w->version() == 2u);
}

BOOST_AUTO_TEST_CASE(a_counter_without_value_or_of_another_kind_counts_nothing) {
  Bench bench;
  bench.counter->publish(Snapshot{});
  BOOST_TEST(bench.answered(bench.push({.gradient = {1, 1}})) == "FailedPrecondition");
  bench.counter->publish(Tensor::scalar<int64_t>(-1));
  BOOST_TEST(bench.answered(bench.push({.gradient = {1, 1}})) == "InvalidArgument");
  bench.counter->publish(Tensor::scalar(1.0f));
  BOOST_TEST(bench.answered(bench.push({.gradient = {1, 1}})) == "InvalidArgument");
}

// The counter is set, as by restoring a checkpoint: the round being gathered belongs to the earlier values of the variables.
BOOST_AUTO_TEST_CASE(a_counter_set_from_outside_ends_the_round_in_the_making) {
  Bench bench;
  bench.push({.shard = 0, .gradient = {100, 100}});
  bench.counter->publish(Tensor::scalar<int64_t>(5));
  bench.push({.round = 6, .shard = 0, .gradient = {1, 1}});
  BOOST_TEST(bench.answered() == "Aborted -");
  bench.push({.round = 6, .shard = 1, .gradient = {1, 1}});
  BOOST_TEST(bench.answered() == "Aborted 6 6");
  BOOST_TEST(bench.value() == (Floats{1, 1}));
}

BOOST_AUTO_TEST_CASE(a_push_waits_while_the_counter_is_being_changed) {
  Bench bench;
  Tensor old = *bench.counter->take_for_write();
  for (const uint32_t shard : {0, 1}) bench.push({.shard = shard, .gradient = {1, 1}});
  BOOST_TEST(bench.answered() == "- -");
  bench.counter->put_back(std::move(old));
  Draft<wire::Read> read;  // any message makes the variable role check its cells again
  read->initCells(1).set(0, bench.counter->id());
  bench.node.actors.engine.send(value_or_throw(bench.site->owner(*bench.w)), read.finish());
  bench.simulation.run_ready();
  BOOST_TEST(bench.answered() == "1 1");
}

// For many rounds shards push in any order, twice or too late, are cancelled and push again. At the end the variable equals, bit
// for bit, the result of one loop over the shards with the same gradients.
BOOST_AUTO_TEST_CASE(whatever_happens_on_the_way_each_round_is_applied_exactly_once) {
  constexpr uint32_t shards = 3;
  constexpr uint64_t rounds = 8;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    std::mt19937_64 random(seed);
    Bench bench(5, seed);
    Floats expected(5, 0);
    std::vector<std::vector<Floats>> gradients(rounds + 1);
    const std::vector<int64_t> samples = {7, 6, 6};
    for (uint64_t round = 1; round <= rounds; ++round) {
      for (uint32_t shard = 0; shard < shards; ++shard) gradients[round].push_back(random_floats(random, 5));
      const Floats step = mean(gradients[round], samples);
      for (size_t i = 0; i < 5; ++i) expected[i] += step[i];
    }
    const auto push_of = [&](uint64_t round, uint32_t shard, uint64_t step) {
      return PushOf{.round = round,
                    .shard = shard,
                    .shards = shards,
                    .gradient = gradients[round][shard],
                    .samples = samples[shard],
                    .step = step};
    };
    uint64_t step = 0;
    std::vector<uint64_t> next(shards, 1);             // the next round of each shard
    std::vector<std::optional<size_t>> waits(shards);  // the last push of each shard
    std::vector<uint64_t> steps(shards);
    const auto unfinished = [&] {
      return std::any_of(next.begin(), next.end(), [&](uint64_t round) { return round <= rounds; });
    };
    for (int turn = 0; unfinished() && turn < 10'000; ++turn) {
      const auto shard = static_cast<uint32_t>(random() % shards);
      if (waits[shard] && bench.answered(*waits[shard]) != "-") {
        const std::string answer = bench.answered(std::exchange(waits[shard], {}).value());
        if (answer != "Cancelled") {
          BOOST_REQUIRE_MESSAGE(std::stoull(answer) >= next[shard], "seed " << seed);
          ++next[shard];
        }
      } else if (waits[shard]) {
        if (random() % 3 == 0) bench.cancel(steps[shard]);
      } else if (next[shard] <= rounds) {
        steps[shard] = ++step;
        waits[shard] = bench.send(push_of(next[shard], shard, steps[shard]));
        if (random() % 4 == 0) bench.send(push_of(next[shard], shard, ++step));
        if (next[shard] > 1 && random() % 4 == 0) bench.send(push_of(next[shard] - 1, shard, ++step));
      }
      if (random() % 2 == 0) bench.simulation.run_ready();
    }
    bench.simulation.run_ready();
    BOOST_TEST(!unfinished(), "seed " << seed);
    BOOST_TEST(bench.rounds() == static_cast<int64_t>(rounds));
    BOOST_TEST(bench.value() == expected, "seed " << seed);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::replicas_test
