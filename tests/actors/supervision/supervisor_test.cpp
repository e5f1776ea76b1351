// Supervision: an actor that ends abnormally is restarted, up to a limit. If it cannot be restarted, requests to it fail with the
// reason (robustness.md R7).
#include "actors/supervision/supervisor.h"

#include <boost/test/unit_test.hpp>

#include "actors/runtime_impl.h"
#include "actors/services/replicas/replicas_service.h"
#include "graph/build/scope.h"
#include "messages/schemas/session.capnp.h"
#include "messages/schemas/supervisor.capnp.h"
#include "messages/wire/wire.h"
#include "tests/support/failure_of.h"
#include "tests/support/simulation/simulated_node.h"

namespace troupe::supervisor_test {
namespace {

using test::SimulatedNode;

constexpr std::chrono::seconds period{10};

/// Answers RunStep with the number of its start (1, 2, ...). CancelStep makes it throw, CloseSession makes it end.
class Moody : public Role {
 public:
  explicit Moody(uint64_t life) {
    on<wire::RunStep>([life](const auto&, Reply reply) {
      Draft<wire::StepDone> done;
      done->initStep().setOrdinal(life);
      reply(done.finish());
    });
    on<wire::CancelStep>([](const auto&, Reply) { throw std::runtime_error("bad mood"); });
    on<wire::CloseSession>([this](const auto&, Reply) { stop(); });
  }
};

/// One actor, and a supervisor that restarts it at most three times in ten seconds.
struct Bench {
  Bench() {
    ChildSpec moody{address, [this] { return node.actors.engine.spawn(std::make_unique<Moody>(++lives)); }};
    moody.recoverable = [this] { return lost; };
    const ActorRef first = moody.spawn();
    supervisor.add(std::move(moody), first);
    simulation.run_ready();
  }

  ActorRef actor() { return node.find(address); }
  template <class T>
  void tell() {
    node.actors.engine.send(actor(), Draft<T>().finish());
    simulation.run_ready();
  }
  /// Returns which start of the actor answers; 0 if none does, and then `failure` says why.
  uint64_t life() {
    const auto answer = node.actors.engine.call(actor(), Draft<wire::RunStep>().finish());
    failure = answer.status();
    return answer ? Message<wire::StepDone>(*answer)->getStep().getOrdinal() : 0;
  }

  const Address address{"/job:test/replica:0/task:0", 1, "moody", "one"};
  test::Simulation simulation;
  SimulatedDisk disk{1};
  SimulatedNode node{simulation, disk, 1};
  uint64_t lives = 0;
  Status lost, failure;
  std::vector<Status> on_failure;
  Supervisor supervisor{node.actors,
                        {"/job:test/replica:0/task:0", 1, "supervisor", "test"},
                        {.restarts = 3, .within = period},
                        [this](const Status& status) { on_failure.push_back(status); }};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(supervisor)

BOOST_FIXTURE_TEST_CASE(one_whose_handler_threw_is_replaced_where_it_was_found, Bench) {
  BOOST_TEST(life() == 1u);
  const ActorRef before = actor();
  tell<wire::CancelStep>();
  BOOST_TEST(life() == 2u);
  BOOST_TEST((node.actors.engine.call(before, Draft<wire::RunStep>().finish()).status().code() ==
              Code::Unavailable));
  BOOST_TEST(on_failure.empty());
}

BOOST_FIXTURE_TEST_CASE(one_that_ends_as_it_should_is_not_replaced, Bench) {
  tell<wire::CloseSession>();
  BOOST_TEST(life() == 0u);
  BOOST_TEST((failure.code() == Code::Unavailable));
  BOOST_TEST(lives == 1u);
}

BOOST_FIXTURE_TEST_CASE(one_that_is_restarted_too_often_is_given_up_and_says_why, Bench) {
  for (int i = 0; i < 3; ++i) tell<wire::CancelStep>();
  BOOST_TEST(life() == 4u);
  tell<wire::CancelStep>();
  BOOST_TEST(life() == 0u);
  BOOST_TEST((failure.code() == Code::Internal));
  BOOST_TEST(failure.text().find("bad mood") != std::string::npos, failure.text());
  BOOST_TEST(failure.text().find("moody one") != std::string::npos, failure.text());
  BOOST_TEST(failure.text().find("3 times") != std::string::npos, failure.text());
  BOOST_REQUIRE(on_failure.size() == 1u);
  BOOST_TEST(on_failure[0].message() == failure.message());
  simulation.pass(std::chrono::nanoseconds(10 * period).count());
  BOOST_TEST(life() == 0u);  // permanently
}

BOOST_FIXTURE_TEST_CASE(restarts_long_ago_do_not_count, Bench) {
  for (int i = 0; i < 20; ++i) {
    tell<wire::CancelStep>();
    simulation.pass(std::chrono::nanoseconds(period).count() / 2);
  }
  BOOST_TEST(life() == 21u);
  for (int i = 0; i < 4; ++i) tell<wire::CancelStep>();
  BOOST_TEST(life() == 0u);
}

BOOST_FIXTURE_TEST_CASE(one_whose_state_is_lost_is_given_up_at_once, Bench) {
  lost = data_loss("its values are lost");
  tell<wire::CancelStep>();
  BOOST_TEST(life() == 0u);
  BOOST_TEST(failure.text().find("its values are lost") != std::string::npos, failure.text());
  BOOST_TEST(on_failure.size() == 1u);
}

BOOST_FIXTURE_TEST_CASE(the_supervisor_tells_what_happened, Bench) {
  tell<wire::CancelStep>();
  const Message<wire::ActorsListed> listed(value_or_throw(
      node.actors.engine.call(node.find(supervisor.address()), Draft<wire::ListActors>().finish())));
  BOOST_REQUIRE(listed->getActors().size() == 1u);
  const auto actor = listed->getActors()[0];
  BOOST_TEST((read(actor.getAddress()) == address));
  BOOST_TEST(actor.getRestarts() == 1u);
  BOOST_TEST(read(actor.getReason()).text().find("bad mood") != std::string::npos);
  BOOST_TEST(!actor.getFailed());
}

BOOST_AUTO_TEST_CASE(an_end_with_a_handler_that_throws_leaves_nobody_behind) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Bench bench;
    for (int i = 0; i < 3; ++i)
      bench.node.actors.engine.send(bench.actor(), Draft<wire::CancelStep>().finish());
  }
}

// ---- The actors of a task.  w: variable on CPU:0; steps add to it and read it

namespace {

struct Task {
  Task() {
    const Scope g(graph);
    const PartialShape shape{2};
    w = g.with_name("w").add_one("VariableV2", {}, {{"dtype", DType::Float}, {"shape", shape}});
    const Output one = g.constant(Tensor::vector<float>({1, 1}));
    init = g.add_one("Assign", {w, one});
    add = g.add_one("AssignAdd", {w, one});
    session.run({init});
  }

  void end(const std::string& role, const std::string& key) {
    const Address address = node.tasks.front()->address(role, key);
    node.actors.engine.stop(node.find(address), internal("a message handler threw an exception: on purpose"));
    simulation.run_ready();
  }
  /// Runs a step and returns w after it; -1 if the step fails.
  float step() {
    try {
      return session.run({add})[0].as<float>()[0];
    } catch (const Error& error) {
      failure = error.status();
      return -1;
    }
  }

  test::Simulation simulation;
  SimulatedDisk disk{1};
  SimulatedNode node{simulation, disk, 1};
  Graph graph{node.actors.library->ops};
  Session session = node.session(graph);
  Output w, init, add;
  Status failure;
  const std::string device = "/job:test/replica:0/task:0/device:CPU:0";
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(steps_go_on_after_a_permanent_actor_was_restarted_and_values_stay, Task) {
  float expected = 1;
  for (const auto& [role, key] : std::vector<std::pair<std::string, std::string>>{
           {"worker", ""}, {"variable", "w#0"}, {"checkpoint", "writer"}, {"checkpoint", "coordinator"}}) {
    end(role, key);
    float found = step();
    if (found < 0) {  // the step that notices the failure
      BOOST_TEST((failure.code() == Code::Unavailable), role << ": " << failure.message());
      found = step();
    }
    BOOST_TEST(found == ++expected, role << ": " << failure.message());
    BOOST_TEST(session.save("/checkpoints").problem.empty());
    BOOST_TEST(session.restore("/checkpoints").missing.empty());
  }
}

BOOST_FIXTURE_TEST_CASE(a_variable_role_whose_value_is_lost_is_given_up_and_sessions_are_told, Task) {
  step();  // after this nothing else holds the value
  const auto value = node.tasks.front()
                         ->state->cells()
                         .at(0)
                         ->take_for_write();  // as an update that throws an exception does
  BOOST_REQUIRE(value.has_value());
  end("variable", "w#0");
  for (int i = 0; i < 2; ++i) {
    BOOST_TEST(step() == -1);
    BOOST_TEST((failure.code() == Code::Internal), failure.message());
    BOOST_TEST(failure.text().find("has failed and cannot be restarted") != std::string::npos,
               failure.message());
    BOOST_TEST(failure.text().find("w") != std::string::npos, failure.message());
  }
  BOOST_CHECK_EXCEPTION(session.save("/checkpoints"), Error, [](const Error& error) {
    return error.status().text().find("has failed and cannot be restarted") != std::string::npos;
  });
}

BOOST_FIXTURE_TEST_CASE(a_queue_that_ended_is_given_up_since_its_elements_went_with_it, Task) {
  const Scope g(graph);
  const Output queue =
      g.with_name("q").add_one("FIFOQueueV2", {}, {{"component_types", std::vector<DType>{DType::Float}}});
  const Output enqueue{g.add("QueueEnqueueV2", {queue, g.constant(Tensor::scalar(1.0f))}), Output::control};
  session.run({enqueue});
  end("queue", "q#1");
  const Status lost = test::failure_of([&] { session.run({enqueue}); });
  BOOST_TEST((lost.code() == Code::Internal), lost.text());
  BOOST_TEST(lost.text().find("the contents of queue 'q' are lost") != std::string::npos, lost.text());
  BOOST_TEST(step() == 2);
}

BOOST_FIXTURE_TEST_CASE(a_replicas_role_is_restarted_unless_it_was_applying_a_round, Task) {
  const auto replicas = [&] {
    const ActorRef supervisor = node.find(node.tasks.front()->address("supervisor"));
    const Message<wire::ActorsListed> listed(
        value_or_throw(node.actors.engine.call(supervisor, Draft<wire::ListActors>().finish())));
    for (const auto actor : listed->getActors())
      if (read(actor.getAddress()).role == "replicas")
        return std::pair(actor.getRestarts(), actor.getFailed());
    return std::pair(99u, true);
  };
  end("replicas", device);
  BOOST_TEST((replicas() == std::pair(1u, false)));
  ++ReplicasService::of(*node.tasks.front()->sites.front()).committing;
  end("replicas", device);
  BOOST_TEST((replicas() == std::pair(1u, true)));
}

BOOST_AUTO_TEST_CASE(a_runtime_says_that_it_is_to_be_replaced) {
  Runtime runtime;
  Graph graph(runtime.ops());
  const Scope g(graph);
  const Output w =
      g.with_name("w").add_one("VariableV2", {}, {{"dtype", DType::Float}, {"shape", PartialShape{}}});
  const Output value = g.add_one("Placeholder", {}, {{"dtype", DType::Float}, {"shape", PartialShape{}}});
  const Output assign = g.add_one("Assign", {w, value});
  Session session = runtime.session(graph);
  session.run({{value, Tensor::scalar(1.0f)}}, {assign});
  BOOST_TEST(runtime.status().ok());
  auto& impl = runtime.impl();
  const TaskSites& task = *impl.tasks.front();
  BOOST_REQUIRE(task.state->cells().at(0)->take_for_write().has_value());
  impl.node->engine.stop(value_or_throw(task.sites.front()->owner(*task.state->cells().at(0))),
                         internal("a message handler threw an exception: on purpose"));
  const int64_t deadline = impl.loop->now() + std::chrono::nanoseconds(std::chrono::seconds(30)).count();
  BOOST_TEST(impl.loop->wait([&] { return !runtime.status().ok(); }, deadline));
  BOOST_TEST((runtime.status().code() == Code::Internal));
  BOOST_CHECK_EXCEPTION(
      session.run({{value, Tensor::scalar(2.0f)}}, {assign}), Error, [](const Error& error) {
        return error.status().text().find("has failed and cannot be restarted") != std::string::npos;
      });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::supervisor_test
