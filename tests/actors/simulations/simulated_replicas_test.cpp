// Between-graph training on simulated clusters with every kind of failure. Every worker has its own client, session and master over
// itself and the parameter server. In round r worker w adds 1 to the element (w, r) of a matrix. An element whose round was
// acknowledged is 1 at the end, and no element is ever 2 (robustness.md, I2 and I3).
#include <boost/test/unit_test.hpp>

#include <set>

#include "graph/build/scope.h"
#include "messages/schemas/rounds.capnp.h"
#include "messages/wire/wire.h"
#include "tests/support/seeds.h"
#include "tests/support/simulation/simulated_cluster.h"
#include "tests/support/simulation/simulated_faults.h"
#include "tests/support/whole_checkpoint.h"

namespace troupe::simulated_replicas_test {
namespace {

using test::Faults;
using test::SimulatedCluster;

constexpr int64_t millisecond = 1'000'000, second = 1000 * millisecond;
constexpr size_t chief = 0, ps = 3;  // machines 0, 1 and 2 are the workers
constexpr int64_t workers = 3, rounds = 8, checkpoint_every = 3;
constexpr const char* checkpoints = "checkpoints";
const std::vector<std::string> tasks = {"/job:worker/replica:0/task:0", "/job:worker/replica:0/task:1",
                                        "/job:worker/replica:0/task:2", "/job:ps/replica:0/task:0"};
const PartialShape matrix_shape{workers, rounds};

Tensor one_at(int64_t worker, int64_t round) {
  std::vector<float> values(workers * rounds);
  values[static_cast<size_t>(worker * rounds + round - 1)] = 1;
  return Tensor::of<float>(Shape{workers, rounds}, values);
}

// ps: matrix, round;   worker: SyncReplicasApply(round, matrix -= -workers * mean of all ones fed) or AssignAdd(matrix, one fed)
struct Model {
  Model(const Scope& g, int64_t worker) {
    const Scope at_ps = g.with_device("/job:ps");
    matrix = at_ps.with_name("matrix").add_one("VariableV2", {},
                                               {{"dtype", DType::Float}, {"shape", matrix_shape}});
    round = at_ps.with_name("round").add_one("VariableV2", {},
                                             {{"dtype", DType::Int64}, {"shape", PartialShape{}}});
    initialized = at_ps.add_one("IsVariableInitialized", {round});
    one = g.add_one("Placeholder", {}, {{"dtype", DType::Float}, {"shape", matrix_shape}});
    restored_matrix = g.add_one("Placeholder", {}, {{"dtype", DType::Float}, {"shape", matrix_shape}});
    restored_round = g.add_one("Placeholder", {}, {{"dtype", DType::Int64}, {"shape", PartialShape{}}});
    restore_matrix = {at_ps.add("Assign", {matrix, restored_matrix}), Output::control};
    restore_round = {at_ps.add("Assign", {round, restored_round}), Output::control};
    add = {at_ps.add("AssignAdd", {matrix, one}), Output::control};
    push = {g.add("SyncReplicasApply",
                  {round, matrix, g.constant(Tensor::scalar(static_cast<float>(-workers))), one,
                   g.constant(Tensor::scalar<int64_t>(1))},
                  {{"N", int64_t{1}},
                   {"rule", std::string("ApplyGradientDescent")},
                   {"gradient", std::string("delta")},
                   {"shard", worker},
                   {"shards", workers}}),
            Output::control};
  }

  Output matrix, round, initialized, one, restored_matrix, restored_round;
  Output restore_matrix, restore_round, add, push;
};

/// State that the clients of all workers share outside the simulated nodes.
class Training {
 public:
  Training(uint64_t seed, const Faults& faults, std::vector<size_t> mortal)
      : cluster_(seed, tasks),
        faults_(cluster_, faults, std::move(mortal), [this](size_t machine) { start(machine); }) {
    for (size_t worker = 0; worker < ps; ++worker) start(worker);
  }
  virtual ~Training() = default;

  /// Runs the training and returns the matrix at the end.
  Tensor run() {
    auto& simulation = cluster_.simulation();
    const bool ended = simulation.run_until([&] { return over_ && cluster_.clients_ended(); },
                                            simulation.now() + 24 * 3600ll * second);
    BOOST_TEST_REQUIRE(ended, "the training does not end");
    return matrix_;
  }

  SimulatedCluster& cluster() { return cluster_; }
  int failures() const { return failures_; }
  int crashes() const { return faults_.crashes(); }
  bool acknowledged(int64_t worker, int64_t round) const { return acknowledged_.contains({worker, round}); }

 protected:
  /// Runs a worker with its own session until all rounds are done or something fails. `next` is the next round that its process has
  /// to make; 0 at first.
  virtual void train(Session& session, const Model& model, int64_t worker, int64_t& next) = 0;

  void acknowledge(int64_t worker, int64_t round) { acknowledged_.emplace(worker, round); }
  bool over() const { return over_; }
  void sleep(size_t machine, int64_t time) { cluster_.sleep(machine, time); }
  void finish(const Tensor& matrix) {
    matrix_ = matrix;
    over_ = true;
  }
  void end_faults() { faults_.end(); }

 private:
  void start(size_t machine) {
    if (machine != ps) cluster_.start_client(machine, [this, machine] { work(machine); });
  }

  void work(size_t machine) {
    int64_t next = 0;
    while (!over_) try {
        sleep(machine, 50 * millisecond);
        if (!cluster_.linked(machine, ps) || !cluster_.linked(ps, machine)) continue;
        Graph graph(cluster_.node(machine).library->ops);
        const Model model(Scope(graph), static_cast<int64_t>(machine));
        Session session = cluster_.session(machine, graph, {machine, ps});
        train(session, model, static_cast<int64_t>(machine), next);
      } catch (const Error& error) {
        // The only allowed failures are a lost peer, and a step or round that was running when a peer was lost.
        const Code code = error.status().code();
        BOOST_TEST_REQUIRE((code == Code::Unavailable || code == Code::Aborted), error.status().message());
        ++failures_;
      }
  }

  SimulatedCluster cluster_;
  test::SimulatedFaults faults_;
  std::set<std::pair<int64_t, int64_t>> acknowledged_;
  Tensor matrix_;
  bool over_ = false;
  int failures_ = 0;
};

/// All workers make each round together. The chief saves checkpoints, and restores the variables that the parameter server has
/// lost.
class SyncTraining final : public Training {
 public:
  using Training::Training;

 private:
  void train(Session& session, const Model& model, int64_t worker, int64_t& next) override {
    if (!session.run({model.initialized})[0].as<bool>()[0]) {
      if (worker == chief) restore(session, model);
      next = 0;
      return;
    }
    while (!over()) {
      if (next == 0) next = session.run({model.round})[0].as<int64_t>()[0] + 1;
      if (next <= rounds) {
        push(session, model, worker, next);
      } else if (worker == chief) {
        finish(session.run({model.matrix})[0]);
      } else {
        sleep(static_cast<size_t>(worker), 200 * millisecond);
        next = 0;
      }
    }
  }

  /// A push without an answer is repeated unchanged. A push that is refused because the other workers are at another round is not.
  void push(Session& session, const Model& model, int64_t worker, int64_t& next) {
    try {
      session.run(
          {{model.one, one_at(worker, next)}}, {model.push},
          {.timeout = std::chrono::seconds(60), .training = true, .round = static_cast<uint64_t>(next)});
    } catch (const Error& error) {
      if (error.status().code() == Code::Aborted) next = 0;
      throw;
    }
    acknowledge(worker, next);
    if (worker == chief && next == rounds) end_faults();
    if (worker == chief && next % checkpoint_every == 0) save(session, model);
    ++next;
  }

  void save(Session& session, const Model& model) {
    const auto values = session.run({model.matrix, model.round});
    const auto round = static_cast<uint64_t>(values[1].as<int64_t>()[0]);
    const test::WholeCheckpoint checkpoint{round, {}, {{"matrix", values[0], round}}};
    throw_if_failed(test::save(cluster().disk(chief), checkpoints, checkpoint, 2));
  }

  void restore(Session& session, const Model& model) {
    std::vector<std::string> skipped;
    const auto saved = test::load_newest(cluster().disk(chief), checkpoints, skipped);
    const Tensor zeros = Tensor::of<float>(Shape{workers, rounds}, std::vector<float>(workers * rounds));
    session.run({{model.restored_matrix, saved ? saved->tensors[0].value : zeros}}, {model.restore_matrix});
    // The round is set last, because it shows that all variables are set.
    const auto round = static_cast<int64_t>(saved ? saved->round : 0);
    session.run({{model.restored_round, Tensor::scalar(round)}}, {model.restore_round});
  }
};

/// Each worker works independently, and never repeats a round that may have been applied.
class AsyncTraining final : public Training {
 public:
  using Training::Training;

 private:
  void train(Session& session, const Model& model, int64_t worker, int64_t& /*next*/) override {
    if (!session.run({model.initialized})[0].as<bool>()[0]) {
      if (worker == chief) initialize(session, model);
      return;
    }
    while (next_[worker] < rounds) {
      const int64_t round = ++next_[worker];
      session.run({{model.one, one_at(worker, round)}}, {model.add}, {.timeout = std::chrono::seconds(60)});
      acknowledge(worker, round);
    }
    while (!over()) {
      if (worker == chief && std::ranges::all_of(next_, [](int64_t next) { return next == rounds; })) {
        end_faults();
        // Waits until messages of the failed step have either arrived or been lost.
        sleep(chief, 10 * second);
        finish(session.run({model.matrix})[0]);
      }
      sleep(static_cast<size_t>(worker), 200 * millisecond);
    }
  }

  static void initialize(Session& session, const Model& model) {
    const Tensor zeros = Tensor::of<float>(Shape{workers, rounds}, std::vector<float>(workers * rounds));
    session.run({{model.restored_matrix, zeros}}, {model.restore_matrix});
    session.run({{model.restored_round, Tensor::scalar<int64_t>(0)}}, {model.restore_round});
  }

  std::array<int64_t, workers> next_{};  ///< survives restarts, like a file on the worker's disk
};

// ps: two matrices, each with a round;   worker: both pushes of a training in which two of the three shards count
struct BackupModel {
  BackupModel(const Scope& g, int64_t worker, uint64_t training) {
    const Scope at_ps = g.with_device("/job:ps");
    const auto variable = [&](const std::string& name, DType dtype, const PartialShape& shape) {
      return at_ps.with_name(name).add_one("VariableV2", {}, {{"dtype", dtype}, {"shape", shape}});
    };
    one = g.add_one("Placeholder", {}, {{"dtype", DType::Float}, {"shape", matrix_shape}});
    for (const std::string name : {"first", "second"}) {
      values.push_back(variable(name, DType::Float, matrix_shape));
      const Output round = variable(name + "/round", DType::Int64, {});
      rounds.push_back(round);
      pushes.push_back({g.add("SyncReplicasApply",
                              {round, values.back(), g.constant(Tensor::scalar(-2.0f)), one,
                               g.constant(Tensor::scalar<int64_t>(1))},
                              {{"N", int64_t{1}},
                               {"rule", std::string("ApplyGradientDescent")},
                               {"gradient", std::string("delta")},
                               {"shard", worker},
                               {"shards", workers},
                               {"training", static_cast<int64_t>(training)}}),
                        Output::control});
    }
    initialized = at_ps.add_one("IsVariableInitialized", {rounds.back()});
    for (const auto& state : {values, rounds})
      for (const Output& target : state) {
        restored.push_back(
            g.add_one("Placeholder", {}, {{"dtype", g.dtype(target)}, {"shape", g.shape(target)}}));
        restore.push_back({at_ps.add("Assign", {target, restored.back()}), Output::control});
      }
  }

  std::vector<Output> values, rounds, pushes, restored, restore;
  Output one, initialized;
};

/// In each round the first two of the three shards count, the same two for both variables. Workers sleep at random. The chief
/// begins each training, saves checkpoints, and restores the variables when the parameter server has lost them or has applied a
/// round to only one of them.
class BackupTraining {
 public:
  BackupTraining(uint64_t seed, const Faults& faults, std::vector<size_t> mortal)
      : cluster_(seed, tasks),
        faults_(cluster_, faults, std::move(mortal), [this](size_t machine) { start(machine); }) {
    for (size_t worker = 0; worker < ps; ++worker) start(worker);
  }

  /// Returns both matrices at the end.
  std::vector<Tensor> run() {
    auto& simulation = cluster_.simulation();
    const bool ended = simulation.run_until([&] { return !result_.empty() && cluster_.clients_ended(); },
                                            simulation.now() + 24 * 3600ll * second);
    BOOST_TEST_REQUIRE(ended, "the training does not end");
    return result_;
  }
  SimulatedCluster& cluster() { return cluster_; }
  int failures() const { return failures_; }

 private:
  void start(size_t machine) {
    if (machine != ps) cluster_.start_client(machine, [this, machine] { work(machine); });
  }

  void work(size_t machine) {
    const auto worker = static_cast<int64_t>(machine);
    uint64_t seen = 0;  // the training in which this process has failed
    while (result_.empty()) try {
        cluster_.sleep(machine, 50 * millisecond);
        if (!cluster_.linked(machine, ps) || !cluster_.linked(ps, machine)) continue;
        if (machine == chief && (training_ == 0 || training_ == seen)) begin();
        if (training_ == seen) continue;
        const uint64_t training = training_;
        seen = training;
        Graph graph(cluster_.node(machine).library->ops);
        const BackupModel model(Scope(graph), worker, training);
        Session session = cluster_.session(machine, graph, {machine, ps});
        train(session, model, worker);
      } catch (const Error& error) {
        // The parameter server may have lost its variables, which the chief restores when it begins the next training.
        const Code code = error.status().code();
        BOOST_TEST_REQUIRE(
            (code == Code::Unavailable || code == Code::Aborted || code == Code::FailedPrecondition),
            error.status().message());
        ++failures_;
      }
  }

  void train(Session& session, const BackupModel& model, int64_t worker) {
    const auto machine = static_cast<size_t>(worker);
    int64_t next = std::ranges::min(rounds_of(session, model)) + 1;
    for (; next <= rounds && result_.empty(); ++next) {
      cluster_.sleep(machine, static_cast<int64_t>(cluster_.simulation().draw(20)) * millisecond);
      session.run(
          {{model.one, one_at(worker, next)}}, model.pushes,
          {.timeout = std::chrono::seconds(60), .training = true, .round = static_cast<uint64_t>(next)});
      if (machine == chief && next % checkpoint_every == 0) save(session, model);
    }
    if (machine != chief) return;
    faults_.end();
    result_ = session.run(model.values);
  }

  static std::vector<int64_t> rounds_of(Session& session, const BackupModel& model) {
    std::vector<int64_t> applied;
    for (const Tensor& round : session.run(model.rounds)) applied.push_back(round.as<int64_t>()[0]);
    return applied;
  }

  /// Begins a training after restoring the variables if they need it.
  void begin() {
    const uint64_t training = cluster_.random_id();
    Graph graph(cluster_.node(chief).library->ops);
    const BackupModel model(Scope(graph), 0, training);
    Session session = cluster_.session(chief, graph, {chief, ps});
    if (!session.run({model.initialized})[0].as<bool>()[0]) restore(session, model);
    auto applied = rounds_of(session, model);
    if (applied[0] != applied[1]) {
      restore(session, model);
      applied = rounds_of(session, model);
    }
    Draft<wire::BeginRounds> draft;
    draft->setTraining(training);
    write(cluster_.workers({chief})[0].worker, draft->initClient());
    Address role = cluster_.workers({ps})[0].worker;
    role.key = role.task + "/device:CPU:0";
    role.role = "replicas";
    write(role, draft->initReplicas(1)[0]);
    draft->setShards(workers);
    draft->setRequired(2);
    draft->setBackups(true);
    draft->setPushes(2);
    draft->setApplied(static_cast<uint64_t>(applied[0]));
    role.role = "rounds";
    ActorNode& node = cluster_.node(chief);
    const auto coordinator = value_or_throw(node.directory.find(role));
    value_or_throw(node.engine.call(coordinator, draft.finish()));
    training_ = training;
  }

  /// Saves the variables unless a round is applied meanwhile.
  void save(Session& session, const BackupModel& model) {
    const auto before = rounds_of(session, model);
    const auto values = session.run(model.values);
    if (before != rounds_of(session, model) || before[0] != before[1]) return;
    const auto round = static_cast<uint64_t>(before[0]);
    const test::WholeCheckpoint checkpoint{
        round, {}, {{"first", values[0], round}, {"second", values[1], round}}};
    throw_if_failed(test::save(cluster_.disk(chief), checkpoints, checkpoint, 2));
  }

  void restore(Session& session, const BackupModel& model) {
    std::vector<std::string> skipped;
    const auto saved = test::load_newest(cluster_.disk(chief), checkpoints, skipped);
    const Tensor zeros = Tensor::of<float>(Shape{workers, rounds}, std::vector<float>(workers * rounds));
    const Tensor round = Tensor::scalar(static_cast<int64_t>(saved ? saved->round : 0));
    const Tensor state[] = {saved ? saved->tensors[0].value : zeros, saved ? saved->tensors[1].value : zeros,
                            round, round};
    for (size_t i = 0; i < 4; ++i) session.run({{model.restored[i], state[i]}}, {model.restore[i]});
  }

  SimulatedCluster cluster_;
  test::SimulatedFaults faults_;
  uint64_t training_ = 0;
  std::vector<Tensor> result_;
  int failures_ = 0;
};

const Faults everything{{.duplicate = 0.05, .loss = 0.002}, true, true};

BOOST_AUTO_TEST_SUITE(simulated_replicas)

BOOST_AUTO_TEST_CASE(synchronous_workers_add_every_one_once) {
  int failures = 0, crashes = 0;
  for (const uint64_t seed : test::seeds(500)) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      SyncTraining training(seed, everything, {0, 1, 2, 3});
      for (const float cell : training.run().as<float>()) BOOST_TEST_REQUIRE(cell == 1);
      failures += training.failures();
      crashes += training.crashes();
    }
  }
  BOOST_TEST_MESSAGE(failures << " failures, " << crashes << " crashes");
  BOOST_TEST(failures > 1000);
  BOOST_TEST(crashes > 1000);
}

BOOST_AUTO_TEST_CASE(with_a_backup_worker_the_same_two_ones_count_in_both_variables) {
  int failures = 0;
  std::array<int, workers> counted{};
  for (const uint64_t seed : test::seeds(300)) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      BackupTraining training(seed, everything, {0, 1, 2, 3});
      const auto matrices = training.run();
      BOOST_TEST_REQUIRE(identical(matrices[0], matrices[1]));
      for (int64_t round = 0; round < rounds; ++round) {
        float sum = 0;
        for (int64_t worker = 0; worker < workers; ++worker) {
          const float cell = matrices[0].as<float>()[static_cast<size_t>(worker * rounds + round)];
          BOOST_TEST_REQUIRE((cell == 0 || cell == 1), worker << " " << round << ": " << cell);
          sum += cell;
          counted[static_cast<size_t>(worker)] += cell == 1 ? 1 : 0;
        }
        BOOST_TEST_REQUIRE(sum == 2);
      }
      failures += training.failures();
    }
  }
  BOOST_TEST_MESSAGE(failures << " failures");
  BOOST_TEST(failures > 100);
  for (const int rounds_of_worker : counted) BOOST_TEST(rounds_of_worker > 100);
}

BOOST_AUTO_TEST_CASE(asynchronous_workers_add_no_one_twice_and_lose_none_that_was_acknowledged) {
  int failures = 0, unacknowledged = 0;
  for (const uint64_t seed : test::seeds(300)) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      AsyncTraining training(seed, everything, {0, 1, 2});
      const Tensor matrix = training.run();
      for (int64_t worker = 0; worker < workers; ++worker)
        for (int64_t round = 1; round <= rounds; ++round) {
          const float cell = matrix.as<float>()[static_cast<size_t>(worker * rounds + round - 1)];
          const bool acknowledged = training.acknowledged(worker, round);
          BOOST_TEST_REQUIRE((cell == 1 || (cell == 0 && !acknowledged)),
                             worker << " " << round << ": " << cell);
          unacknowledged += acknowledged ? 0 : 1;
        }
      failures += training.failures();
    }
  }
  BOOST_TEST_MESSAGE(failures << " failures, " << unacknowledged << " were not acknowledged");
  BOOST_TEST(failures > 100);
  BOOST_TEST(unacknowledged > 10);
}

BOOST_AUTO_TEST_CASE(a_seed_with_several_clients_replays_identically) {
  for (const uint64_t seed : {3, 4})
    BOOST_TEST(replays<SyncTraining>(seed, everything, std::vector<size_t>{0, 1, 2, 3}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::simulated_replicas_test
