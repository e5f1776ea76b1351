#include "tests/graph/toy_graph.h"

#include "graph/build/shape_context.h"

namespace troupe::testing {
namespace {

OpDefBuilder unary(std::string name) {
  return OpDefBuilder(std::move(name)).input("x: T").output("y: T").attr("T: type").shape(unchanged_shape);
}

OpDefBuilder binary(std::string name) {
  return OpDefBuilder(std::move(name))
      .input("x: T")
      .input("y: T")
      .output("z: T")
      .attr("T: type")
      .shape(broadcast_shape);
}

OpDefBuilder flow(std::string name) {
  return OpDefBuilder(std::move(name)).served_by_step().effect(Effect::Step).shape(unknown_shape);
}

OpDefBuilder source(std::string name) {
  return OpDefBuilder(std::move(name)).output("output: dtype").attr("dtype: type");
}

Status constant_shape(ShapeContext& context) {
  context.set_output(0, PartialShape(context.attr<Tensor>("value").shape()));
  return {};
}

Status declared_shape(ShapeContext& context) {
  context.set_output(0, context.attr<PartialShape>("shape"));
  return {};
}

Status shape_shape(ShapeContext& context) {
  context.set_output(0, context.input(0).known_rank()
                            ? PartialShape::vector(static_cast<int64_t>(context.input(0).rank()))
                            : PartialShape::of_rank(1));
  return {};
}

void add_arithmetic(OpTable& table) {
  const auto add = [&](const OpDefBuilder& builder) { throw_if_failed(table.add(builder)); };
  add(source("Const").attr("value: tensor").shape(constant_shape));
  add(source("Placeholder").attr("shape: shape = ?").shape(declared_shape));
  add(source("Random").effect(Effect::Random).shape(unknown_shape));
  for (const char* name : {"Identity", "StopGradient", "Neg", "Exp"}) add(unary(name));
  add(unary("CheckNumerics").effect(Effect::Guard));
  add(unary("Print").effect(Effect::Io));
  for (const char* name : {"Add", "Mul"}) add(binary(name).commutative());
  add(binary("Pow"));
  for (const char* name : {"Sub", "Div", "MatMul"}) add(binary(name));
  add(OpDefBuilder("Less").input("x: T").input("y: T").output("z: bool").attr("T: type").shape(
      broadcast_shape));
  add(OpDefBuilder("Not").input("x: bool").output("y: bool").shape(unchanged_shape));
  add(OpDefBuilder("AddN")
          .input("inputs: N * T")
          .output("sum: T")
          .attr("T: type")
          .attr("N: int >= 1")
          .commutative()
          .aggregate()
          .shape(unchanged_shape));
  add(OpDefBuilder("Split")
          .input("x: T")
          .output("y: N * T")
          .attr("T: type")
          .attr("N: int >= 1")
          .shape(unknown_shape));
  add(OpDefBuilder("Shape").input("x: T").host_output("shape: int32").attr("T: type").shape(shape_shape));
  add(OpDefBuilder("AddOnHost")
          .host_input("x: T")
          .host_input("y: T")
          .host_output("z: T")
          .attr("T: type")
          .shape(broadcast_shape));
  add(OpDefBuilder("Cast")
          .input("x: SrcT")
          .output("y: DstT")
          .attr("SrcT: type")
          .attr("DstT: type")
          .shape(unchanged_shape));
  add(OpDefBuilder("Transpose")
          .input("x: T")
          .input("perm: int32")
          .output("y: T")
          .attr("T: type")
          .shape(unknown_shape));
  add(OpDefBuilder("NoOp").served_by_step().shape(no_output_shape));
}

void add_variables(OpTable& table) {
  const auto add = [&](const OpDefBuilder& builder) { throw_if_failed(table.add(builder)); };
  add(OpDefBuilder("VariableV2")
          .output("ref: Ref(dtype)")
          .attr("dtype: type")
          .attr("shape: shape")
          .served_by_step()
          .effect(Effect::State)
          .shape(declared_shape));
  for (const char* name : {"Assign", "AssignAdd"})
    add(OpDefBuilder(name)
            .input("ref: Ref(T)")
            .input("value: T")
            .output("output_ref: Ref(T)")
            .attr("T: type")
            .served_by(variable_service)
            .effect(Effect::State)
            .allows_uninitialized_input()
            .shape(unchanged_shape));
  add(OpDefBuilder("VarHandleOp")
          .output("resource: resource")
          .attr("dtype: type")
          .attr("shape: shape")
          .served_by_step()
          .effect(Effect::State)
          .shape(unknown_shape));
  add(OpDefBuilder("ReadVariableOp")
          .input("resource: resource")
          .output("value: dtype")
          .attr("dtype: type")
          .served_by(variable_service)
          .effect(Effect::State)
          .shape(unknown_shape));
}

void add_control_flow(OpTable& table) {
  const auto add = [&](const OpDefBuilder& builder) { throw_if_failed(table.add(builder)); };
  add(flow("Switch")
          .input("data: T")
          .input("pred: bool")
          .output("output_false: T")
          .output("output_true: T")
          .attr("T: type"));
  add(flow("RefSwitch")
          .input("data: Ref(T)")
          .input("pred: bool")
          .output("output_false: Ref(T)")
          .output("output_true: Ref(T)")
          .attr("T: type"));
  add(flow("Merge")
          .input("inputs: N * T")
          .output("output: T")
          .output("value_index: int32")
          .attr("T: type")
          .attr("N: int >= 1"));
  add(flow("Enter")
          .input("data: T")
          .output("output: T")
          .attr("T: type")
          .attr("frame_name: string")
          .attr("is_constant: bool = false")
          .attr("parallel_iterations: int >= 1 = 10"));
  add(flow("RefEnter")
          .input("data: Ref(T)")
          .output("output: Ref(T)")
          .attr("T: type")
          .attr("frame_name: string")
          .attr("is_constant: bool = false")
          .attr("parallel_iterations: int >= 1 = 10"));
  for (const char* name : {"Exit", "NextIteration"})
    add(flow(name).input("data: T").output("output: T").attr("T: type"));
  add(flow("LoopCond").input("input: bool").output("output: bool"));
  add(flow("ControlTrigger"));
}

void add_ends(OpTable& table) {
  const auto add = [&](const OpDefBuilder& builder) { throw_if_failed(table.add(builder)); };
  const auto end = [](std::string name) {
    return flow(std::move(name))
        .attr("tensor_name: string")
        .attr("send_device: string")
        .attr("send_device_incarnation: int")
        .attr("recv_device: string")
        .attr("client_terminated: bool = false");
  };
  const auto send = [&](const char* name) { return end(name).input("tensor: T").attr("T: type"); };
  add(send("_Send").attr("recv_on_host: bool = false"));
  add(send("_HostSend"));
  add(end("_RefSend").input("tensor: Ref(T)").attr("T: type"));
  for (const char* name : {"_Recv", "_HostRecv"})
    add(end(name).output("tensor: tensor_type").attr("tensor_type: type"));
  add(flow("_Arg").output("output: T").attr("T: type").attr("index: int >= 0"));
  add(flow("_Retval").input("input: T").attr("T: type").attr("index: int >= 0"));
}

}  // namespace

std::shared_ptr<const OpTable> toy_ops() {
  auto table = std::make_shared<OpTable>();
  add_arithmetic(*table);
  add_variables(*table);
  add_control_flow(*table);
  add_ends(*table);
  return table;
}

Output ToyGraph::add(const std::string& name, ToyNode node) {
  NodeSpec spec;
  spec.name = name;
  spec.op = std::move(node.op);
  spec.inputs = std::move(node.inputs);
  spec.attrs = std::move(node.attrs);
  spec.control_inputs = std::move(node.control);
  spec.device = std::move(node.device);
  spec.colocate_with = std::move(node.colocate_with);
  return {value_or_throw(graph_.add(std::move(spec))), 0};
}

Output ToyGraph::constant(const std::string& name, float value, const std::vector<NodeId>& control) {
  return add(name, {"Const", {}, {{"dtype", f32}, {"value", Tensor::scalar(value)}}, control, "", {}});
}

Output ToyGraph::variable(const std::string& name, const std::string& device) {
  return add(name, {"VariableV2", {}, {{"dtype", f32}, {"shape", PartialShape::scalar()}}, {}, device, {}});
}

Output ToyGraph::enter(const std::string& name, Output data, const std::string& frame, bool is_constant) {
  return add(name, {graph_.type(data).is_ref ? "RefEnter" : "Enter",
                    {data},
                    {{"frame_name", frame}, {"is_constant", is_constant}},
                    {},
                    "",
                    {}});
}

}  // namespace troupe::testing
