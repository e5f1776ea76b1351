// Mirrors of variables: updates of every kind reach the copies on the other device; adopted copies are the variables of their
// device, and the superseded device acknowledges nothing any more.
#include <boost/test/unit_test.hpp>

#include <future>

#include "actors/node_services.h"
#include "actors/runtime.h"
#include "graph/build/scope.h"
#include "messages/schemas/mirror.capnp.h"
#include "messages/wire/wire.h"
#include "tests/support/failure_of.h"

namespace troupe::mirror_steps_test {
namespace {

using namespace std::chrono_literals;

constexpr int64_t large = 200'000;  // elements of a variable whose updates are computed outside the handler

/// The same variables as one of two servers has them.
struct Model {
  Model(Graph& graph, const std::string& server) : g(graph), there(g.with_device(server)) {
    small = variable("small", Tensor::vector<float>({1, 2, 3}));
    for (const char* name : {"weights", "first_moment", "second_moment"})
      adam.push_back(variable(name, Tensor::vector<float>({1, 2})));
    big = variable("big", Tensor::vector<float>(std::span<const float>(std::vector<float>(large, 1))));
    handle = there.with_name("handle").add_one("VarHandleOp", {},
                                               {{"dtype", DType::Int64}, {"shape", PartialShape{}}});
    const Output number = g.constant(Tensor::scalar<int64_t>(40));
    initializers.push_back({there.add("AssignVariableOp", {handle, number}), Output::control});
    late = there.with_name("late").add_one("VariableV2", {},
                                           {{"dtype", DType::Float}, {"shape", PartialShape{1}}});
    add_updates();
    values = {small,
              adam[0],
              adam[1],
              adam[2],
              there.add_one("Sum", {big, constant<int32_t>(0)}),
              there.add_one("ReadVariableOp", {handle}, {{"dtype", DType::Int64}})};
  }

  Output variable(const std::string& name, const Tensor& initial) {
    const Output v = there.with_name(name).add_one(
        "VariableV2", {}, {{"dtype", initial.dtype()}, {"shape", PartialShape(initial.shape())}});
    initializers.push_back({there.add("Assign", {v, g.constant(initial)}), Output::control});
    return v;
  }
  template <class T>
  Output constant(T value) {
    return g.constant(Tensor::scalar<T>(value));
  }

  void add_updates() {
    const Output rate = constant(0.1f);
    add("ScatterAdd", {small, g.constant(Tensor::vector<int32_t>({2, 0})),
                       g.constant(Tensor::vector<float>({0.5f, 0.25f}))});
    add("ApplyAdam", {adam[0], adam[1], adam[2], constant(0.9f), constant(0.999f), rate, constant(0.9f),
                      constant(0.999f), constant(1e-8f), g.constant(Tensor::vector<float>({0.5f, -2}))});
    add("AssignAdd",
        {big, g.constant(Tensor::vector<float>(std::span<const float>(std::vector<float>(large, 2))))});
    add("AssignAddVariableOp", {handle, constant<int64_t>(2)});
    set_late = {there.add("Assign", {late, g.constant(Tensor::vector<float>({7}))}), Output::control};
  }
  void add(const std::string& op, const std::vector<Output>& inputs) {
    updates.push_back({there.add(op, inputs), Output::control});
  }

  Scope g, there;
  Output small, big, handle, late, set_late;
  std::vector<Output> adam, initializers, updates, values;
};

struct Fixture {
  Runtime runtime{{.threads = 2, .tasks = {{"ps", 0, 1}, {"ps", 1, 1}}}};
  Graph first_graph{runtime.ops()}, second_graph{runtime.ops()};
  Model first{first_graph, "/job:ps/task:0"}, second{second_graph, "/job:ps/task:1"};
  Session one = runtime.session(first_graph, {.share_state = true}),
          other = runtime.session(second_graph, {.share_state = true});

  ActorRef role(const std::string& name, size_t server) {
    return value_or_throw(services().find(address(name, server)));
  }
  Address address(const std::string& name, size_t server) {
    const std::vector<std::string> task = {"/job:ps/task:" + std::to_string(server)};
    Address address = value_or_throw(services().addresses(name, task, 1s)).front();
    address.key = address.task + "/device:CPU:0";
    return address;
  }
  NodeServices& services() { return runtime.services(); }
  Result<AnyMessage> ask(const ActorRef& to, AnyMessage request) {
    return services().call_all({{to, std::move(request)}})[0];
  }

  /// Mirrors the variables of a server, the first one, on the other.
  Status try_mirror(uint64_t mirror, uint64_t attempt, size_t server = 0, bool target_owns_nothing = false) {
    Draft<wire::BeginMirror> draft;
    draft->setMirror(mirror);
    draft->setAttempt(attempt);
    draft->setTargetOwnsNothing(target_owns_nothing);
    write(address("mirror", 1 - server), draft->initTarget());
    write(services().address("worker"), draft->initClient());
    return ask(role("mirror_source", server), draft.finish()).status();
  }
  void begin_mirror(uint64_t mirror, uint64_t attempt = 0) { throw_if_failed(try_mirror(mirror, attempt)); }
  uint64_t claim(size_t server, uint64_t attempt) {
    Draft<wire::ClaimVariables> draft;
    draft->setAttempt(attempt);
    const auto answer = value_or_throw(ask(role("mirror", server), draft.finish()));
    return Message<wire::VariablesClaimed>(answer)->getAttempt();
  }
  /// Says that the mirror of the first server has been adopted.
  void give_away(uint64_t mirror) {
    Draft<wire::EndMirror> draft;
    draft->setMirror(mirror);
    draft->setAdopted(true);
    value_or_throw(ask(role("mirror_source", 0), draft.finish()));
  }
  bool has_values(const Graph& graph, const Model& model) {
    Session fresh = runtime.session(graph, {.share_state = true});
    const Status status = test::failure_of([&] { fresh.run(model.values); });
    BOOST_TEST((status.ok() || status.code() == Code::FailedPrecondition), status.message());
    return status.ok();
  }
  template <class T>
  AnyMessage of_mirror(uint64_t mirror) {
    Draft<T> draft;
    draft->setMirror(mirror);
    return draft.finish();
  }
  uint32_t adopt(uint64_t mirror) {
    return Message<wire::MirrorAdopted>(
               value_or_throw(ask(role("mirror", 1), of_mirror<wire::AdoptMirror>(mirror))))
        ->getVariables();
  }
  std::vector<std::string> values_of(Session& session, const Model& model) {
    std::vector<std::string> bits;
    for (const Tensor& value : session.run(model.values))
      bits.emplace_back(reinterpret_cast<const char*>(value.data()), value.bytes());
    return bits;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(mirror, Fixture)

BOOST_AUTO_TEST_CASE(adopted_copies_are_the_variables_with_every_acknowledged_update) {
  one.run(first.initializers);
  begin_mirror(5);
  for (int i = 0; i < 3; ++i) one.run(first.updates);
  one.run({first.set_late});
  const auto expected = values_of(one, first);
  BOOST_TEST(adopt(5) == 7u);
  BOOST_TEST(values_of(other, second) == expected, boost::test_tools::per_element());
  BOOST_TEST(other.run({second.late})[0].as<float>()[0] == 7);
  other.run(second.updates);
  BOOST_TEST(values_of(other, second) != expected);
}

BOOST_AUTO_TEST_CASE(a_superseded_device_acknowledges_no_update) {
  one.run(first.initializers);
  begin_mirror(5);
  adopt(5);
  for (const Output& update : first.updates)
    BOOST_TEST((test::failure_of([&] { one.run({update}); }).code() == Code::Aborted));
  BOOST_TEST(adopt(5) == 6u, "a repeated request gets the same answer");
}

BOOST_AUTO_TEST_CASE(updates_before_a_mirror_and_after_its_end_are_those_of_a_device_without_mirror) {
  one.run(first.initializers);
  one.run(first.updates);
  begin_mirror(5);
  one.run(first.updates);
  value_or_throw(ask(role("mirror_source", 0), of_mirror<wire::EndMirror>(5)));
  one.run(first.updates);
  BOOST_TEST((ask(role("mirror", 1), of_mirror<wire::AdoptMirror>(5)).status().code() == Code::NotFound));
  const auto expected = values_of(one, first);
  begin_mirror(6);
  adopt(6);
  BOOST_TEST(values_of(other, second) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(copies_replace_variables_of_the_same_names_when_they_are_adopted_and_not_before) {
  one.run(first.initializers);
  other.run(second.initializers);
  other.run(second.updates);
  const auto own = values_of(other, second), expected = values_of(one, first);
  begin_mirror(5);
  BOOST_TEST(values_of(other, second) == own, boost::test_tools::per_element());
  adopt(5);
  Session fresh = runtime.session(second_graph, {.share_state = true});
  BOOST_TEST(values_of(fresh, second) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(variables_that_have_moved_leave_nothing_behind) {
  one.run(first.initializers);
  begin_mirror(5);
  give_away(4);
  BOOST_TEST(has_values(first_graph, first), "another mirror was adopted");
  adopt(5);
  give_away(5);
  BOOST_TEST(!has_values(first_graph, first));
  BOOST_TEST(has_values(second_graph, second));
}

BOOST_AUTO_TEST_CASE(a_later_attempt_begins_without_the_variables_that_were_in_mirrors) {
  one.run(first.initializers);
  begin_mirror(5, 3);
  BOOST_TEST(claim(0, 0) == 3u);
  BOOST_TEST(claim(0, 2) == 3u);
  BOOST_TEST(has_values(first_graph, first));
  adopt(5);
  for (const size_t server : {0, 1}) BOOST_TEST(claim(server, 4) == 4u);
  BOOST_TEST(!has_values(first_graph, first));
  BOOST_TEST(!has_values(second_graph, second));
  BOOST_TEST((try_mirror(6, 3).code() == Code::Aborted));
  Session fresh = runtime.session(first_graph, {.share_state = true});
  fresh.run(first.initializers);
  begin_mirror(7, 4);
  BOOST_TEST(has_values(first_graph, first));
}

// Otherwise the second mirror would bring back the values that the first server had before it gave them away.
BOOST_AUTO_TEST_CASE(a_server_without_variables_drops_its_own_old_ones_before_it_gets_a_mirror) {
  one.run(first.initializers);
  begin_mirror(5, 1);
  adopt(5);
  throw_if_failed(try_mirror(6, 1, 1, true));
  BOOST_TEST(!has_values(first_graph, first));
  value_or_throw(ask(role("mirror", 0), of_mirror<wire::AdoptMirror>(6)));
  BOOST_TEST(has_values(first_graph, first));
  throw_if_failed(try_mirror(7, 1, 1, true));  // sent before the adoption, and late
  BOOST_TEST(has_values(first_graph, first), "adopted variables stay");
}

BOOST_AUTO_TEST_CASE(a_change_of_a_variable_that_the_mirror_has_refused_is_refused) {
  constexpr uint64_t number = 9;
  Draft<wire::OpenMirror> open;
  open->setMirror(number);
  write(address("mirror_source", 0), open->initSource());
  const ActorRef mirror = role("mirror", 1);
  value_or_throw(ask(mirror, open.finish()));
  const auto change = [&](uint64_t sequence, std::vector<Tensor> values, const auto& fill) {
    Draft<wire::MirrorChange> draft;
    draft->setMirror(number);
    draft->setSequence(sequence);
    fill(*draft);
    return ask(mirror, draft.finish(std::move(values))).status();
  };
  const auto declare = [](uint32_t cell, DType dtype) {  // always under the same name
    return [cell, dtype](wire::MirrorChange::Builder draft) {
      auto value = draft.initValues(1)[0];
      value.setCell(cell);
      value.setName("x");
      value.setDtype(static_cast<uint8_t>(dtype));
      value.initShape();
    };
  };
  BOOST_TEST(change(1, {Tensor::scalar(1.0f)}, declare(7, DType::Float)).ok());
  BOOST_TEST(!change(2, {Tensor::scalar<int64_t>(1)}, declare(8, DType::Int64)).ok());
  const auto update = [](wire::MirrorChange::Builder draft) { draft.initUpdate().initCells(1).set(0, 8); };
  BOOST_TEST((change(3, {}, update).code() == Code::NotFound));
}

BOOST_AUTO_TEST_CASE(a_mirror_ends_when_another_one_begins) {
  one.run(first.initializers);
  begin_mirror(5);
  auto ended = std::make_shared<std::promise<Result<AnyMessage>>>();
  services().call(role("mirror_source", 0), of_mirror<wire::AwaitMirrorEnd>(5),
                  [ended](Result<AnyMessage> answer) { ended->set_value(std::move(answer)); });
  begin_mirror(6);
  BOOST_TEST(ended->get_future().get().status().ok());
  BOOST_TEST(
      (ask(role("mirror_source", 0), of_mirror<wire::AwaitMirrorEnd>(5)).status().code() == Code::NotFound));
  one.run(first.updates);
  const auto expected = values_of(one, first);
  adopt(6);
  BOOST_TEST(values_of(other, second) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::mirror_steps_test
