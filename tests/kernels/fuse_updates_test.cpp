// Tests that updates of variables are fused where one node can carry them out, and that no others are. The samples of _FusedApply
// compare what it computes with the single ops.
#include "graph/passes/fuse/fuse_updates.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>

#include "graph/build/scope.h"
#include "graph/passes/subgraph.h"
#include "kernels/constructors.h"
#include "tests/support/ops/op_library.h"

namespace troupe::test::fuse_updates_test {
namespace {

struct Fixture {
  Graph graph{op_library()->ops};
  const Scope g{graph};
  std::vector<DeviceId> device;

  Output variable(const Shape& shape) {
    return g.add_one("VariableV2", {}, {{"dtype", f32}, {"shape", PartialShape(shape)}});
  }
  Output fed(const PartialShape& shape) { return placeholder(g, f32, shape); }
  Output number(float value) { return g.constant(Tensor::scalar(value)); }
  NodeId descend(Output of, Output rate, Output gradient) {
    return g.add("ApplyGradientDescent", {of, rate, gradient});
  }
  NodeId descend(const Shape& shape, float rate = 0.5f) {
    return descend(variable(shape), number(rate), fed(PartialShape(shape)));
  }

  /// Fuses what a step with these targets runs. Returns how many nodes were removed.
  size_t fused(std::vector<NodeId> targets) {
    Subgraph step = value_or_throw(cut_subgraph(graph, {feeds(), {}, std::move(targets)}));
    if (device.empty()) device.assign(step.graph.size(), 0);
    const size_t removed = value_or_throw(fuse_updates(step.graph, device, [](const Node& node, DeviceId) {
      return op_library()->kernels.has(node, "CPU");
    }));
    BOOST_TEST(device.size() == step.graph.size());
    result.emplace(std::move(step.graph));
    return removed;
  }
  std::vector<const Node*> of_op(std::string_view op) const {
    std::vector<const Node*> found;
    for (const Node& node : result->nodes())
      if (node.type() == op) found.push_back(&node);
    return found;
  }

  std::optional<Graph> result;

 private:
  std::vector<Output> feeds() const {
    std::vector<Output> all;
    for (const Node& node : graph.nodes())
      if (node.type() == "Placeholder") all.push_back({node.id, 0});
    return all;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(fusing_updates, Fixture)

BOOST_AUTO_TEST_CASE(updates_become_one_for_which_others_wait) {
  const NodeId first = descend({2, 3}), second = descend({4}), third = descend({});
  const NodeId waits = g.with_control({{first, Output::control}, {third, Output::control}}).add("NoOp", {});
  BOOST_TEST(fused({first, second, third, waits}) == 2u);
  const auto updates = of_op("_FusedApply");
  BOOST_TEST_REQUIRE(updates.size() == 1u);
  const Node& node = *updates[0];
  BOOST_TEST(node.name == graph.node(third).name);
  BOOST_TEST(node.attrs.get<std::string>("method") == "GradientDescent");
  BOOST_TEST(node.attrs.get<int64_t>("N") == 3);
  BOOST_TEST_REQUIRE(node.inputs.size() == 7u);
  for (size_t i = 0; i < 7; ++i) BOOST_TEST(node.expects_ref[i] == (i < 3));
  const std::vector<PartialShape> shapes = {{2, 3}, {4}, PartialShape::scalar()};
  for (size_t k = 0; k < 3; ++k) {
    BOOST_TEST(result->shape(node.inputs[k]).text() == shapes[k].text());
    BOOST_TEST(result->shape(node.inputs[4 + k]).text() == shapes[k].text());
  }
  BOOST_TEST((result->find(graph.node(waits).name)->control_inputs == std::vector{node.id}));
}

BOOST_AUTO_TEST_CASE(variables_of_one_update_follow_each_other) {
  std::vector<Output> variables;
  std::vector<NodeId> targets;
  for (int64_t size : {2, 3}) {
    const std::vector<Output> own = {variable(Shape{size}), variable(Shape{size}), variable(Shape{size})};
    std::vector<Output> inputs = own;
    for (int i = 0; i < 6; ++i) inputs.push_back(number(0.1f * static_cast<float>(i)));
    inputs.push_back(fed({size}));
    targets.push_back(g.add("ApplyAdam", inputs, {{"use_nesterov", true}}));
    variables.insert(variables.end(), own.begin(), own.end());
  }
  BOOST_TEST(fused(targets) == 1u);
  const Node& node = *of_op("_FusedApply").at(0);
  BOOST_TEST(node.attrs.get<bool>("use_nesterov"));
  BOOST_TEST(node.attrs.get<std::vector<DType>>("scalar_types").size() == 6u);
  for (size_t i = 0; i < variables.size(); ++i)
    BOOST_TEST(result->node(node.inputs[i].node).name == graph.node(variables[i].node).name);
}

BOOST_AUTO_TEST_CASE(resources_and_sums_are_fused) {
  std::vector<NodeId> targets;
  for (int64_t size : {2, 3}) {
    const Output variable = g.add_one("VarHandleOp", {}, {{"dtype", f32}, {"shape", PartialShape{size}}});
    targets.push_back(g.add("AssignSubVariableOp", {variable, fed({size})}, {{"dtype", f32}}));
    targets.push_back(g.add("AssignAdd", {this->variable(Shape{size}), fed({size})}));
  }
  BOOST_TEST(fused(targets) == 2u);
  BOOST_TEST(of_op("_FusedResourceApply").at(0)->attrs.get<std::string>("method") == "AssignSub");
  BOOST_TEST(of_op("_FusedApply").at(0)->attrs.get<std::string>("method") == "AssignAdd");
}

BOOST_AUTO_TEST_CASE(unlike_updates_stay_apart) {
  const NodeId plain = descend({2}), other_rate = descend({2}, 0.25f), large = descend({513, 512});
  const NodeId unknown = descend(variable({2}), number(0.5f), fed({unknown_dim}));
  const NodeId used = descend({2});
  const NodeId uses = g.add("Identity", {Output{used, 0}});
  const NodeId integers =
      g.add("AssignAdd", {g.add_one("VariableV2", {}, {{"dtype", i32}, {"shape", PartialShape{2}}}),
                          g.constant(Tensor::vector<int32_t>({1, 2}))});
  const NodeId more_integers =
      g.add("AssignAdd", {g.add_one("VariableV2", {}, {{"dtype", i32}, {"shape", PartialShape{2}}}),
                          g.constant(Tensor::vector<int32_t>({1, 2}))});
  BOOST_TEST(fused({plain, other_rate, large, unknown, uses, integers, more_integers}) == 0u);
}

BOOST_AUTO_TEST_CASE(updates_that_depend_on_others_stay_behind_them) {
  const Output rate = number(0.5f), twice = variable({2});
  const NodeId first = descend(twice, rate, fed({2})), second = descend({3});
  const NodeId again = descend(twice, rate, fed({2}));
  const Scope after = g.with_control({{first, Output::control}});
  const NodeId late = after.add("ApplyGradientDescent", {variable({2}), rate, fed({2})});
  const Output sum = after.add_one("Neg", {fed({2})});
  const NodeId later = descend(variable({2}), rate, sum);
  BOOST_TEST(fused({first, second, again, late, later}) == 1u);
  const Node& node = *of_op("_FusedApply").at(0);
  BOOST_TEST(node.name == graph.node(second).name);
  BOOST_TEST(of_op("ApplyGradientDescent").size() == 3u);
  BOOST_TEST((result->find(graph.node(late).name)->control_inputs == std::vector{node.id}));
}

BOOST_AUTO_TEST_CASE(updates_on_a_branch_stay_alone) {
  const Output branch = g.add_one("Switch", {fed({2}), placeholder(g, DType::Bool, PartialShape::scalar())});
  const NodeId dead = descend(variable({2}), number(0.5f), branch), alive = descend({2}),
               other = descend({2});
  BOOST_TEST(fused({dead, alive, other}) == 1u);
  BOOST_TEST(of_op("ApplyGradientDescent").size() == 1u);
}

BOOST_AUTO_TEST_CASE(devices_are_not_mixed) {
  const NodeId here = descend({2}), there = descend({2}), also_there = descend({2});
  Subgraph step = value_or_throw(cut_subgraph(graph, {{}, {}, {here, there, also_there}}));
  device.assign(step.graph.size(), 0);
  for (const NodeId id : {there, also_there}) device[step.graph.find(graph.node(id).name)->id] = 1;
  const auto everywhere = [](const Node&, DeviceId) { return true; };
  BOOST_TEST(value_or_throw(fuse_updates(step.graph, device, everywhere)) == 1u);
  BOOST_TEST(device[step.graph.find(graph.node(here).name)->id] == 0u);
  BOOST_TEST(device[step.graph.find(graph.node(also_there).name)->id] == 1u);
}

BOOST_AUTO_TEST_CASE(a_node_carries_out_a_limited_number_of_updates) {
  std::vector<NodeId> targets;
  for (int i = 0; i < 70; ++i) targets.push_back(descend({2}));
  BOOST_TEST(fused(targets) == 68u);
  const auto updates = of_op("_FusedApply");
  BOOST_TEST_REQUIRE(updates.size() == 2u);
  BOOST_TEST(updates[0]->attrs.get<int64_t>("N") == 64);
  BOOST_TEST(updates[1]->attrs.get<int64_t>("N") == 6);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::fuse_updates_test
