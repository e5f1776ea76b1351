// The session server: how it opens sessions for clients without devices, and what it refuses, in virtual time.
#include "actors/step/session_server.h"

#include <boost/test/unit_test.hpp>

#include <limits>

#include "messages/schemas/session.capnp.h"
#include "messages/schemas/sessions.capnp.h"
#include "messages/wire/wire.h"
#include "tests/support/simulation/simulated_node.h"

namespace troupe::session_server_test {
namespace {

constexpr int64_t second = 1'000'000'000;
const Address client_address{"/job:client/replica:0/task:5", 3, {}, {}};

class Idle final : public Role {};

struct Fixture {
  Fixture() { node.actors.directory.add(client_address, client); }

  const std::optional<Result<AnyMessage>>& open(
      const std::function<void(wire::OpenSession::Builder)>& change = {}) {
    Draft<wire::OpenSession> draft;
    write(client_address, draft->initClient());
    draft->setPatience(10 * second);
    draft->setSignatures(4);
    if (change) change(*draft);
    answers.push_back(node.ask(server, draft.finish()));
    simulation.run_ready();
    return *answers.back();
  }
  Code refusal(const std::function<void(wire::OpenSession::Builder)>& change) {
    const auto& answer = open(change);
    return answer ? answer->status().code() : Code::Ok;
  }
  ActorRef master(const Result<AnyMessage>& opened) {
    return node.find(read(Message<wire::SessionOpened>(*opened)->getMaster()));
  }
  void let_pass(int64_t nanoseconds) {
    simulation.run_until([] { return false; }, simulation.now() + nanoseconds);
  }

  test::Simulation simulation;
  SimulatedDisk disk{1};
  test::SimulatedNode node{simulation, disk, 1};
  Result<std::vector<Address>> others = std::vector<Address>{};
  ActorRef client = node.actors.engine.spawn(std::make_unique<Idle>());
  ActorRef server = spawn_session_server(
      node.actors, node.tasks[0], [this](auto) { return others; }, 3);
  std::vector<std::shared_ptr<const std::optional<Result<AnyMessage>>>> answers;
};

BOOST_FIXTURE_TEST_SUITE(session_server, Fixture)

BOOST_AUTO_TEST_CASE(a_session_is_told_its_devices_and_its_container) {
  const auto& shared = open();
  BOOST_TEST_REQUIRE(shared.has_value());
  const Message<wire::SessionOpened> opened(value_or_throw(*shared));
  BOOST_TEST_REQUIRE(opened->getWorkers().size() == 1u);
  BOOST_TEST(view(opened->getWorkers()[0].getDevices()[0].getName()) ==
             "/job:test/replica:0/task:0/device:CPU:0");
  BOOST_TEST(opened->getContainer().size() == 0u);
  const auto& own = open([](auto request) { request.setOwnState(true); });
  const Message<wire::SessionOpened> private_one(value_or_throw(*own));
  BOOST_TEST(view(private_one->getContainer()) == std::to_string(private_one->getSession()));
}

BOOST_AUTO_TEST_CASE(what_is_missing_is_waited_for_as_long_as_the_client_will) {
  others = unavailable("the cluster is not complete");
  const auto& waits = open();
  BOOST_TEST(!waits.has_value());
  let_pass(second);
  others = std::vector<Address>{};
  let_pass(second);
  BOOST_TEST_REQUIRE(waits.has_value());
  BOOST_TEST(waits->ok());

  others = unavailable("the cluster is not complete");
  const auto& late = open();
  let_pass(11 * second);
  BOOST_TEST_REQUIRE(late.has_value());
  BOOST_TEST((late->status().code() == Code::DeadlineExceeded));
  BOOST_TEST(late->status().text() == "the cluster is not complete");
  others = failed_precondition("never");
  BOOST_TEST((refusal({}) == Code::FailedPrecondition));
}

BOOST_AUTO_TEST_CASE(wrong_requests_are_refused) {
  BOOST_TEST((refusal([](auto request) { request.setSignatures(0); }) == Code::InvalidArgument));
  BOOST_TEST((refusal([](auto request) { request.setSignatures(UINT32_MAX); }) == Code::InvalidArgument));
  BOOST_TEST((refusal([](auto request) { request.initTasks(1).set(0, "/job"); }) == Code::InvalidArgument));
  BOOST_TEST((refusal([](auto request) { request.initClient().setTask("/job:no"); }) == Code::Unavailable));
  others = unavailable("not yet");
  const auto& endless = open([](auto request) { request.setPatience(UINT64_MAX); });
  let_pass(second);
  BOOST_TEST(!endless.has_value());
}

BOOST_AUTO_TEST_CASE(the_number_of_sessions_is_bounded_and_those_that_end_make_room) {
  const auto& first = open();
  open();
  others = unavailable("not yet");
  open();
  BOOST_TEST((refusal({}) == Code::ResourceExhausted));
  others = std::vector<Address>{};
  let_pass(second);
  BOOST_TEST((refusal({}) == Code::ResourceExhausted));
  node.actors.engine.send(master(*first), Draft<wire::CloseSession>().finish());
  simulation.run_ready();
  BOOST_TEST((refusal({}) == Code::Ok));
}

BOOST_AUTO_TEST_CASE(a_client_that_is_lost_leaves_no_session) {
  const size_t before = node.actors.engine.actors();
  open();
  open([](auto request) { request.setOwnState(true); });
  others = unavailable("not yet");
  open();
  BOOST_TEST(node.actors.engine.actors() == before + 2);
  node.actors.engine.stop(client);
  simulation.run_ready();
  BOOST_TEST(node.actors.engine.actors() == before - 1);
  let_pass(11 * second);
  BOOST_TEST(node.actors.engine.actors() == before - 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::session_server_test
