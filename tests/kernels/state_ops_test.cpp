// Tests of variables and references in steps, and of loops and branches built op by op.
#include <boost/test/unit_test.hpp>

#include "graph/build/gradients.h"
#include "graph/build/scope.h"
#include "tests/support/local_graph.h"
#include "tests/support/ops/run_op.h"

namespace troupe::test::state_ops_test {
namespace {

struct Fixture : LocalGraph {
  Output variable(const std::string& op) {
    return g.add_one(op, {}, {{"dtype", f32}, {"shape", PartialShape::scalar()}});
  }
  Tensor run(Output fetch, const Feeds& feeds = {}) {
    const auto results = value_or_throw(runtime.run(graph, feeds, {fetch}));
    return results.empty() ? Tensor() : results[0];
  }
  float value(Output fetch, const Feeds& feeds = {}) { return run(fetch, feeds).as<float>()[0]; }
  bool truth(Output fetch) { return run(fetch).as<bool>()[0]; }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(state_ops, Fixture)

BOOST_AUTO_TEST_CASE(a_reference_has_a_value_once_it_is_assigned) {
  for (const char* op : {"VariableV2", "Variable"}) {
    const Output v = variable(op), has_value = g.add_one("IsVariableInitialized", {v});
    BOOST_TEST(!truth(has_value));
    const auto early = runtime.run(graph, {}, {v});
    BOOST_TEST((early.status().code() == Code::FailedPrecondition), early.status().message());
    BOOST_TEST(value(g.add_one("Assign", {v, number(3)})) == 3);
    BOOST_TEST(truth(has_value));
    BOOST_TEST(value(g.add_one("Identity", {v})) == 3);
  }
}

BOOST_AUTO_TEST_CASE(a_resource_has_a_value_once_it_is_assigned) {
  const Output v = variable("VarHandleOp"), has_value = g.add_one("VarIsInitializedOp", {v});
  const Output read = g.add_one("ReadVariableOp", {v}, {{"dtype", f32}});
  BOOST_TEST(!truth(has_value));
  BOOST_TEST((runtime.run(graph, {}, {read}).status().code() == Code::FailedPrecondition));
  run({g.add("AssignVariableOp", {v, number(3)}), Output::control});
  BOOST_TEST(truth(has_value));
  BOOST_TEST(value(read) == 3);
}

// The variable of a handle is known only when the handle arrives.
BOOST_AUTO_TEST_CASE(a_resource_of_another_type_is_refused) {
  const Output v = variable("VarHandleOp"), wrong = g.constant(Tensor::scalar(1.0));
  run({g.add("AssignVariableOp", {v, number(3)}), Output::control});
  const Output update{g.add("AssignAddVariableOp", {v, wrong}), Output::control},
      assign{g.add("AssignVariableOp", {v, wrong}), Output::control},
      step{g.add("ResourceApplyGradientDescent", {v, wrong, wrong}), Output::control},
      read = g.add_one("ReadVariableOp", {v}, {{"dtype", f64}});
  for (const Output fetch : {update, assign, step, read}) {
    const Status status = runtime.run(graph, {}, {fetch}).status();
    BOOST_TEST((status.code() == Code::InvalidArgument), status.message());
    BOOST_TEST(status.text().find("is float, ") != std::string::npos, status.message());
    BOOST_TEST(status.op() == graph.node(fetch.node).type());
  }
  BOOST_TEST(value(g.add_one("ReadVariableOp", {v}, {{"dtype", f32}})) == 3);
}

BOOST_AUTO_TEST_CASE(rows_of_a_resource_are_looked_up_and_differentiated) {
  const Output v = g.add_one("VarHandleOp", {}, {{"dtype", f32}, {"shape", PartialShape{unknown_dim, 2}}});
  run({g.add("AssignVariableOp", {v, g.constant(floats(Shape{3, 2}, {1, 2, 3, 4, 5, 6}))}), Output::control});
  const Output rows = g.add_one("ResourceGather", {v, g.constant(ints({2, 0, 2}))}, {{"dtype", f32}});
  BOOST_TEST(text_of(run(rows)) == text_of(floats(Shape{3, 2}, {5, 6, 1, 2, 5, 6})));
  BOOST_TEST(text_of(run(g.add_one("VariableShape", {v}))) == text_of(ints({3, 2})));
  const Output gradient = dense(g, gradients(g, {rows}, {v})[0], v);
  BOOST_TEST(text_of(run(gradient)) == text_of(floats(Shape{3, 2}, {1, 1, 0, 0, 2, 2})));
  const Output wrong = g.add_one("ResourceGather", {v, g.constant(ints({0}))}, {{"dtype", f64}});
  BOOST_TEST((runtime.run(graph, {}, {wrong}).status().code() == Code::InvalidArgument));
}

// RefSwitch -> RefIdentity -> AssignAdd -> RefMerge: the branch that is taken writes the variable, and the output refers to it.
BOOST_AUTO_TEST_CASE(a_reference_through_a_branch_is_written_there) {
  const Output v = variable("VariableV2");
  run(g.add_one("Assign", {v, number(1)}));
  const Output up = g.add_one("Placeholder", {}, {{"dtype", DType::Bool}, {"shape", PartialShape::scalar()}});
  const NodeId fork = g.add("RefSwitch", {v, up});
  const Output added = g.add_one("AssignAdd", {g.add_one("RefIdentity", {{fork, 1}}), number(10)});
  const Output taken = g.add_one("AssignSub", {g.add_one("RefIdentity", {{fork, 0}}), number(1)});
  const NodeId merge = g.add("RefMerge", {taken, added});
  BOOST_TEST(value({merge, 0}, {{up, Tensor::scalar(true)}}) == 11);
  BOOST_TEST(value(v) == 11);
  BOOST_TEST(value({merge, 0}, {{up, Tensor::scalar(false)}}) == 10);
  BOOST_TEST(run({merge, 1}, {{up, Tensor::scalar(false)}}).as<int32_t>()[0] == 0);
}

// Enter -> Merge -> Switch -> x2 -> NextIteration -> Merge, while below the limit; Exit.
BOOST_AUTO_TEST_CASE(a_loop_doubles_until_the_limit) {
  const Attributes frame = {{"frame_name", "doubling"}};
  Attributes constant = frame;
  constant.set("is_constant", true);
  const Output entered = g.add_one("Enter", {number(1)}, frame),
               limit = g.add_one("Enter", {number(100)}, constant);
  const NodeId merge = g.add("Merge", {entered, entered});
  const Output more = g.add_one("LoopCond", {g.add_one("Less", {{merge, 0}, limit})});
  const NodeId fork = g.add("Switch", {{merge, 0}, more});
  const Output next = g.add_one("NextIteration", {g.add_one("Add", {{fork, 1}, {fork, 1}})});
  BOOST_TEST(graph.replace_input(merge, 1, next).ok());
  BOOST_TEST(value(g.add_one("Exit", {{fork, 0}})) == 128);
}

// The same loop on a variable that is passed as a reference: RefEnter -> RefMerge -> RefSwitch -> AssignAdd ->
// RefNextIteration.
BOOST_AUTO_TEST_CASE(a_loop_carries_a_reference) {
  const Output v = variable("VariableV2");
  run(g.add_one("Assign", {v, number(1)}));
  const Attributes frame = {{"frame_name", "counting"}};
  const Output entered = g.add_one("RefEnter", {v}, frame);
  const NodeId merge = g.add("RefMerge", {entered, entered});
  const Scope inside = g.with_control({Output{merge, 0}});
  const auto constant = [&](float value) {
    return inside.add_one("Const", {}, {{"dtype", f32}, {"value", Tensor::scalar(value)}});
  };
  const Output more = g.add_one("LoopCond", {g.add_one("Less", {{merge, 0}, constant(5)})});
  const NodeId fork = g.add("RefSwitch", {{merge, 0}, more});
  const Output next = g.add_one("RefNextIteration", {g.add_one("AssignAdd", {{fork, 1}, constant(1)})});
  BOOST_TEST(graph.replace_input(merge, 1, next).ok());
  BOOST_TEST(value(g.add_one("RefExit", {{fork, 0}})) == 5);
  BOOST_TEST(value(v) == 5);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::state_ops_test
