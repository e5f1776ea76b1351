#include "tests/graph/flow_graph.h"

#include "graph/build/shape_context.h"

namespace troupe::testing {
namespace {

OpDefBuilder flow_op(std::string name) {
  return OpDefBuilder(std::move(name)).served_by_step().effect(Effect::Step).shape(unknown_shape);
}

/// The ops that the partitioner adds.
void add_partition_ops(OpTable& table) {
  const auto end = [](std::string name) {
    return flow_op(std::move(name))
        .attr("tensor_name: string = ''")
        .attr("send_device: string = ''")
        .attr("send_device_incarnation: int = 0")
        .attr("recv_device: string = ''");
  };
  throw_if_failed(
      table.add(end("_Send").input("data: T").attr("T: type").attr("recv_on_host: bool = false")));
  throw_if_failed(table.add(end("_Recv").output("data: tensor_type").attr("tensor_type: type")));
  throw_if_failed(table.add(OpDefBuilder("Const")
                                .output("output: dtype")
                                .attr("dtype: type")
                                .attr("value: tensor")
                                .shape(unknown_shape)));
  throw_if_failed(table.add(
      OpDefBuilder("Identity").input("input: T").output("output: T").attr("T: type").shape(unknown_shape)));
}

}  // namespace

std::shared_ptr<const OpTable> flow_ops() {
  auto table = std::make_shared<OpTable>();
  const auto add = [&](const OpDefBuilder& builder) { throw_if_failed(table->add(builder)); };
  add(OpDefBuilder("Op")
          .input("inputs: N * int64")
          .output("output: int64")
          .attr("N: int >= 0")
          .shape(unknown_shape));
  add(OpDefBuilder("Increment").input("x: int64").output("y: int64").shape(unknown_shape));
  add(OpDefBuilder("Below").input("x: int64").output("y: int64").attr("limit: int").shape(unknown_shape));
  add(flow_op("Switch")
          .input("data: T")
          .input("pred: int64")
          .output("no: T")
          .output("yes: T")
          .attr("T: type"));
  add(flow_op("Merge")
          .input("inputs: N * T")
          .output("output: T")
          .output("index: int64")
          .attr("T: type")
          .attr("N: int >= 1"));
  for (const char* name : {"NextIteration", "Exit", "LoopCond"})
    add(flow_op(name).input("data: T").output("output: T").attr("T: type"));
  add(flow_op("Enter")
          .input("data: T")
          .output("output: T")
          .attr("T: type")
          .attr("frame_name: string")
          .attr("is_constant: bool = false")
          .attr("parallel_iterations: int >= 1 = 10"));
  add(flow_op("ControlTrigger"));
  add_partition_ops(*table);
  return table;
}

int64_t compute(const Node& node, std::span<const int64_t> inputs) {
  if (node.type() == "Increment") return inputs[0] + 1;
  if (node.type() == "Below") return inputs[0] < node.attrs.get<int64_t>("limit");
  if (node.type() != "Op") return inputs.empty() ? 0 : inputs[0];
  uint64_t hash = std::hash<std::string>{}(node.name);  // the name is equal in every partition
  for (const int64_t input : inputs) hash = frame_key(hash, static_cast<uint64_t>(input), 1);
  return static_cast<int64_t>(hash);
}

Output FlowGraph::add(const std::string& op, std::vector<Output> inputs, std::vector<NodeId> control,
                      Attributes attrs) {
  NodeSpec spec;
  spec.name = "n" + std::to_string(graph_.size());
  spec.op = op;
  spec.attrs = std::move(attrs);
  spec.inputs = std::move(inputs);
  spec.control_inputs = std::move(control);
  return {value_or_throw(graph_.add(std::move(spec))), 0};
}

Output FlowGraph::enter(Output data, const std::string& frame, bool is_constant,
                        int64_t parallel_iterations) {
  return add(
      "Enter", {data}, {},
      {{"frame_name", frame}, {"is_constant", is_constant}, {"parallel_iterations", parallel_iterations}});
}

void FlowGraph::close(Output merge, Output next) {
  throw_if_failed(graph_.replace_input(merge.node, 1, next));
}

std::shared_ptr<const Plan> FlowGraph::plan(std::vector<Output> feeds, std::vector<Output> fetches) const {
  return value_or_throw(Plan::make(std::make_shared<const Graph>(graph_), feeds, fetches));
}

}  // namespace troupe::testing
