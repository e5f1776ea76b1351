// Trains a run file on a simulated cluster whose processors take time: actors, messages, graphs and kernels are those of `troupe
// train`; the time is that which the work of each process takes this processor, and given costs of frames.
// bench/paper/simulate.py measures the costs and compares the results with real runs.
//   simulated_training FILE|- WORKERS ROUNDS [COST=VALUE...] [KEY=VALUE...]
// A cost is work, frame, byte, wire, cores or together (tests/support/simulation/simulated_processors.h), delay, the nanoseconds
// that a frame is on its way, or servers, the number of parameter servers (1); a key is one of the run file. Mode "allreduce" has
// no servers. Without a file (-) the rounds are null steps of bench/cluster_bench.cpp. Prints the seconds, frames and bytes of a
// round. One thread.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>

#include "apps/train/data/train_data.h"
#include "apps/train/graphs/peer_graph.h"
#include "apps/train/graphs/replica_graph.h"
#include "apps/train/rounds/rounds.h"
#include "graph/build/variables.h"
#include "kernels/constructors.h"
#include "messages/env/real_disk.h"
#include "tests/support/ops/op_library.h"
#include "tests/support/samples.h"
#include "tests/support/simulation/simulated_client.h"
#include "tests/support/simulation/simulated_cluster.h"

namespace troupe {
namespace {

constexpr int64_t second = 1'000'000'000, heartbeat = 60 * second;
constexpr int64_t warm_rounds = 3;

struct Arguments {
  std::string file;
  int64_t workers = 1, rounds = 10;
  std::map<std::string, double> costs = {{"work", 1},  {"frame", 0},    {"byte", 0},  {"wire", 0},
                                         {"cores", 1}, {"together", 0}, {"delay", 0}, {"servers", 1}};
  std::vector<std::string> set;

  Arguments(int count, char** texts)
      : file(texts[1]), workers(std::atoi(texts[2])), rounds(std::atoi(texts[3])) {
    for (int i = 4; i < count; ++i) {
      const std::string text = texts[i];
      const size_t equals = std::min(text.find('='), text.size());
      if (const auto cost = costs.find(text.substr(0, equals)); cost != costs.end())
        cost->second = std::atof(text.c_str() + equals + 1);
      else
        set.push_back(text);
    }
  }
  test::Costs processors() const {
    return {.work = costs.at("work"),
            .frame = static_cast<int64_t>(costs.at("frame")),
            .byte = costs.at("byte"),
            .wire = costs.at("wire"),
            .cores = static_cast<size_t>(costs.at("cores")),
            .together = costs.at("together") != 0};
  }
};

/// What a worker does: its graph, and the steps of its rounds.
class Work {
 public:
  virtual ~Work() = default;
  virtual void begin(Session& session) = 0;
  virtual void run(uint64_t round) = 0;
};

/// The null step of cluster_bench: reads a scalar from the server, adds to it and assigns the sum.
class NullWork final : public Work {
 public:
  NullWork(Graph& graph, int64_t worker) {
    const Scope g(graph), at_ps = g.with_device("/job:ps");
    const Output v = at_ps.with_name("v" + std::to_string(worker))
                         .add_one("VariableV2", {}, {{"dtype", f32}, {"shape", PartialShape::scalar()}});
    first_ = assign(at_ps, v, at_ps.constant(Tensor::scalar(0.0f)));
    step_of_ = at_ps.group(
        {assign(at_ps, v, add(g.with_device("/job:worker/task:" + std::to_string(worker)), v, 1.0))});
  }
  void begin(Session& session) override {
    session.run({first_});
    step_ = session.prepare({}, {step_of_});
  }
  void run(uint64_t) override { step_->run({}); }

 private:
  Output first_, step_of_;
  std::optional<PreparedStep> step_;
};

/// The samples of a worker, which are the same in each round.
std::vector<Tensor> feeds_of(const train::TowerInputs& inputs, const data::Dataset& part) {
  auto feeds = train::feeds_of_shard(inputs, part, part);
  feeds.push_back(Tensor::scalar(part.samples()));
  return feeds;
}

void append(std::vector<Output>& feeds, const train::TowerInputs& inputs) {
  for (const auto& [name, placeholder] : inputs.columns) feeds.push_back(placeholder);
  feeds.push_back(inputs.samples);
}

/// A worker of the modes with parameter servers, as apps/train/rounds/replica.h.
class ReplicaWork final : public Work {
 public:
  ReplicaWork(const config::RunConfig& config, const data::Dataset& part, int64_t worker, Graph& graph)
      : parts_(value_or_throw(train::build_replica_graph(config, part, worker, 0, graph))),
        inputs_(feeds_of(parts_.inputs, part)), shard_(worker) {}

  void begin(Session& session) override {
    if (parts_.sync && shard_ == 0)
      session.run({{parts_.sync->rounds, Tensor::scalar<int64_t>(0)}}, {parts_.sync->set_rounds});
    if (parts_.async && shard_ == 0) session.run({parts_.async->reset});
    std::vector<Output> feeds = parts_.values, fetches = parts_.next;
    append(feeds, parts_.inputs);
    fetches.push_back(parts_.sync ? parts_.sync->batch_loss.loss : parts_.loss);
    fetches.push_back(parts_.update);
    step_ = session.prepare(feeds, fetches);
    values_ = session.run(parts_.current);
  }
  void run(uint64_t round) override {
    std::vector<Tensor> feeds = std::move(values_);
    feeds.insert(feeds.end(), inputs_.begin(), inputs_.end());
    values_ = step_->run(feeds, {.training = true, .round = round, .shard = shard_});
    values_.pop_back();
  }

 private:
  const train::ReplicaGraph parts_;
  const std::vector<Tensor> inputs_;
  const int64_t shard_;
  std::optional<PreparedStep> step_;
  std::vector<Tensor> values_;
};

/// A worker of mode "allreduce", as apps/train/rounds/peer_replica.h.
class PeerWork final : public Work {
 public:
  PeerWork(const config::RunConfig& config, const data::Dataset& part, int64_t worker, Graph& graph)
      : parts_(value_or_throw(train::build_allreduce_graph(config, part, worker, "simulated", graph))),
        inputs_(feeds_of(parts_.inputs.at(0), part)) {}

  void begin(Session& session) override {
    std::vector<Output> fetches = parts_.current;
    if (parts_.begin) fetches.push_back(*parts_.begin);
    values_ = session.run(fetches);
    std::vector<Output> feeds = parts_.values;
    append(feeds, parts_.inputs.at(0));
    fetches = parts_.next;
    fetches.push_back(parts_.loss);
    fetches.push_back(parts_.update);
    step_ = session.prepare(feeds, fetches);
  }
  void run(uint64_t round) override {
    std::vector<Tensor> feeds = std::move(values_);
    feeds.insert(feeds.end(), inputs_.begin(), inputs_.end());
    values_ = step_->run(feeds, {.training = true, .round = round});
    values_.pop_back();
  }

 private:
  const train::PeerGraph parts_;
  const std::vector<Tensor> inputs_;
  std::optional<PreparedStep> step_;
  std::vector<Tensor> values_;
};

class Experiment {
 public:
  explicit Experiment(const Arguments& arguments)
      : arguments_(arguments), workers_(static_cast<size_t>(arguments.workers)),
        peers_(std::ranges::any_of(
            arguments.set, [](const auto& set) { return set.find("allreduce") != std::string::npos; })),
        cluster_(1, tasks(), heartbeat, [this](size_t one, size_t) { return peers_ || one >= workers_; }),
        processors_(arguments.processors()), done_(workers_) {
    const auto delay = static_cast<int64_t>(arguments.costs.at("delay"));
    cluster_.network().set_faults({.min_delay = delay, .max_delay = delay});
  }

  void run() {
    auto& simulation = cluster_.simulation();
    simulation.run_until([&] { return cluster_.complete(); }, 3600 * second);
    make_work();
    simulation.set_processors(&processors_);
    for (size_t worker = 0; worker < workers_; ++worker)
      cluster_.start_client(worker, [this, worker] { work(worker); });
    await([this] { return std::ranges::min(done_) >= warm_rounds; });
    const int64_t begin = simulation.now(), warm = steps();
    const auto before = cluster_.network().counts();
    await([&] { return steps() >= warm + arguments_.rounds * arguments_.workers; });
    const auto counts = cluster_.network().counts();
    const double rounds = static_cast<double>(steps() - warm) / static_cast<double>(workers_);
    std::printf("%.9f %.1f %.0f\n", static_cast<double>(simulation.now() - begin) / second / rounds,
                static_cast<double>(counts.frames - before.frames) / rounds,
                static_cast<double>(counts.bytes - before.bytes) / rounds);
    simulation.set_processors(nullptr);
  }

 private:
  int64_t servers() const { return static_cast<int64_t>(arguments_.costs.at("servers")); }
  std::vector<std::string> tasks() const {
    std::vector<std::string> all;
    for (size_t i = 0; i < workers_; ++i) all.push_back("/job:worker/replica:0/task:" + std::to_string(i));
    for (int64_t i = 0; !peers_ && i < servers(); ++i)
      all.push_back("/job:ps/replica:0/task:" + std::to_string(i));
    return all;
  }

  /// Returns how many rounds all workers have done together.
  int64_t steps() const { return std::accumulate(done_.begin(), done_.end(), int64_t{0}); }

  /// Lets time pass until a condition holds. Throws what a worker has thrown.
  void await(const std::function<bool()>& condition) {
    if (!cluster_.simulation().run_until([&] { return cluster_.clients_ended() || condition(); },
                                         cluster_.simulation().now() + 3600 * second))
      throw Error(deadline_exceeded("the rounds do not end"));
  }

  config::RunConfig config(bool alone) const {
    auto set = arguments_.set;
    if (alone) set.push_back("train.replication={mode='sync',shards=1}");
    RealDisk disk;
    auto config =
        value_or_throw(config::load_run_config(disk, arguments_.file, set, test::op_library()->ops));
    config.cluster.tasks = {{"worker", arguments_.workers}};
    if (!peers_) config.cluster.tasks["ps"] = servers();
    return config;
  }

  /// Initialises the variables, and builds the graphs of the workers.
  void make_work() {
    const auto ops = test::op_library()->ops;
    for (size_t i = 0; i < workers_; ++i) graphs_.push_back(std::make_unique<Graph>(ops));
    if (arguments_.file == "-") {
      for (size_t i = 0; i < workers_; ++i)
        work_.push_back(std::make_unique<NullWork>(*graphs_[i], static_cast<int64_t>(i)));
      return;
    }
    const auto config = this->config(false), alone = this->config(true);
    RealDisk disk;
    const auto samples = test::all_samples(*value_or_throw(train::load_data(disk, config)).train);
    const auto part = samples.slice(0, config.batch / static_cast<int64_t>(workers_));
    Graph whole(ops);
    const auto model = value_or_throw(train::build_training_graph(alone, part, whole));
    Session first = cluster_.session(0, whole);
    first.run({}, {model.initializer}, {.training = true});
    for (size_t i = 0; i < workers_; ++i) {
      const auto worker = static_cast<int64_t>(i);
      if (peers_)
        work_.push_back(std::make_unique<PeerWork>(config, part, worker, *graphs_[i]));
      else
        work_.push_back(std::make_unique<ReplicaWork>(config, part, worker, *graphs_[i]));
    }
  }

  void work(size_t worker) {
    std::vector<size_t> machines{worker};
    for (size_t machine = workers_; machine < cluster_.size(); ++machine) machines.push_back(machine);
    Session session = cluster_.session(worker, *graphs_[worker], machines);
    work_[worker]->begin(session);
    ++begun_;
    test::SimulatedClient::current()->wait([&] { return begun_ == workers_; }, 0);
    for (int64_t round = 1;; ++round) {  // until the cluster goes
      work_[worker]->run(static_cast<uint64_t>(round));
      done_[worker] = round;
    }
  }

  const Arguments& arguments_;
  const size_t workers_;
  const bool peers_;
  test::SimulatedCluster cluster_;
  test::SimulatedProcessors processors_;
  std::vector<int64_t> done_;  ///< by worker: how many rounds
  std::vector<std::unique_ptr<Graph>> graphs_;
  std::vector<std::unique_ptr<Work>> work_;
  size_t begun_ = 0;
};

}  // namespace
}  // namespace troupe

int main(int count, char** texts) try {
  if (count < 4)
    return std::fprintf(stderr, "simulated_training FILE|- WORKERS ROUNDS [COST=VALUE...] [KEY=VALUE...]\n"),
           2;
  const troupe::Arguments arguments(count, texts);
  troupe::Experiment(arguments).run();
  return 0;
} catch (const troupe::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
