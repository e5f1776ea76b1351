#include "graph/build/graph_text.h"

#include <boost/test/unit_test.hpp>

#include "graph/passes/partition/partition.h"
#include "tests/graph/toy_graph.h"

namespace troupe::graph_text_test {

using testing::ToyGraph;

BOOST_AUTO_TEST_SUITE(text_of_graphs)

BOOST_AUTO_TEST_CASE(one_line_a_node) {
  ToyGraph g;
  const Output x =
      g.add("x", {"Placeholder", {}, {{"dtype", f32}, {"shape", PartialShape{-1, 3}}}, {}, "/job:ps", {}});
  const Output split = g.add("split", {"Split", {x}, {{"N", int64_t{2}}}, {}, "", {}});
  const Output v = g.variable("v");
  g.add("y", {"Add", {split, {split.node, 1}}, {}, {v.node}, "", {"v"}});
  g.add("c",
        {"Const", {}, {{"dtype", i32}, {"value", Tensor::vector<int32_t>({1, 2, 3, 4, 5})}}, {}, "", {}});
  g.enter("enter", x, "loop", true);
  BOOST_TEST(graph_text(g.graph()) ==
             "x = Placeholder() dtype=float shape=[?,3] : float[?,3] @/job:ps\n"
             "split = Split(x) N=2 : float?, float?\n"
             "v = VariableV2() dtype=float shape=[] : ref float[]\n"
             "y = Add(split, split:1, ^v) : float? colocated with v\n"
             "c = Const() dtype=int32 value=int32[5]{1,2,3,4,...} : int32[5]\n"
             "enter = Enter(x) frame_name=\"loop\" is_constant=true : float?\n");
}

// x -> y, where y is on another device
BOOST_AUTO_TEST_CASE(partitions_can_be_read) {
  ToyGraph g;
  g.op("y", "Neg", {g.constant("x", 1.5f)});
  std::vector<DeviceInfo> devices(2);
  devices[0].name = value_or_throw(DeviceName::parse("/job:w/replica:0/task:0/device:CPU:0"));
  devices[1].name = value_or_throw(DeviceName::parse("/job:w/replica:0/task:1/device:CPU:0"));
  const auto parts = value_or_throw(partition(g.graph(), {0, 1}, devices));
  const std::string ends =
      " recv_device=\"/job:w/replica:0/task:1/device:CPU:0\" "
      "send_device=\"/job:w/replica:0/task:0/device:CPU:0\" "
      "send_device_incarnation=0 tensor_name=\"edge_0_x\"";
  BOOST_TEST(graph_text(parts[0].graph) ==
             "x = Const() dtype=float value=float[]{1.5} : float[]\nx/_send_0 = _Send(x)" + ends + "\n");
  BOOST_TEST(graph_text(parts[1].graph) ==
             "x/_recv_0 = _Recv()" + ends + " tensor_type=float : float[]\ny = Neg(x/_recv_0) : float[]\n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::graph_text_test
