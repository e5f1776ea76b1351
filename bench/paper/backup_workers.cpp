// Reproduces in kind the experiment with backup workers of OSDI 2016 (section 6.3, figure 8): 50 workers whose gradients count, and
// 0 to 5 backup workers, on a simulated cluster with the real actors. The time of a worker's step is drawn: about 2 seconds, and
// now and then four times as long. Prints for each number of backup workers the median time of a round, the median of the order
// statistic that it cannot be below (the 50th of the drawn times), their ratio, and the gain per machine. Time is virtual; one
// thread.
#include <algorithm>
#include <cstdio>
#include <map>
#include <random>

#include "graph/build/scope.h"
#include "messages/schemas/rounds.capnp.h"
#include "messages/wire/wire.h"
#include "tests/support/simulation/simulated_client.h"
#include "tests/support/simulation/simulated_cluster.h"

namespace troupe {
namespace {

constexpr int64_t millisecond = 1'000'000, second = 1000 * millisecond;
constexpr int64_t required = 50, rounds = 200;
constexpr uint64_t training = 1;

/// Receives RoundFixed, as the trainer of a worker does.
class Trainer final : public Role {
 public:
  explicit Trainer(uint64_t& fixed) {
    on<wire::RoundFixed>([&fixed](const auto& message, Reply) { fixed = message->getRound(); });
  }
};

class Experiment {
 public:
  explicit Experiment(int64_t workers) : workers_(workers), cluster_(7, tasks(workers)), random_(3) {}

  struct Medians {
    double round = 0, floor = 0;  ///< seconds
  };
  Medians run() {
    auto& simulation = cluster_.simulation();
    simulation.run_until([&] { return cluster_.complete(); }, 60 * second);
    graph_.emplace(cluster_.node(0).library->ops);
    build();
    for (size_t worker = 0; worker < static_cast<size_t>(workers_); ++worker)
      cluster_.start_client(worker, [this, worker] { work(worker); });
    simulation.run_until([&] { return cluster_.clients_ended(); }, simulation.now() + 24ll * 3600 * second);
    std::vector<double> took, floors;
    for (int64_t round = 1; round <= rounds; ++round) {
      auto& times = step_times_[round];
      std::ranges::sort(times);
      floors.push_back(static_cast<double>(times.at(required - 1)) / second);
      took.push_back(static_cast<double>(applied_[round] - applied_[round - 1]) / second);
    }
    return {median(took), median(floors)};
  }

 private:
  static std::vector<std::string> tasks(int64_t workers) {
    std::vector<std::string> all;
    for (int64_t i = 0; i < workers; ++i) all.push_back("/job:worker/replica:0/task:" + std::to_string(i));
    all.push_back("/job:ps/replica:0/task:0");
    return all;
  }
  static double median(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
  }

  void build() {
    const Scope g(*graph_), ps = g.with_device("/job:ps");
    const auto variable = [&](const std::string& name, const Tensor& initial) {
      const Output v = ps.with_name(name).add_one(
          "VariableV2", {}, {{"dtype", initial.dtype()}, {"shape", PartialShape(initial.shape())}});
      initialize_.push_back({ps.add("Assign", {v, g.constant(initial)}), Output::control});
      return v;
    };
    const Output v = variable("v", Tensor::scalar(0.0f)),
                 round = variable("round", Tensor::scalar<int64_t>(0));
    const Output one = g.constant(Tensor::scalar(1.0f)), samples = g.constant(Tensor::scalar<int64_t>(1));
    push_ = {g.add("SyncReplicasApply", {round, v, one, one, samples},
                   {{"N", int64_t{1}},
                    {"rule", std::string("ApplyGradientDescent")},
                    {"gradient", std::string("delta")},
                    {"shard", int64_t{-1}},
                    {"shards", workers_},
                    {"training", static_cast<int64_t>(training)}}),
             Output::control};
    awaited_ = {g.add("SyncReplicasAwait", {round}, {{"training", static_cast<int64_t>(training)}}),
                Output::control};
  }

  void begin(Session& session) {
    session.run(initialize_);
    const auto ps = static_cast<size_t>(workers_);
    Address role = cluster_.workers({ps})[0].worker;
    role.key = role.task + "/device:CPU:0";
    role.role = "rounds";
    ActorNode& node = cluster_.node(0);
    const ActorRef coordinator = value_or_throw(node.directory.find(role));
    Draft<wire::BeginRounds> draft;
    draft->setTraining(training);
    write(cluster_.workers({0})[0].worker, draft->initClient());
    role.role = "replicas";
    write(role, draft->initReplicas(1)[0]);
    draft->setShards(static_cast<uint32_t>(workers_));
    draft->setRequired(required);
    draft->setBackups(true);
    draft->setPushes(1);
    value_or_throw(node.engine.call(coordinator, draft.finish()));
    Draft<wire::SetTrainers> trainers;
    trainers->setTraining(training);
    auto list = trainers->initTrainers(static_cast<uint32_t>(workers_));
    fixed_.resize(static_cast<size_t>(workers_));
    for (uint32_t worker = 0; worker < static_cast<uint32_t>(workers_); ++worker) {
      Address trainer = cluster_.workers({worker})[0].worker;
      trainer.role = "trainer";
      ActorNode& there = cluster_.node(worker);
      there.directory.add(trainer, there.engine.spawn(std::make_unique<Trainer>(fixed_[worker])));
      write(trainer, list[worker].initActor());
      list[worker].initShards(1).set(0, worker);
    }
    node.engine.send(coordinator, trainers.finish());
    applied_[0] = cluster_.simulation().now();
    begun_ = true;
  }

  /// Draws the time of a step: 2 seconds, 10 % more or less, and four times as long in 2 % of the steps.
  int64_t draw() {
    const double time = std::uniform_real_distribution(1.8, 2.2)(random_);
    return static_cast<int64_t>(time * (std::bernoulli_distribution(0.02)(random_) ? 4 : 1) * second);
  }

  void work(size_t worker) {
    Session session = cluster_.session(worker, *graph_, {worker, static_cast<size_t>(workers_)});
    if (worker == 0) begin(session);
    const auto& simulation = cluster_.simulation();
    test::SimulatedClient::current()->wait([&] { return begun_; }, 0);
    for (uint64_t round = 1; round <= rounds; ++round) {
      const int64_t time = draw();
      step_times_[static_cast<int64_t>(round)].push_back(time);
      test::SimulatedClient::current()->wait([&] { return fixed_[worker] >= round; },
                                             simulation.now() + time);
      const bool late = fixed_[worker] >= round;
      session.run({late ? awaited_ : push_},
                  {.training = true, .round = round, .shard = static_cast<int64_t>(worker)});
      applied_.try_emplace(static_cast<int64_t>(round), simulation.now());
    }
  }

  const int64_t workers_;
  test::SimulatedCluster cluster_;
  std::mt19937_64 random_;
  std::optional<Graph> graph_;
  Output push_, awaited_;
  std::vector<Output> initialize_;
  std::vector<uint64_t> fixed_;  ///< by worker: the last round that went on without it
  bool begun_ = false;
  std::map<int64_t, std::vector<int64_t>> step_times_;  ///< by round, in nanoseconds
  std::map<int64_t, int64_t> applied_;                  ///< by round: when the first worker saw it applied
};

int main_of_experiment() {
  std::printf(
      "| backup workers | round, s | 50th of the steps, s | ratio | gain per machine "
      "|\n|---|---|---|---|---|\n");
  double without = 0;
  for (int64_t backups = 0; backups <= 5; ++backups) {
    const auto [round, floor] = Experiment(required + backups).run();
    if (backups == 0) without = round;
    const double gain = without / round * required / static_cast<double>(required + backups);
    std::printf("| %d | %.3f | %.3f | %.3f | %.3f |\n", static_cast<int>(backups), round, floor,
                round / floor, gain);
  }
  return 0;
}

}  // namespace
}  // namespace troupe

int main() { return troupe::main_of_experiment(); }
