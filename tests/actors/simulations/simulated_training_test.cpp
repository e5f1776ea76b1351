// Synchronous training on simulated clusters with every kind of failure: frames are late, arrive twice or are lost with their
// connection; hosts are separated; workers and the parameter server crash and restart. Every gradient is still applied exactly
// once: the final weights equal those of an undisturbed run, bit for bit (robustness.md, I2 and I3).
#include <boost/test/unit_test.hpp>

#include <random>

#include "graph/build/scope.h"
#include "tests/support/seeds.h"
#include "tests/support/simulation/simulated_cluster.h"
#include "tests/support/simulation/simulated_faults.h"
#include "tests/support/whole_checkpoint.h"

namespace troupe::simulated_training_test {
namespace {

using test::Faults;
using test::SimulatedCluster;

constexpr int64_t millisecond = 1'000'000, second = 1000 * millisecond;
constexpr size_t chief = 0;
constexpr uint64_t rounds = 12, checkpoint_every = 4;
constexpr int64_t size = 5;
constexpr const char* checkpoints = "checkpoints";
const std::vector<std::string> tasks = {"/job:chief/replica:0/task:0", "/job:ps/replica:0/task:0",
                                        "/job:worker/replica:0/task:0", "/job:worker/replica:0/task:1"};

Tensor floats(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(size);
  for (float& value : values) value = normal(random);
  return Tensor::vector<float>(std::span<const float>(values));
}

// ps: w, w/round;   worker k: gradient = (w - x_k) * 0.5;   ps: SyncReplicasApply per worker, w -= 0.3 mean
struct Model {
  explicit Model(const Scope& g) {
    const Scope at_ps = g.with_device("/job:ps");
    const auto variable = [&](const char* name, const Tensor& initial) {
      const Output v = at_ps.with_name(name).add_one(
          "VariableV2", {}, {{"dtype", initial.dtype()}, {"shape", PartialShape(initial.shape())}});
      values.push_back(g.with_name(std::string(name) + "/value")
                           .add_one("Placeholder", {},
                                    {{"dtype", initial.dtype()}, {"shape", PartialShape(initial.shape())}}));
      assignments.push_back({at_ps.add("Assign", {v, values.back()}), Output::control});
      initial_values.push_back(initial);
      variables.push_back(v);
      return v;
    };
    const Output w = variable("w", floats(7)), round = variable("w/round", Tensor::scalar<int64_t>(0));
    initialized = at_ps.add_one("IsVariableInitialized", {round});
    for (int64_t worker = 0; worker < 2; ++worker) {
      const Scope at_worker = g.with_device("/job:worker/task:" + std::to_string(worker));
      inputs.push_back(
          at_worker.add_one("Placeholder", {}, {{"dtype", DType::Float}, {"shape", PartialShape{size}}}));
      const Output gradient = at_worker.add_one(
          "Mul", {at_worker.add_one("Sub", {w, inputs.back()}), g.constant(Tensor::scalar(0.5f))});
      pushes.push_back({g.add("SyncReplicasApply",
                              {round, w, g.constant(Tensor::scalar(0.3f)), gradient,
                               g.constant(Tensor::scalar(4 + worker))},
                              {{"N", int64_t{1}},
                               {"rule", std::string("ApplyGradientDescent")},
                               {"gradient", std::string("delta")},
                               {"shard", worker},
                               {"shards", int64_t{2}}}),
                        Output::control});
    }
  }

  std::vector<Output> variables, values, assignments, inputs, pushes;
  std::vector<Tensor> initial_values;
  Output initialized;
};

class Training {
 public:
  Training(uint64_t seed, const Faults& faults)
      : cluster_(seed, tasks), faults_(cluster_, faults, {1, 2, 3}, [](size_t) {}) {}

  /// Runs the training and returns the weights after the last round.
  Tensor run() {
    for (uint64_t round = 1;;) {
      try {
        if (!session_) recover(round);
        if (round > rounds) {
          faults_.end();  // those that have begun may still take the weights away
          return session_->run({model_.variables[0]})[0];
        }
        session_->run({{model_.inputs[0], floats(100 + round)}, {model_.inputs[1], floats(200 + round)}},
                      model_.pushes, {.timeout = std::chrono::seconds(60), .training = true, .round = round});
        if (round % checkpoint_every == 0) save(round);
        ++round;
      } catch (const Error& error) {
        failed(error.status());
      }
    }
  }

  SimulatedCluster& cluster() { return cluster_; }
  int failures() const { return failures_; }
  int crashes() const { return faults_.crashes(); }

 private:
  /// Checks that a failure is allowed: a lost peer, or a step that ran when a peer was lost. No step may reach its deadline.
  void failed(const Status& status) {
    BOOST_TEST_REQUIRE((status.code() == Code::Unavailable || status.code() == Code::Aborted),
                       status.message());
    ++failures_;
    session_.reset();
    cluster_.simulation().pass(10 * millisecond);
  }

  void open() {
    BOOST_TEST_REQUIRE(cluster_.simulation().run_until([&] { return cluster_.complete(); },
                                                       cluster_.simulation().now() + 3600 * second));
    session_ = std::make_unique<Session>(cluster_.session(chief, graph_));
  }

  /// Continues from the last checkpoint if the parameter server has lost its variables.
  void recover(uint64_t& round) {
    open();
    if (session_->run({model_.initialized})[0].as<bool>()[0]) return;
    std::vector<Tensor> values = model_.initial_values;
    std::vector<std::string> skipped;
    const auto checkpoint = test::load_newest(cluster_.disk(chief), checkpoints, skipped);
    round = 1;
    if (checkpoint) {
      for (size_t i = 0; i < values.size(); ++i) values[i] = checkpoint->tensors[i].value;
      round = checkpoint->round + 1;
    }
    // The round is set last, because it shows that all variables are set.
    for (size_t i = 0; i < values.size(); ++i)
      session_->run({{model_.values[i], values[i]}}, {model_.assignments[i]});
  }

  void save(uint64_t round) {
    const auto values = session_->run(model_.variables);
    BOOST_TEST(values[1].as<int64_t>()[0] == static_cast<int64_t>(round));
    test::WholeCheckpoint checkpoint{round, {}, {}};
    for (size_t i = 0; i < values.size(); ++i)
      checkpoint.tensors.push_back({"v" + std::to_string(i), values[i], round});
    throw_if_failed(test::save(cluster_.disk(chief), checkpoints, checkpoint, 2));
  }

  SimulatedCluster cluster_;
  test::SimulatedFaults faults_;
  Graph graph_{cluster_.node(chief).library->ops};
  const Model model_{Scope(graph_)};
  std::unique_ptr<Session> session_;
  int failures_ = 0;
};

const Faults everything{{.duplicate = 0.05, .loss = 0.002}, true, true};

BOOST_AUTO_TEST_SUITE(simulated_training)

BOOST_AUTO_TEST_CASE(every_gradient_is_applied_once_whatever_fails) {
  const Tensor undisturbed = Training(0, {}).run();
  int failures = 0, crashes = 0;
  for (const uint64_t seed : test::seeds(500)) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      Training training(seed, everything);
      BOOST_TEST_REQUIRE(identical(training.run(), undisturbed));
      failures += training.failures();
      crashes += training.crashes();
    }
  }
  BOOST_TEST_MESSAGE(failures << " steps failed, " << crashes << " crashes");
  BOOST_TEST(failures > 1000);
  BOOST_TEST(crashes > 1000);
}

BOOST_AUTO_TEST_CASE(a_seed_replays_identically) {
  for (const uint64_t seed : {3, 4}) BOOST_TEST(replays<Training>(seed, everything));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::simulated_training_test
