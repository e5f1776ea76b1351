// Measures how many messages per second the simulation of a cluster handles: between actors of one host, between hosts (where
// messages are encoded, delayed and decoded), and in steps of a session over four nodes. The results limit the size of fault tests.
#include <benchmark/benchmark.h>

#include "graph/build/scope.h"
#include "messages/schemas/session.capnp.h"
#include "messages/wire/message_reader.h"
#include "tests/support/simulation/simulated_cluster.h"

namespace troupe {
namespace {

const std::vector<std::string> tasks = {"/job:chief/replica:0/task:0", "/job:ps/replica:0/task:0",
                                        "/job:worker/replica:0/task:0", "/job:worker/replica:0/task:1"};

/// Forwards each message.
class Station final : public Role {
 public:
  explicit Station(uint64_t& passed) {
    on<wire::CancelStep>([this, &passed](const Message<wire::CancelStep>& message, Reply) {
      ++passed;
      if (next) tell(next, message);
    });
  }
  ActorRef next;
};

/// Replies to each request.
class Answerer final : public Role {
 public:
  explicit Answerer(uint64_t& answered) {
    on<wire::CloseSession>([&answered](const auto&, Reply reply) {
      ++answered;
      reply(Draft<wire::SessionClosed>().finish());
    });
  }
};

void one_host(benchmark::State& state) {
  test::SimulatedCluster cluster(1, {tasks[0]});
  Engine& engine = cluster.node(0).engine;
  uint64_t passed = 0;
  std::vector<ActorRef> ring;
  Station* first = nullptr;
  for (int i = 0; i < 8; ++i) {
    auto station = std::make_unique<Station>(passed);
    if (!ring.empty()) station->next = ring.back();
    if (!first) first = station.get();
    ring.push_back(engine.spawn(std::move(station)));
  }
  first->next = ring.back();
  Draft<wire::CancelStep> draft;
  const auto message = draft.finish();
  for (int token = 0; token < 4; ++token) engine.send(ring[0], message);
  for (auto _ : state) {
    const uint64_t until = passed + 1000;
    cluster.simulation().run_until([&] { return passed >= until; });
  }
  state.SetItemsProcessed(static_cast<int64_t>(passed));
  first->next = {};
  cluster.simulation().run_ready();
}
BENCHMARK(one_host)->Repetitions(5)->ReportAggregatesOnly();

// A request and its reply count as two messages.
void two_hosts(benchmark::State& state) {
  test::SimulatedCluster cluster(1, {tasks[0], tasks[1]});
  cluster.simulation().run_until([&] { return cluster.complete(); });
  uint64_t answered = 0;
  ActorNode& there = cluster.node(1);
  Address address = cluster.workers()[1].worker;
  address.role = "answerer";
  there.directory.add(address, there.engine.spawn(std::make_unique<Answerer>(answered)));
  const ActorRef stub = value_or_throw(cluster.node(0).directory.find(address));
  uint64_t back = 0;
  const auto message = Draft<wire::CloseSession>().finish();
  for (auto _ : state) {
    const uint64_t until = back + 100;
    for (int i = 0; i < 100; ++i)
      cluster.node(0).engine.send(stub, message, Reply([&](const Result<AnyMessage>&) { ++back; }));
    cluster.simulation().run_until([&] { return back >= until; });
  }
  state.SetItemsProcessed(static_cast<int64_t>(2 * back));
}
BENCHMARK(two_hosts)->Repetitions(5)->ReportAggregatesOnly();

uint64_t messages(test::SimulatedCluster& cluster) {
  uint64_t total = 0;
  for (size_t machine = 0; machine < cluster.size(); ++machine)
    for (const auto& [type, count] : cluster.node(machine).engine.counts()) total += count.messages;
  return total;
}

// ps: v;  worker 0: v + 1 -> worker 1: * 2 -> the chief
void steps_over_four_nodes(benchmark::State& state) {
  test::SimulatedCluster cluster(1, tasks);
  cluster.simulation().run_until([&] { return cluster.complete(); });
  Graph graph(cluster.node(0).library->ops);
  const Scope g(graph), ps = g.with_device("/job:ps");
  const Output v = ps.add_one("VariableV2", {}, {{"dtype", DType::Float}, {"shape", PartialShape::scalar()}});
  const Output one = g.constant(Tensor::scalar(1.0f));
  const Output init = {ps.add("Assign", {v, one}), Output::control};
  const Output sum = g.with_device("/job:worker/task:0").add_one("Add", {v, one});
  const Output product = g.with_device("/job:worker/task:1").add_one("Mul", {sum, one});
  Session session = cluster.session(0, graph);
  session.run({init});
  session.run({product});
  const uint64_t before = messages(cluster);
  for (auto _ : state) benchmark::DoNotOptimize(session.run({product}));
  state.SetItemsProcessed(static_cast<int64_t>(messages(cluster) - before));
}
BENCHMARK(steps_over_four_nodes)->Repetitions(5)->ReportAggregatesOnly();

}  // namespace
}  // namespace troupe
