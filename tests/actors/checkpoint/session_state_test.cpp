// Ownership of state: in one process a session has its own variables and queues, which are dropped with it, unless it shares state.
#include <boost/test/unit_test.hpp>

#include "actors/checkpoint/checkpoint.h"
#include "graph/build/scope.h"
#include "messages/schemas/checkpoint.capnp.h"
#include "messages/wire/wire.h"
#include "tests/support/failure_of.h"
#include "tests/support/simulation/simulated_node.h"
#include "tests/support/whole_checkpoint.h"

namespace troupe::session_state_test {
namespace {

using test::SimulatedNode;

const std::string folder = "/checkpoints";
constexpr int64_t size = 100'000;

// task 1: x -> Neg -> Assign -> w, read;  task 0: x -> enqueue, count
struct Fixture {
  explicit Fixture(uint64_t seed = 1) : simulation(seed) {
    const Scope there = Scope(graph).with_device("/job:test/task:1"),
                here = Scope(graph).with_device("/job:test/task:0");
    const PartialShape shape{size};
    x = there.add_one("Placeholder", {}, {{"dtype", DType::Float}, {"shape", shape}});
    const Output w =
        there.with_name("w").add_one("VariableV2", {}, {{"dtype", DType::Float}, {"shape", shape}});
    assign = {there.add("Assign", {w, there.add_one("Neg", {x})}), Output::control};
    read = there.add_one("Identity", {w});
    initialized = there.add_one("IsVariableInitialized", {w});
    const Output queue = here.with_name("q").add_one("FIFOQueueV2", {},
                                                     {{"component_types", std::vector<DType>{DType::Float}}});
    enqueue = {here.add("QueueEnqueueV2", {queue, x}), Output::control};
    count = here.add_one("QueueSizeV2", {queue});
  }

  Session session(bool shared = false) { return node.session(graph, {.share_state = shared}); }
  /// Sets w to -value and adds an element to the queue.
  void set(Session& session, float value) const {
    Tensor values = value_or_throw(Tensor::allocate(DType::Float, Shape{size}));
    std::ranges::fill(values.write<float>(), value);
    session.run({{x, values}}, {assign, enqueue});
  }
  float value(Session& session) const { return session.run({read})[0].as<float>()[size - 1]; }
  bool is_initialized(Session& session) const { return session.run({initialized})[0].as<bool>()[0]; }
  int32_t elements(Session& session) const { return session.run({count})[0].as<int32_t>()[0]; }

  /// Returns the bytes in use on all devices.
  size_t memory() const {
    size_t bytes = 0;
    for (const auto& task : node.tasks) bytes += task->sites.front()->device->memory_statistics().in_use;
    return bytes;
  }
  size_t cells() const { return node.tasks[0]->state->cells().size() + node.tasks[1]->state->cells().size(); }

  test::Simulation simulation;
  SimulatedDisk disk{1};
  SimulatedNode node{simulation, disk, 2};
  Graph graph{node.actors.library->ops};
  Output x, assign, read, initialized, enqueue, count;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(session_state, Fixture)

BOOST_AUTO_TEST_CASE(a_session_has_variables_and_queues_of_its_own) {
  Session one = session(), two = session(), sharing = session(true);
  set(one, 1);
  for (Session* other : {&two, &sharing}) {
    BOOST_TEST(!is_initialized(*other));
    BOOST_TEST(elements(*other) == 0);
  }
  const Status status = test::failure_of([&] { value(two); });
  BOOST_TEST(status.text().find("variable 'w' ") != std::string::npos, status.text());
  set(two, 2);
  set(two, 2);
  BOOST_TEST(value(one) == -1);
  BOOST_TEST(value(two) == -2);
  BOOST_TEST(elements(one) == 1);
  BOOST_TEST(elements(two) == 2);
}

BOOST_AUTO_TEST_CASE(sessions_that_ask_to_share_have_the_same_and_it_stays) {
  {
    Session one = session(true), two = session(true);
    set(one, 1);
    set(two, 2);
    BOOST_TEST(value(one) == -2);
    BOOST_TEST(elements(one) == 2);
    one.close();
  }
  simulation.run_ready();
  Session later = session(true);
  BOOST_TEST(value(later) == -2);
  BOOST_TEST(elements(later) == 2);
}

BOOST_AUTO_TEST_CASE(checkpoints_are_of_the_sessions_own_state_under_plain_names) {
  Session one = session(), two = session();
  set(one, 1);
  set(two, 2);
  one.save(folder);
  std::vector<std::string> skipped;
  const auto saved = value_or_throw(test::load_newest(disk, folder, skipped));
  BOOST_REQUIRE(saved.tensors.size() == 1u);
  BOOST_TEST(saved.tensors[0].name == "w");
  BOOST_TEST(saved.tensors[0].value.as<float>()[0] == -1);
  set(one, 3);
  BOOST_TEST(two.restore(folder).missing.empty());
  BOOST_TEST(value(one) == -3);
  BOOST_TEST(value(two) == -1);
  Session sharing = session(true);
  BOOST_TEST(sharing.restore(folder).missing.empty());
  BOOST_TEST(value(sharing) == -1);
}

BOOST_AUTO_TEST_CASE(a_session_without_values_has_nothing_to_save) {
  Session own = session();
  const Status empty = test::failure_of([&] { own.save(folder); });
  BOOST_TEST((empty.code() == Code::FailedPrecondition), empty.message());
  std::vector<std::string> skipped;
  BOOST_TEST((test::load_newest(disk, folder, skipped).status().code() == Code::NotFound));
}

BOOST_AUTO_TEST_CASE(what_is_a_sessions_own_goes_with_it) {
  Session sharing = session(true), other = session();
  set(sharing, 1);
  set(other, 2);
  simulation.run_ready();
  const size_t bytes = memory(), states = cells(), actors = node.actors.engine.actors();
  for (const bool closed : {true, false}) {
    {
      Session own = session();
      set(own, 3);
      BOOST_TEST(memory() >= bytes + size * sizeof(float));
      BOOST_TEST(cells() == states + 2);
      if (closed) own.close();
    }
    simulation.run_ready();
    BOOST_TEST(memory() == bytes);
    BOOST_TEST(cells() == states);
    BOOST_TEST(node.actors.engine.actors() == actors);
  }
  BOOST_TEST(value(sharing) == -1);
  BOOST_TEST(value(other) == -2);
}

BOOST_AUTO_TEST_CASE(the_session_tensors_of_a_session_go_with_it) {
  const Scope g(graph);
  const Output kept = g.add_one("GetSessionHandle", {g.add_one("Neg", {x})}),
               handle = g.add_one("Placeholder", {},
                                  {{"dtype", DType::String}, {"shape", PartialShape::scalar()}}),
               got = g.add_one("GetSessionTensor", {handle}, {{"dtype", DType::Float}});
  const auto keep = [&](Session& session, float value) {
    const Tensor values = Tensor::of<float>(Shape{size}, std::vector<float>(size, value));
    return session.run({{x, values}}, {kept})[0];
  };
  Session other = session(true);
  const Tensor mine = keep(other, 4);
  simulation.run_ready();
  const size_t bytes = memory();
  for (const bool sharing : {true, false}) {
    Session own = session(sharing);
    for (int i = 0; i < 10; ++i) keep(own, 1);
    BOOST_TEST(memory() >= bytes + 10 * size * sizeof(float));
    own.close();
    simulation.run_ready();
    BOOST_TEST(memory() <= bytes + size * sizeof(float));
  }
  BOOST_TEST(other.run({{handle, mine}}, {got})[0].as<float>()[3] == -4.0f);
}

BOOST_AUTO_TEST_CASE(it_goes_although_the_worker_was_restarted_meanwhile) {
  {
    Session own = session();
    set(own, 1);
    for (const auto& task : node.tasks)
      node.actors.engine.stop(node.find(task->address("worker")),
                              internal("a message handler threw an exception: on purpose"));
    simulation.run_ready();
    BOOST_TEST(cells() == 2u);
  }
  simulation.run_ready();
  BOOST_TEST(cells() == 0u);
  BOOST_TEST(memory() == 0u);
}

BOOST_AUTO_TEST_CASE(a_closed_session_saves_and_restores_nothing) {
  Session own = session();
  set(own, 1);
  own.save(folder);
  own.close();
  BOOST_TEST((test::failure_of([&] { own.save(folder); }).code() == Code::FailedPrecondition));
  BOOST_TEST((test::failure_of([&] { own.restore(folder); }).code() == Code::FailedPrecondition));
}

BOOST_AUTO_TEST_SUITE_END()

// There must never be a checkpoint without the variables, because a restore would find nothing.
BOOST_AUTO_TEST_CASE(a_session_that_ends_while_it_is_saved_is_saved_whole_or_not_at_all) {
  size_t whole = 0, none = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Fixture at(seed);
    Session own = at.session();
    at.set(own, 1);
    const TaskSites& task = *at.node.tasks.front();
    Draft<wire::SaveCheckpoint> draft;
    draft->setFolder(as_text(folder));
    draft->setContainer("1");
    write(task.address("master", "1"), draft->initMaster());
    auto writers = draft->initWriters(2);
    for (uint32_t i = 0; i < 2; ++i)
      write(checkpoint_writer_address(at.node.tasks[i]->address("worker")), writers[i]);
    const auto answer =
        at.node.ask(at.node.find(checkpoint_coordinator_address(task.address("worker"))), draft.finish());
    at.simulation.run_until([jobs = seed]() mutable { return jobs-- == 0; });
    own.cancel();
    at.simulation.run_ready();
    BOOST_TEST_REQUIRE(answer->has_value());
    std::vector<std::string> skipped;
    const auto saved = test::load_newest(at.disk, folder, skipped);
    BOOST_TEST_REQUIRE(saved.ok() == (*answer)->ok());
    if (saved.ok())
      BOOST_TEST_REQUIRE(saved->tensors.size() == 1u);
    else
      BOOST_TEST_REQUIRE(((*answer)->status().code() == Code::Cancelled), (*answer)->status().message());
    ++(saved.ok() ? whole : none);
  }
  BOOST_TEST(whole > 0u);
  BOOST_TEST(none > 0u);
}

}  // namespace troupe::session_state_test
