// All-reduce between simulated nodes with every kind of failure. Every worker has its own client, session and master over its own
// device. In round r worker w contributes numbers that belong to (w, r) alone, so a sum that has a part of another round, or a part
// twice, is seen at once. A worker whose step has failed goes on from the round that any worker has ended, as from a checkpoint.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>

#include "graph/build/scope.h"
#include "tests/support/seeds.h"
#include "tests/support/simulation/simulated_cluster.h"
#include "tests/support/simulation/simulated_faults.h"

namespace troupe::simulated_allreduce_test {
namespace {

using test::Faults;
using test::SimulatedCluster;

constexpr int64_t millisecond = 1'000'000, second = 1000 * millisecond;
constexpr size_t workers = 3;
constexpr int64_t rounds = 8;
const std::vector<std::string> tasks = {"/job:worker/replica:0/task:0", "/job:worker/replica:0/task:1",
                                        "/job:worker/replica:0/task:2"};

/// Returns what a worker contributes. All sums are exact.
Tensor part_of(size_t worker, int64_t round, int64_t size) {
  Tensor tensor = value_or_throw(Tensor::allocate(f32, Shape{size}));
  const auto values = tensor.write<float>();
  for (size_t i = 0; i < values.size(); ++i)
    values[i] =
        static_cast<float>((round * 3 + static_cast<int64_t>(worker)) * 64 + static_cast<int64_t>(i % 64));
  return tensor;
}

Tensor sum_of(int64_t round, int64_t size) {
  Tensor sum = part_of(0, round, size);
  for (size_t worker = 1; worker < workers; ++worker) {
    const Tensor part = part_of(worker, round, size);
    for (size_t i = 0; i < part.as<float>().size(); ++i) sum.write<float>()[i] += part.as<float>()[i];
  }
  return sum;
}

/// State that the clients of all workers share outside the simulated nodes.
class Training {
 public:
  Training(uint64_t seed, const Faults& faults, int64_t size)
      : size_(size), cluster_(seed, tasks),
        faults_(cluster_, faults, {0, 1, 2}, [this](size_t machine) { start(machine); }) {
    for (size_t worker = 0; worker < workers; ++worker) start(worker);
  }

  void run() {
    auto& simulation = cluster_.simulation();
    const bool ended = simulation.run_until([&] { return over() && cluster_.clients_ended(); },
                                            simulation.now() + 24 * 3600ll * second);
    BOOST_TEST_REQUIRE(ended, "the training does not end");
  }

  SimulatedCluster& cluster() { return cluster_; }
  int failures() const { return failures_; }
  int crashes() const { return faults_.crashes(); }

 private:
  bool over() const {
    return std::ranges::all_of(done_, [](int64_t done) { return done == rounds; });
  }

  void start(size_t worker) {
    cluster_.start_client(worker, [this, worker] { work(worker); });
  }

  void work(size_t worker) {
    while (!over()) try {
        cluster_.sleep(worker, millisecond);
        if (!cluster_.complete()) continue;  // faults are rare until it is
        done_[worker] = std::ranges::max(done_);
        Graph graph(cluster_.node(worker).library->ops);
        const Scope g(graph);
        const Output part = g.add_one("Placeholder", {}, {{"dtype", f32}, {"shape", PartialShape{size_}}});
        const Output sum = g.add_one(
            "AllReduce", {part},
            {{"members", tasks}, {"rank", static_cast<int64_t>(worker)}, {"key", std::string("sum")}});
        Session session = cluster_.session(worker, graph, {worker});
        while (done_[worker] < rounds) step(session, worker, part, sum);
      } catch (const Error& error) {
        const Code code = error.status().code();
        BOOST_TEST_REQUIRE((code == Code::Unavailable || code == Code::Aborted), error.status().message());
        ++failures_;
      }
  }

  void step(Session& session, size_t worker, Output part, Output sum) {
    const int64_t round = done_[worker] + 1;
    const Tensor result = session.run(
        {{part, part_of(worker, round, size_)}}, {sum},
        {.timeout = std::chrono::seconds(60), .training = true, .round = static_cast<uint64_t>(round)})[0];
    BOOST_TEST_REQUIRE(identical(result, sum_of(round, size_)), "worker " << worker << ", round " << round);
    done_[worker] = round;
    if (over()) faults_.end();
  }

  const int64_t size_;
  SimulatedCluster cluster_;
  test::SimulatedFaults faults_;
  std::array<int64_t, workers> done_{};
  int failures_ = 0;
};

const Faults everything{{.duplicate = 0.05, .loss = 0.002}, true, true};

BOOST_AUTO_TEST_SUITE(simulated_allreduce)

BOOST_AUTO_TEST_CASE(every_sum_is_that_of_its_round) {
  int failures = 0, crashes = 0;
  for (const uint64_t seed : test::seeds(500)) BOOST_TEST_CONTEXT("seed " << seed) {
      Training training(seed, everything, seed % 3 == 0 ? 10'000 : 10);  // three slices, or one block
      training.run();
      failures += training.failures();
      crashes += training.crashes();
    }
  BOOST_TEST_MESSAGE(failures << " failures, " << crashes << " crashes");
  BOOST_TEST(failures > 500);
  BOOST_TEST(crashes > 500);
}

BOOST_AUTO_TEST_CASE(a_seed_replays_identically) {
  BOOST_TEST(test::replays<Training>(uint64_t{3}, everything, int64_t{10}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::simulated_allreduce_test
