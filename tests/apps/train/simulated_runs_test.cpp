// The trainer of a run and the trainers of its nodes, on simulated clusters with every kind of failure: whatever crashes, the run
// ends with the weights of an undisturbed one, bit for bit, in synchronous modes (robustness.md, I2 and I5).
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

#include "apps/services/trainer.h"
#include "apps/train/data/train_data.h"
#include "apps/train/graphs/replication_tasks.h"
#include "apps/train/graphs/training_graph.h"
#include "apps/train/rounds/cluster_rounds.h"
#include "apps/train/rounds/servers.h"
#include "tests/support/ops/op_library.h"
#include "tests/support/seeds.h"
#include "tests/support/simulation/simulated_cluster.h"
#include "tests/support/simulation/simulated_faults.h"

namespace troupe::simulated_runs_test {
namespace {

using test::Faults;
using test::SimulatedCluster;

constexpr int64_t millisecond = 1'000'000, second = 1000 * millisecond;
constexpr uint64_t last = 60;  // the number of rounds
constexpr const char* data_file = "samples.csv";
const std::vector<std::string> tasks = {"/job:worker/replica:0/task:0", "/job:worker/replica:0/task:1",
                                        "/job:worker/replica:0/task:2", "/job:ps/replica:0/task:0",
                                        "/job:ps/replica:0/task:1",     "/job:client/replica:0/task:0"};
constexpr size_t client = 5;

bool has_servers(const std::string& replication) {
  return replication.find("allreduce") == std::string::npos &&
         replication.find("local_sgd") == std::string::npos;
}

std::string run_file(const std::string& replication) {
  return R"toml(run = { name = "simulated", seed = 3 }
data = { format = "csv", train = ["samples.csv"], batch = 8 }
[model]
layers = [{ type = "dense", name = "logits", input = "image", units = 3 }]
[train]
loss = "softmax_cross_entropy"
optimizer = { type = "adam", lr = 0.05 }
max_steps = 60
replication = )toml" +
         replication + (has_servers(replication) ? "\nfault = { mirror = true }\n" : "\n");
}

std::string samples() {
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += std::to_string(i % 7) + ',' + std::to_string(i % 5) + ',' + std::to_string(i % 3) + '\n';
  return text;
}

/// What happened in a run.
struct Counts {
  int crashes = 0;
  int beginnings = 0;     ///< how often the variables were initialized
  int continuations = 0;  ///< how often a new trainer process went on from where the workers were
  int takeovers = 0;      ///< how often workers took over shards of a lost one
  int adoptions = 0;      ///< how often mirrors took the place of lost servers
};

/// A run and the cluster on which it trains. The process of the job "client" is its trainer.
class Run {
 public:
  Run(uint64_t seed, const Faults& faults, const std::vector<size_t>& mortal, const std::string& replication)
      : file_(run_file(replication)),
        cluster_(seed, tasks, [this](size_t machine, Runtime& runtime) { main(machine, runtime); }),
        faults_(cluster_, faults, mortal, [](size_t) {}) {
    for (size_t machine = 0; machine < cluster_.size(); ++machine) {
      auto file = value_or_throw(NewFile::create(cluster_.disk(machine), data_file));
      throw_if_failed(file.write(samples()));
      throw_if_failed(file.commit());
    }
  }

  /// Runs the training and returns its weights.
  std::vector<Tensor> run() {
    auto& simulation = cluster_.simulation();
    const bool ended = simulation.run_until([&] { return over_ && cluster_.clients_ended(); },
                                            simulation.now() + 24 * 3600ll * second);
    BOOST_TEST_REQUIRE(ended, "the training does not end");
    return weights_;
  }

  SimulatedCluster& cluster() { return cluster_; }
  Counts counts() const {
    Counts counts = counts_;
    counts.crashes = faults_.crashes();
    return counts;
  }

 private:
  /// What the program does in each process.
  void main(size_t machine, Runtime& runtime) {
    if (machine == client) return train(runtime);
    const auto trainer = services::start_trainer(runtime);
    cluster_.await_crash(machine);
  }

  /// Goes on from where the workers are, if another process was the trainer before. After a failure the run begins anew, as if
  /// there were no checkpoint yet.
  void train(Runtime& runtime) {
    const std::vector<std::string> jobs = {"/job:worker", "/job:ps"};
    (void)runtime.services().addresses(services::trainer_role, jobs, std::chrono::seconds(5));
    bool may_go_on = run_ != 0;
    while (!over_)
      if (const Status failure = attempt(runtime, std::exchange(may_go_on, false)); !failure.ok()) {
        check(failure);
        cluster_.sleep(client, 100 * millisecond);
      }
  }

  /// Fails unless a peer was lost, or something that was running when a peer was lost, or a worker that has not noticed yet that
  /// the trainer before was lost.
  static void check(const Status& failure) {
    const Code code = failure.code();
    BOOST_TEST_REQUIRE((code == Code::Unavailable || code == Code::Aborted ||
                        code == Code::DeadlineExceeded || code == Code::FailedPrecondition),
                       failure.message());
  }

  Status attempt(Runtime& runtime, bool may_go_on) try {
    config::RunConfig config =
        value_or_throw(config::parse_run_config(file_, "run.toml", "", {}, runtime.ops()));
    config.cluster.tasks = {{"worker", 3}};
    if (!train::is_among_peers(config)) {
      config.cluster.tasks.emplace("ps", 2);
      config.cluster.owners = train::first_owners(config);
    }
    const auto live = may_go_on ? train::find_training(runtime, config, run_) : std::nullopt;
    if (live)
      config.cluster.owners = live->owners;
    else
      begin(runtime, config);
    const uint64_t attempt = train::latest_attempt(runtime, config);
    train::ClusterRounds rounds(runtime, config,
                                {live ? live->done() : 0, run_, attempt, live ? &*live : nullptr},
                                DType::Float, {[this](const std::string& line) { note(line); }, {}});
    if (live) ++counts_.continuations;
    for (uint64_t done = live ? live->done() : 0; done < last;) done += rounds.advance(done, last).size();
    with_session(runtime, config, [this](Session& session, const train::TrainingGraph& model) {
      weights_ = session.run(model.variables);
    });
    over_ = true;
    faults_.end();
    rounds.finish();
    return {};
  } catch (const Error& error) {
    return error.status();
  }

  void begin(Runtime& runtime, const config::RunConfig& config) {
    run_ = cluster_.random_id();
    train::claim_variables(runtime, config);
    with_session(runtime, config, [](Session& session, const train::TrainingGraph& model) {
      session.run({}, {model.initializer}, {.training = true});
    });
    ++counts_.beginnings;
  }

  void note(const std::string& line) {
    if (line.find("taken over by") != std::string::npos) ++counts_.takeovers;
    if (line.find("; the variables of") != std::string::npos) ++counts_.adoptions;
  }

  static void with_session(Runtime& runtime, const config::RunConfig& config, const auto& use) {
    const auto data = value_or_throw(train::load_data(runtime.services().disk(), config));
    Graph graph(runtime.ops());
    const auto model = value_or_throw(
        train::build_training_graph(config, data.train->columns(), graph, runtime.services().task()));
    Session session = runtime.session(graph, {.seed = config.run.seed,
                                              .start_timeout = std::chrono::seconds(60),
                                              .tasks = train::owners_of_variables(config)});
    use(session, model);
  }

  const std::string file_;
  uint64_t run_ = 0;  ///< what the trainer keeps in the folder of the run; 0: it has not begun
  std::vector<Tensor> weights_;
  bool over_ = false;
  Counts counts_;
  SimulatedCluster cluster_;  // its processes use the members above
  test::SimulatedFaults faults_;
};

const std::vector<size_t> all = {0, 1, 2, 3, 4, 5};

bool are_identical(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::ranges::equal(a, b, [](const Tensor& x, const Tensor& y) { return identical(x, y); });
}

/// Runs one training for each seed, and checks its weights with `check`.
Counts run_all(uint64_t seeds, uint64_t rarity, const std::string& mode, const auto& check) {
  Counts sum;
  for (const uint64_t seed : test::seeds(seeds)) {
    BOOST_TEST_CONTEXT("seed " << seed << ", rarity " << rarity << ", " << mode) {
      Run run(seed, {{.duplicate = 0.05, .loss = 0.002}, true, true, rarity}, all, mode);
      check(run.run());
      const Counts counts = run.counts();
      sum.crashes += counts.crashes;
      sum.beginnings += counts.beginnings;
      sum.continuations += counts.continuations;
      sum.takeovers += counts.takeovers;
      sum.adoptions += counts.adoptions;
    }
  }
  BOOST_TEST_MESSAGE(sum.crashes << " crashes, " << sum.beginnings << " beginnings, " << sum.continuations
                                 << " continuations, " << sum.takeovers << " takeovers, " << sum.adoptions
                                 << " adoptions");
  return sum;
}

BOOST_AUTO_TEST_SUITE(simulated_runs)

BOOST_AUTO_TEST_CASE(synchronous_runs_end_with_the_weights_of_an_undisturbed_one) {
  const std::string mode = "{ mode = \"sync\", shards = 3 }";
  const auto expected = Run(1, {}, {}, mode).run();
  for (const uint64_t rarity : {2, 10, 50}) {
    const Counts counts = run_all(15, rarity, mode, [&](const std::vector<Tensor>& weights) {
      BOOST_TEST_REQUIRE(are_identical(weights, expected));
    });
    BOOST_TEST(counts.crashes > 50);
    BOOST_TEST(counts.continuations > 2);
    BOOST_TEST(counts.takeovers > 10);
    BOOST_TEST(counts.adoptions > 5);
  }
}

BOOST_AUTO_TEST_CASE(runs_without_servers_end_with_the_weights_of_an_undisturbed_one) {
  for (const std::string mode :
       {"{ mode = \"allreduce\", shards = 3 }", "{ mode = \"local_sgd\", shards = 3, average_every = 4 }"}) {
    const auto expected = Run(1, {}, {}, mode).run();
    run_all(20, 10, mode, [&](const std::vector<Tensor>& weights) {
      BOOST_TEST_REQUIRE(are_identical(weights, expected));
    });
  }
}

BOOST_AUTO_TEST_CASE(runs_of_other_modes_end_with_numbers) {
  for (const std::string mode : {"{ mode = \"sync\", shards = 3, backup_workers = 1 }",
                                 "{ mode = \"async\" }", "{ mode = \"ssp\", staleness = 1 }"})
    run_all(10, 10, mode, [&](const std::vector<Tensor>& weights) {
      for (const Tensor& weight : weights)
        for (const float element : weight.as<float>()) BOOST_TEST_REQUIRE(std::isfinite(element));
    });
}

BOOST_AUTO_TEST_CASE(a_seed_replays_identically) {
  const Faults faults{{.duplicate = 0.05, .loss = 0.002}, true, true, 10};
  for (const uint64_t seed : {3, 4})
    BOOST_TEST(test::replays<Run>(seed, faults, all, std::string("{ mode = \"sync\", shards = 3 }")));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::simulated_runs_test
