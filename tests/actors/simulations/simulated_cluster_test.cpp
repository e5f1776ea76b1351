// Whole clusters of the real actors in one thread: sessions over several nodes, and how they end when nodes and connections are
// lost.
#include "tests/support/simulation/simulated_cluster.h"

#include <boost/test/unit_test.hpp>

#include "actors/site/graph_wire.h"
#include "actors/step/master.h"
#include "graph/build/control_flow.h"
#include "graph/build/scope.h"
#include "messages/schemas/session.capnp.h"
#include "messages/wire/limits.h"
#include "messages/wire/wire.h"

namespace troupe::simulated_cluster_test {
namespace {

using test::SimulatedCluster;

constexpr int64_t second = 1'000'000'000;
constexpr size_t chief = 0, ps = 1, worker0 = 2, worker1 = 3;
const std::vector<std::string> tasks = {"/job:chief/replica:0/task:0", "/job:ps/replica:0/task:0",
                                        "/job:worker/replica:0/task:0", "/job:worker/replica:0/task:1"};

struct Fixture {
  explicit Fixture(uint64_t seed = 1) : cluster(seed, tasks) { wait_until_complete(); }

  void wait_until_complete() {
    BOOST_TEST_REQUIRE(cluster.simulation().run_until([&] { return cluster.complete(); },
                                                      cluster.simulation().now() + 60 * second));
  }
  size_t actors(size_t machine) { return cluster.node(machine).engine.actors(); }
  void after(int64_t nanoseconds, std::function<void()> what) {
    auto& simulation = cluster.simulation();
    simulation.call_at(simulation.now() + nanoseconds, test::Simulation::everyone, std::move(what));
  }
  /// Runs a step and returns its status.
  Status run(Session& session, const std::vector<Output>& fetches) {
    try {
      session.run(fetches);
    } catch (const Error& error) {
      return error.status();
    }
    return {};
  }

  SimulatedCluster cluster;
  Graph graph{cluster.node(chief).library->ops};
  Scope g{graph};
  Scope at_ps = g.with_device("/job:ps"), at_worker0 = g.with_device("/job:worker/task:0"),
        at_worker1 = g.with_device("/job:worker/task:1");

  Output float_scalar(const Scope& where, const char* op) {
    return where.add_one(op, {}, {{"dtype", DType::Float}, {"shape", PartialShape::scalar()}});
  }
  Output value(float number) { return g.constant(Tensor::scalar(number)); }

  // ps: v = 3;  worker 0: sum = v + 1 -> worker 1: product = sum * 2
  Output v = float_scalar(at_ps, "VariableV2");
  Output init{at_ps.add("Assign", {v, value(3)}), Output::control};
  Output sum = at_worker0.add_one("Add", {v, value(1)});
  Output product = at_worker1.add_one("Mul", {sum, value(2)});
  // worker 1 waits for worker 0, which waits for an element of an empty queue.
  Output queue =
      at_worker0.add_one("FIFOQueueV2", {}, {{"component_types", std::vector<DType>{DType::Float}}});
  Output element =
      at_worker0.add_one("QueueDequeueV2", {queue}, {{"component_types", std::vector<DType>{DType::Float}}});
  Output stuck = at_worker1.add_one("Mul", {element, value(2)});
};

BOOST_FIXTURE_TEST_SUITE(simulated_cluster, Fixture)

BOOST_AUTO_TEST_CASE(a_step_runs_over_four_nodes_and_leaves_nothing_but_the_variable) {
  std::vector<size_t> before;
  for (size_t machine = 0; machine < cluster.size(); ++machine)
    before.push_back(actors(machine) + (machine == ps ? 1 : 0));
  {
    Session session = cluster.session(chief, graph);
    session.run({init});
    BOOST_TEST(session.run({product})[0].as<float>()[0] == 8.0f);
    session.close();
  }
  cluster.simulation().pass(second);
  for (size_t machine = 0; machine < cluster.size(); ++machine)
    BOOST_TEST(actors(machine) == before[machine]);
}

// fed, on the chief -> worker 0: more = fed + v -> worker 1: twice = more * 2, while the client thinks for longer than any answer
// takes.
BOOST_AUTO_TEST_CASE(a_partial_run_over_four_nodes_waits_for_its_client) {
  const Output fed = float_scalar(g, "Placeholder"), factor = float_scalar(g, "Placeholder");
  const Output more = at_worker0.add_one("Add", {fed, v}), twice = at_worker1.add_one("Mul", {more, factor});
  Session session = cluster.session(chief, graph);
  session.run({init});
  const auto think = [&] {
    cluster.simulation().pass(int64_t{20} * limits::patient_heartbeats * NodeIdentity().heartbeat);
  };
  const PartialRun run = session.partial_run_setup({fed, factor}, {more, twice});
  think();
  BOOST_TEST(session.partial_run(run, {{fed, Tensor::scalar(4.0f)}}, {more})[0].as<float>()[0] == 7.0f);
  think();
  BOOST_TEST(session.partial_run(run, {{factor, Tensor::scalar(2.0f)}}, {twice})[0].as<float>()[0] == 14.0f);
  const PartialRun lost = session.partial_run_setup({fed, factor}, {more, twice});
  cluster.crash(worker1, false);
  think();
  const auto code = [&] {
    try {
      session.partial_run(lost, {{fed, Tensor::scalar(4.0f)}}, {more});
    } catch (const Error& error) {
      return error.status().code();
    }
    return Code::Ok;
  };
  BOOST_TEST((code() == Code::Unavailable));
}

BOOST_AUTO_TEST_CASE(a_session_tensor_stays_on_its_node_until_another_node_asks_for_it) {
  const Output handle =
      g.add_one("Placeholder", {}, {{"dtype", DType::String}, {"shape", PartialShape::scalar()}});
  const Output kept = g.add_one("GetSessionHandle", {sum}),
               got = at_worker1.add_one("GetSessionTensor", {handle}, {{"dtype", DType::Float}});
  Session session = cluster.session(chief, graph);
  session.run({init});
  const Tensor text = session.run({kept})[0];
  BOOST_TEST(text.as<std::string>()[0].ends_with(tasks[worker0] + "/device:CPU:0"));
  BOOST_TEST(session.run({{handle, text}}, {got})[0].as<float>()[0] == 4.0f);
}

BOOST_AUTO_TEST_CASE(frames_that_come_twice_change_nothing) {
  cluster.network().set_faults({.duplicate = 0.5});
  const Output more{at_ps.add("AssignAdd", {v, value(1)}), Output::control};
  Session session = cluster.session(chief, graph);
  session.run({init});
  for (int i = 0; i < 20; ++i) session.run({more});
  BOOST_TEST(session.run({product})[0].as<float>()[0] == 48.0f);
  BOOST_TEST(cluster.network().counts().duplicates > 20u);
}

BOOST_AUTO_TEST_CASE(a_crash_ends_the_step_at_once_and_says_who) {
  for (const bool whole_machine : {false, true}) {
    Session session = cluster.session(chief, graph);
    const int64_t begin = cluster.simulation().now();
    after(second, [&] { cluster.crash(worker0, whole_machine); });
    const Status status = run(session, {stuck});
    BOOST_TEST((status.code() == Code::Unavailable), status.message());
    const int64_t noticed = cluster.simulation().now() - begin - second;
    BOOST_TEST(noticed < (whole_machine ? 3 * second / 2 : second / 100), noticed);
    BOOST_TEST((run(session, {product}).code() == Code::Unavailable));
    BOOST_TEST(run(session, {product}).message().find("worker/replica:0/task:0") != std::string::npos);
    cluster.start(worker0);
    wait_until_complete();
    Session again = cluster.session(chief, graph);
    again.run({init});
    BOOST_TEST(again.run({product})[0].as<float>()[0] == 8.0f);
  }
}

BOOST_AUTO_TEST_CASE(a_silent_machine_is_noticed_after_five_heartbeats) {
  for (const int64_t heartbeat : {second / 50, second}) {
    SimulatedCluster other(1, tasks, heartbeat);
    test::Simulation& simulation = other.simulation();
    BOOST_TEST_REQUIRE(
        simulation.run_until([&] { return other.complete(); }, simulation.now() + 60 * second));
    const Address lost = other.workers()[worker0].worker;
    const int64_t begin = simulation.now();
    other.crash(worker0, true);
    BOOST_TEST(
        simulation.run_until([&] { return !other.node(chief).directory.find(lost); }, begin + 60 * second));
    BOOST_TEST(simulation.now() - begin >= 4 * heartbeat);
    BOOST_TEST(simulation.now() - begin <= 7 * heartbeat);
  }
}

BOOST_AUTO_TEST_CASE(a_lost_connection_between_two_workers_ends_the_step_for_all) {
  Session session = cluster.session(chief, graph);
  session.run({init});
  after(second, [&] { cluster.network().part(tasks[worker0], tasks[worker1]); });
  const Status status = run(session, {stuck});
  BOOST_TEST((status.code() == Code::Unavailable), status.message());
  BOOST_TEST(status.message().find("/job:worker/replica:0/task:") != std::string::npos, status.message());
  BOOST_TEST((run(session, {product}).code() == Code::Unavailable));
  cluster.network().heal(tasks[worker0], tasks[worker1]);
  wait_until_complete();
  BOOST_TEST(session.run({product})[0].as<float>()[0] == 8.0f);  // the same session, with a new link
}

// A step may wait for any time, because its sender reports that it waits for a queue.
BOOST_AUTO_TEST_CASE(a_receiver_waits_as_long_as_its_sender_does) {
  const Output put{at_worker0.add("QueueEnqueueV2", {queue, value(3)},
                                  {{"Tcomponents", std::vector<DType>{DType::Float}}}),
                   Output::control};
  float result = 0;
  cluster.start_client(chief, [&] {
    Session session = cluster.session(chief, graph);
    result = session.run({stuck})[0].as<float>()[0];
    session.close();
  });
  cluster.start_client(chief, [&] {
    cluster.sleep(chief, 1000 * second);
    Session session = cluster.session(chief, graph);
    session.run({put});
    session.close();
  });
  BOOST_TEST(cluster.simulation().run_until([&] { return cluster.clients_ended(); },
                                            cluster.simulation().now() + 1100 * second));
  BOOST_TEST(result == 6.0f);
}

// worker 0: x = i * ones, 4 MiB, in a loop that needs no answers;  worker 1: total += max x. While worker 1 receives nothing,
// worker 0 continues until its credit is used up, and then waits for TakeTensor.
BOOST_AUTO_TEST_CASE(a_sender_is_no_further_ahead_of_its_receiver_than_its_credit) {
  constexpr int iterations = 100;
  constexpr uint64_t bytes = 4 << 20;
  const std::vector<float> ones(bytes / sizeof(float), 1.0f);
  const auto loop = while_loop(
      at_worker0, {value(0), at_worker1.constant(Tensor::scalar(0.0f))},
      [&](const Scope& s, auto vars) {
        return s.add_one("Less", {vars[0], s.constant(Tensor::scalar(static_cast<float>(iterations)))});
      },
      [&](const Scope& s, auto vars) {
        const Output x = s.add_one("Mul", {s.constant(Tensor::vector<float>(std::span(ones))), vars[0]});
        const Scope there = s.with_device("/job:worker/task:1");
        const Output largest = there.add_one("Max", {x, there.constant(Tensor::vector<int32_t>({0}))});
        return std::vector{s.add_one("Add", {vars[0], s.constant(Tensor::scalar(1.0f))}),
                           there.add_one("Add", {vars[1], largest})};
      });
  Session session = cluster.session(chief, graph);
  const PreparedStep step = session.prepare({}, {loop[1]});
  const uint64_t before = cluster.network().counts().bytes;
  uint64_t sent = 0;
  cluster.network().part(tasks[worker0], tasks[worker1]);
  after(second / 2, [&] {
    sent = cluster.network().counts().bytes - before;
    cluster.network().heal(tasks[worker0], tasks[worker1]);
  });
  BOOST_TEST(step.run({})[0].as<float>()[0] == iterations * (iterations - 1) / 2.0f);
  BOOST_TEST(sent > limits::pushed_bytes / 2);
  BOOST_TEST(sent < limits::pushed_bytes + bytes);
  BOOST_TEST(cluster.network().counts().bytes - before > iterations * bytes);
}

// ps: large -> worker 1: max. The parameter server sends worker 1 nothing but bulk frames.
BOOST_AUTO_TEST_CASE(who_speaks_in_bulk_alone_is_not_silent) {
  const std::vector<float> values(32 << 10, 1.0f);
  const Output large = at_ps.add_one("Mul", {at_ps.constant(Tensor::vector<float>(std::span(values))), v});
  const Output largest =
      at_worker1.add_one("Max", {large, at_worker1.constant(Tensor::vector<int32_t>({0}))});
  Session session = cluster.session(chief, graph);
  session.run({init});
  cluster.network().set_faults({.min_delay = 20'000'000, .max_delay = 20'000'000});
  for (const int64_t begin = cluster.simulation().now(); cluster.simulation().now() < begin + 3 * second;)
    BOOST_TEST_REQUIRE(session.run({largest})[0].as<float>()[0] == 3.0f);
}

// A Session cannot outlive its node, so this client sends messages to its master.
BOOST_AUTO_TEST_CASE(what_a_master_registered_goes_with_its_node) {
  const size_t before = actors(worker1);
  Address address = cluster.workers()[worker0].worker;
  address.role = "master";
  const ActorRef master = spawn_master(cluster.node(worker0), address, 7, cluster.workers(), {});
  const auto ask = [&](AnyMessage message) {
    std::optional<Result<AnyMessage>> answer;
    cluster.node(worker0).engine.send(master, std::move(message),
                                      Reply([&](Result<AnyMessage> result) { answer = std::move(result); }));
    BOOST_TEST_REQUIRE(cluster.simulation().run_until([&] { return answer.has_value(); }));
    BOOST_TEST_REQUIRE(answer->ok(), answer->status().message());
  };
  Draft<wire::Extend> extend;
  std::vector<Tensor> attachments;
  write(graph, 0, extend->initGraph(), attachments);
  ask(extend.finish(std::move(attachments)));
  Draft<wire::PrepareStep> prepare;
  prepare->initFetches(1).set(0, graph.name_of(product));
  ask(prepare.finish());
  BOOST_TEST(actors(worker1) > before);
  cluster.crash(worker0, false);
  BOOST_TEST(cluster.simulation().run_until([&] { return actors(worker1) == before; },
                                            cluster.simulation().now() + second / 100));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::simulated_cluster_test
