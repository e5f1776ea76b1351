// The variable role: requests that share a cell are carried out in the order of arrival, whether they are computed in the handler
// or not.
#include "actors/services/variable/variable.h"

#include <boost/test/unit_test.hpp>

#include "actors/services/variable/variable_service.h"
#include "graph/build/scope.h"
#include "messages/schemas/mirror.capnp.h"
#include "messages/schemas/variable.capnp.h"
#include "messages/wire/wire.h"
#include "tests/support/simulation/simulated_node.h"

namespace troupe::variable_test {
namespace {

/// A variable "w" of floats on one device, and a rule that adds to it.
struct Bench {
  Bench(int64_t elements, uint64_t seed) : simulation(seed) {
    cell = value_or_throw(
        task().state->require("", "w", DType::Float, PartialShape{elements}, site().device->name().text()));
    auto graph = std::make_shared<Graph>(node.actors.library->ops);
    const Scope g(*graph);
    const PartialShape shape{elements};
    const Output w = g.add_one("VariableV2", {}, {{"dtype", DType::Float}, {"shape", shape}});
    const Output x = g.add_one("Placeholder", {}, {{"dtype", DType::Float}, {"shape", shape}});
    const Node& add = graph->node(g.add("AssignAdd", {w, x}));
    rule = VariableService::of(site()).rules().add(
        value_or_throw(prepare_rule(graph, add, node.actors.library->kernels, *site().device)));
  }

  TaskSites& task() { return *node.tasks.front(); }
  DeviceSite& site() { return *task().sites.front(); }
  Tensor filled(float value) const {
    return Tensor::vector<float>(std::span<const float>(std::vector<float>(cell->shape()[0], value)));
  }

  AnyMessage add(float value, int64_t counter = -1, int64_t count = 0) const {
    Draft<wire::Update> draft;
    draft->setRule(rule);
    draft->setCounter(counter);
    draft->setCount(count);
    draft->initCells(1).set(0, cell->id());
    return draft.finish({filled(value)});
  }
  AnyMessage assign(const Tensor& value) const { return assign(value, cell->id()); }
  static AnyMessage assign(const Tensor& value, uint32_t id) {
    Draft<wire::Assign> draft;
    draft->initCells(1).set(0, id);
    return draft.finish({value});
  }
  AnyMessage read() const {
    Draft<wire::Read> draft;
    draft->initCells(1).set(0, cell->id());
    return draft.finish();
  }

  /// Sends the requests one after the other, runs everything, and returns the answers.
  std::vector<Result<AnyMessage>> send(const std::vector<AnyMessage>& messages) {
    std::vector<std::shared_ptr<const std::optional<Result<AnyMessage>>>> asked;
    for (const AnyMessage& message : messages)
      asked.push_back(node.ask(value_or_throw(site().owner(*cell)), message));
    simulation.run_ready();
    std::vector<Result<AnyMessage>> answers;
    for (const auto& answer : asked) answers.push_back(answer->value());
    return answers;
  }

  test::Simulation simulation;
  SimulatedDisk disk{1};
  test::SimulatedNode node{simulation, disk, 1};
  std::shared_ptr<StateCell> cell;
  uint64_t rule = 0;
};

/// A mirror that is lost: it can make no change.
class LostMirror final : public Role {
 public:
  LostMirror() {
    on<wire::MirrorChange>([](const auto&, Reply reply) { reply(unavailable("the mirror is lost")); });
    on<wire::MirrorLost>([](const auto&, Reply) {});
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(variable)

// The group of w, whose update the mirror has not acknowledged, is joined with that of a counter, and must release w to it.
BOOST_AUTO_TEST_CASE(updates_that_a_lost_mirror_does_not_acknowledge_are_answered_when_it_ends) {
  Bench bench(3, 1);
  VariableGroups& groups = VariableService::of(bench.site()).groups();
  const auto counter = value_or_throw(bench.task().state->require(
      "", "counter", DType::Int64, PartialShape::scalar(), bench.site().device->name().text()));
  bench.send({bench.assign(bench.filled(1))});
  StateCell* const both[] = {counter.get(), bench.cell.get()};
  value_or_throw(groups.owner(std::span(both).first(1)));
  const auto change_mirror = [&](std::optional<MirrorTarget> mirror) {
    for (const ActorRef& actor : groups.set_mirror(std::move(mirror)))
      bench.node.ask(actor, Draft<wire::MirrorChanged>().finish());
    bench.simulation.run_ready();
  };
  const ActorRef lost = bench.node.actors.engine.spawn(std::make_unique<LostMirror>());
  change_mirror(MirrorTarget{5, lost, lost});
  const auto alone = bench.node.ask(value_or_throw(bench.site().owner(*bench.cell)), bench.add(1));
  bench.simulation.run_ready();
  const auto counted = bench.node.ask(value_or_throw(groups.owner(both)), bench.add(1, counter->id(), 7));
  bench.simulation.run_ready();
  BOOST_TEST((!alone->has_value() && !counted->has_value()));
  change_mirror({});
  BOOST_TEST_REQUIRE((alone->has_value() && counted->has_value()));
  BOOST_TEST((alone->value().ok() && counted->value().ok()));
  Snapshot value, count;
  BOOST_TEST((bench.cell->try_read(value) == StateCell::Reading::Ready && value.value.as<float>()[0] == 3));
  BOOST_TEST((counter->try_read(count) == StateCell::Reading::Ready && count.value.as<int64_t>()[0] == 7));
}

BOOST_AUTO_TEST_CASE(updates_assigns_and_reads_of_a_cell_happen_in_order_in_or_outside_the_handler) {
  for (const int64_t elements : {3, 140'000})
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      Bench bench(elements, seed);
      const auto answers = bench.send({bench.assign(bench.filled(1)), bench.add(2),
                                       bench.assign(bench.filled(10)), bench.add(20), bench.add(300)});
      for (const auto& answer : answers) BOOST_TEST_REQUIRE(answer.ok(), answer.status().message());
      Snapshot snapshot;
      BOOST_REQUIRE((bench.cell->try_read(snapshot) == StateCell::Reading::Ready));
      BOOST_TEST_REQUIRE(identical(snapshot.value, bench.filled(330)));
      BOOST_TEST_REQUIRE(snapshot.version == 5u);
    }
}

BOOST_AUTO_TEST_CASE(a_reader_never_sees_a_value_in_the_making) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    Bench bench(140'000, seed);
    bench.send({bench.assign(bench.filled(1))});
    const auto answers = bench.send({bench.add(2), bench.read()});
    BOOST_TEST_REQUIRE(answers[1].ok());
    const Tensor value = answers[1]->attachments()[0];
    BOOST_TEST_REQUIRE((identical(value, bench.filled(1)) || identical(value, bench.filled(3))));
  }
}

BOOST_AUTO_TEST_CASE(an_assign_of_another_dtype_shape_or_number_changes_nothing) {
  Bench bench(3, 1);
  bench.send({bench.assign(bench.filled(1))});
  const auto answers = bench.send({bench.assign(Tensor::vector<double>({1, 2, 3})),
                                   bench.assign(Tensor::vector<float>({1, 2})),
                                   bench.assign(bench.filled(2), bench.cell->id() + 1)});
  BOOST_TEST((answers[0].status().code() == Code::InvalidArgument));
  BOOST_TEST((answers[1].status().code() == Code::InvalidArgument));
  BOOST_TEST(answers[1].status().text() == "variable w is float[3], but its new value is float[2]");
  BOOST_TEST((answers[2].status().code() == Code::NotFound));
  Snapshot snapshot;
  BOOST_REQUIRE((bench.cell->try_read(snapshot) == StateCell::Reading::Ready));
  BOOST_TEST(identical(snapshot.value, bench.filled(1)));
}

BOOST_AUTO_TEST_CASE(a_variable_lives_on_one_device) {
  test::Simulation simulation;
  SimulatedDisk disk(1);
  test::SimulatedNode node(simulation, disk, 1, 2);
  Graph graph(node.actors.library->ops);
  Graph other(node.actors.library->ops);
  const auto read = [](Graph& where, int device) {
    const Scope g = Scope(where).with_device("/device:CPU:" + std::to_string(device));
    const Output w =
        g.with_name("w").add_one("VariableV2", {}, {{"dtype", DType::Float}, {"shape", PartialShape{1}}});
    return g.add_one("IsVariableInitialized", {w});
  };
  const Output here = read(graph, 0), there = read(other, 1);
  const SessionOptions shared{.share_state = true};
  BOOST_TEST(!node.session(graph, shared).run({here})[0].as<bool>()[0]);
  BOOST_CHECK_EXCEPTION(node.session(other, shared).run({there}), Error, [](const Error& error) {
    return error.status().code() == Code::InvalidArgument &&
           error.status().text().find("CPU:0") != std::string::npos;
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::variable_test
