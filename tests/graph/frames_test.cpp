#include "graph/build/frames.h"

#include <boost/test/unit_test.hpp>

#include "tests/graph/toy_graph.h"

namespace troupe::frames_test {

using testing::says;
using testing::ToyGraph;

BOOST_AUTO_TEST_SUITE(frames)

// x -> Enter(outer) -> Merge -> Switch(LoopCond) -> Enter(inner) -> Neg -> Exit -> NextIteration -> Merge
//                                  \-> Exit -> y
BOOST_AUTO_TEST_CASE(nested_loops) {
  ToyGraph g;
  const Output x = g.placeholder("x"), limit = g.constant("limit", 5);
  const Output enter = g.enter("enter", x, "outer"), top = g.enter("top", limit, "outer", true);
  const Output merge = g.loop_merge("merge", enter), less = g.op("less", "Less", {merge, top});
  const Output cond = g.op("cond", "LoopCond", {less}), branch = g.op("branch", "Switch", {merge, cond});
  const Output inner = g.enter("inner", {branch.node, 1}, "inner"), neg = g.op("neg", "Neg", {inner});
  const Output inner_exit = g.op("inner_exit", "Exit", {neg});
  g.close(merge, g.op("next", "NextIteration", {inner_exit}));
  const Output exit = g.op("exit", "Exit", {{branch.node, 0}}), y = g.op("y", "Neg", {exit});

  const FrameInfo info = value_or_throw(assign_frames(g.graph()));
  BOOST_REQUIRE(info.frames.size() == 3);
  BOOST_TEST(info.frames[1].name == "outer");
  BOOST_TEST(info.frames[2].name == "inner");
  BOOST_TEST(info.frames[2].parent == 1);
  BOOST_TEST(info.frames[2].depth == 2);
  BOOST_TEST(info.frames[1].enters.size() == 2);
  BOOST_TEST(info.frames[1].parallel_iterations == 10);
  for (const auto& [output, frame, outputs] : {std::tuple(x, 0, 0),
                                               {enter, 0, 1},
                                               {merge, 1, 1},
                                               {cond, 1, 1},
                                               {inner, 1, 2},
                                               {neg, 2, 2},
                                               {inner_exit, 2, 1},
                                               {exit, 1, 0},
                                               {y, 0, 0}}) {
    BOOST_TEST_CONTEXT(g.graph().name_of(output)) {
      BOOST_TEST(info.of_node[output.node] == static_cast<FrameId>(frame));
      BOOST_TEST(info.of_outputs[output.node] == static_cast<FrameId>(outputs));
    }
  }
}

// Two Enters with the same frame name open the same frame. Under different parents the name means two frames.
BOOST_AUTO_TEST_CASE(a_name_counts_within_its_parent) {
  ToyGraph g;
  const Output x = g.constant("x", 1);
  g.enter("a", g.enter("in_p", x, "p"), "loop");
  g.enter("b", g.enter("in_q", x, "q"), "loop");
  g.enter("c", g.enter("also_in_q", x, "q"), "loop");
  const FrameInfo info = value_or_throw(assign_frames(g.graph()));
  BOOST_TEST(info.frames.size() == 5);
  BOOST_TEST(info.of_outputs[g.id("a")] != info.of_outputs[g.id("b")]);
  BOOST_TEST(info.of_outputs[g.id("b")] == info.of_outputs[g.id("c")]);
}

// x -> Enter(loop) -> add <- y
BOOST_AUTO_TEST_CASE(crossed_frames_name_both) {
  ToyGraph g;
  const Output x = g.constant("x", 1), y = g.constant("y", 1);
  g.op("add", "Add", {g.enter("enter", x, "loop"), y});
  const Status status = assign_frames(g.graph()).status();
  BOOST_TEST((status.code() == Code::InvalidArgument));
  BOOST_TEST(says(status,
                  "[Add] add: the node has inputs from different frames: enter (frame 'loop') and y (the "
                  "outermost frame)"));
}

// x -> Enter(loop) -> add <- y, and y -> neg
BOOST_AUTO_TEST_CASE(only_what_roots_need_is_checked) {
  ToyGraph g;
  const Output x = g.constant("x", 1), y = g.constant("y", 1);
  const Output enter = g.enter("enter", x, "loop"), add = g.op("add", "Add", {enter, y});
  const Output exit = g.op("exit", "Exit", {y}), neg = g.op("neg", "Neg", {y});
  const FrameInfo info = value_or_throw(assign_frames(g.graph(), {neg}));
  BOOST_TEST(info.of_outputs[neg.node] == root_frame);
  BOOST_TEST(info.of_outputs[add.node] == info.of_outputs[enter.node]);
  BOOST_TEST(
      says(assign_frames(g.graph(), {add}).status(), "add: the node has inputs from different frames"));
  BOOST_TEST(says(assign_frames(g.graph(), {exit}).status(), "exit: the node is outside every loop"));
}

// A control edge from one loop to another
BOOST_AUTO_TEST_CASE(control_edges_count_too) {
  ToyGraph g;
  const Output x = g.constant("x", 1), a = g.enter("a", x, "one"), b = g.enter("b", x, "two");
  g.op("neg", "Neg", {a}, {b.node});
  BOOST_TEST(says(assign_frames(g.graph()).status(), "a (frame 'one') and b (frame 'two')"));
}

// The back edge of the outer loop comes from the inner loop.
BOOST_AUTO_TEST_CASE(a_back_edge_from_another_frame) {
  ToyGraph g;
  const Output merge = g.loop_merge("merge", g.enter("enter", g.constant("x", 1), "outer"));
  g.close(merge, g.op("next", "NextIteration", {g.enter("inner", merge, "inner")}));
  BOOST_TEST(says(
      assign_frames(g.graph()).status(),
      "[Merge] merge: the node has inputs from different frames: next (frame 'inner' in frame 'outer')"));
}

BOOST_AUTO_TEST_CASE(loop_ops_outside_loops) {
  for (const char* op : {"Exit", "NextIteration"}) {
    ToyGraph g;
    g.op("it", op, {g.constant("x", 1)});
    BOOST_TEST(says(assign_frames(g.graph()).status(), "it: the node is outside every loop"));
  }
  ToyGraph g;
  g.enter("enter", g.constant("x", 1), "");
  BOOST_TEST(says(assign_frames(g.graph()).status(), "enter: attribute frame_name is empty"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::frames_test
