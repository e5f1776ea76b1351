// Samples of the ops that no kernel serves: the shapes inferred for them, what they refuse, and the test that runs them.
#include "tests/kernels/all_cases.h"

namespace troupe::test {
namespace {

Tensor box() { return random_doubles(Shape{2, 3}, 1, 9); }
Tensor yes() { return bools({}, {true}); }
Tensor handle() { return strings({"q"}).reshaped(Shape()); }  // of a queue of the first generation

void add_control_flow(OpCases& cases) {
  const std::string test = "kernels/state_ops_test.cpp";
  const Attributes frame = {{"frame_name", "f"}};
  Attributes constant = frame;
  constant.set("is_constant", true);
  for (const std::string ref : {"", "Ref"}) {
    cases.served(ref + "Switch", {box(), yes()}, {}, "[2,3] [2,3]", test);
    cases.bad(ref + "Switch", {box(), bools(Shape{1}, {true})}, {}, "[1]");
    cases.bad(ref + "Switch", {box(), int_scalar(1)}, {}, "input pred is int32, expected bool");
    cases.served(ref + "Merge", {box(), box()}, {}, "[2,3] []", test);
    cases.served(ref + "Merge", {box(), random_doubles(Shape{2, 4}, 1, 9)}, {}, "[2,?] []", test);
    cases.served(ref + "Merge", {box(), doubles({}, {1})}, {}, "? []", test);
    cases.bad(ref + "Merge", {}, {{"T", f32}}, "attribute N is 0");
    cases.bad(ref + "Merge", {box(), int_scalar(1)}, {}, "int32");
    cases.served(ref + "Enter", {box()}, frame, ref.empty() ? "?" : "[2,3]", test);
    cases.served(ref + "Enter", {box()}, constant, "[2,3]", test);
    cases.bad(ref + "Enter", {box()}, {}, "frame_name");
    for (const char* op : {"Exit", "NextIteration"}) {
      cases.served(ref + op, {box()}, {}, "[2,3]", test);
      cases.bad(ref + op, {}, {}, "takes 1 inputs, got 0");
    }
  }
  cases.served("LoopCond", {yes()}, {}, "[]", test);
  cases.bad("LoopCond", {bools(Shape{2}, {true, false})}, {}, "[2]");
  cases.served("ControlTrigger", {}, {}, "", "graph/step_state_test.cpp");
  cases.bad("ControlTrigger", {box()}, {}, "takes 0 inputs, got 1");
  cases.served("RefIdentity", {box()}, {}, "[2,3]", test);
  cases.bad("RefIdentity", {}, {}, "takes 1 inputs, got 0");
}

void add_stacks(OpCases& cases) {
  const std::string test = "kernels/stacks_test.cpp";
  const Attributes floats = {{"elem_type", f32}};
  cases.served("StackV2", {int_scalar(-1)}, floats, "[]", test);
  cases.bad("StackV2", {ints({1, 2})}, floats, "[2]");
  cases.bad("StackV2", {int_scalar(-1)}, {}, "elem_type");
  cases.served("StackPushV2", {box(), box()}, {}, "[2,3]", test);
  cases.bad("StackPushV2", {box()}, {}, "takes 2 inputs, got 1");
  cases.served("StackPopV2", {box()}, floats, "?", test);
  cases.bad("StackPopV2", {box()}, {}, "elem_type");
  cases.served("StackCloseV2", {box()}, {}, "", test);
  cases.bad("StackCloseV2", {}, {}, "takes 1 inputs, got 0");
}

void add_list_makers(OpCases& cases, const std::string& test) {
  const Attributes floats = {{"element_dtype", f32}};
  for (const char* op : {"EmptyTensorList", "TensorListReserve"}) {
    cases.served(op, {int_scalar(-1), int_scalar(2)}, floats, "[]", test);
    cases.bad(op, {int_scalar(-1), int_scalar(2)}, {}, "element_dtype");
    cases.bad(op, {int_scalar(3), int_scalar(2)}, floats, "only -1");
  }
  cases.served("TensorListFromTensor", {box(), int_scalar(-1)}, {}, "[]", test);
  cases.bad("TensorListFromTensor", {box(), ints({2})}, {}, "element_shape is [2]");
}

/// Handles of variants that hold no list.
void add_list_users(OpCases& cases, const std::string& test) {
  const Attributes floats = {{"element_dtype", f32}}, shape = {{"shape_type", i64}};
  const Tensor list = value_or_throw(Tensor::allocate(DType::Variant, Shape{})), number = int_scalar(1);
  const auto add = [&](const char* op, std::vector<Tensor> inputs, const Attributes& attrs,
                       const std::string& shapes) {
    cases.served(op, inputs, attrs, shapes, test);
    cases.bad(op, std::move(inputs), attrs, "not that of a list");
  };
  add("TensorListPushBack", {list, box()}, {}, "[]");
  add("TensorListPopBack", {list, number}, floats, "[] ?");
  add("TensorListSetItem", {list, number, box()}, {}, "[]");
  add("TensorListGetItem", {list, number, number}, floats, "?");
  add("TensorListStack", {list, int_scalar(-1)}, floats, "?");
  add("TensorListLength", {list}, {}, "[]");
  add("TensorListElementShape", {list}, shape, "?");
  add("TensorListResize", {list, number}, {}, "[]");
}

void add_edges(OpCases& cases) {
  const Attributes edge = {{"tensor_name", "e"},
                           {"send_device", "a"},
                           {"send_device_incarnation", int64_t{1}},
                           {"recv_device", "b"}};
  Attributes receiver = edge;
  receiver.set("tensor_type", f64);
  for (const char* op : {"_Send", "_HostSend", "_RefSend"}) {
    cases.served(op, {box()}, edge, "", "graph/partition_test.cpp");
    cases.bad(op, {box()}, {}, "tensor_name");
    cases.bad(op, {}, edge, "takes 1 inputs, got 0");
  }
  for (const char* op : {"_Recv", "_HostRecv"}) {
    cases.served(op, {}, receiver, "?", "graph/partition_test.cpp");
    cases.bad(op, {}, edge, "tensor_type");
  }
  cases.served("_Arg", {}, {{"T", f64}, {"index", int64_t{0}}}, "?", "graph/toy_graph.cpp");
  cases.bad("_Arg", {}, {{"T", f64}, {"index", int64_t{-1}}}, "-1");
  cases.served("_Retval", {box()}, {{"index", int64_t{0}}}, "", "graph/simplify_test.cpp");
  cases.bad("_Retval", {box()}, {{"index", int64_t{-1}}}, "-1");
  cases.served("Placeholder", {}, {{"dtype", f32}}, "?", "kernels/constant_test.cpp");
  cases.served("Placeholder", {}, {{"dtype", f32}, {"shape", PartialShape{2, -1}}}, "[2,?]",
               "kernels/constant_test.cpp");
  cases.bad("Placeholder", {}, {{"dtype", f32}}, "must be fed");
  cases.served("PlaceholderV2", {}, {{"dtype", f32}, {"shape", PartialShape{2, -1}}}, "[2,?]",
               "interop/read_graph_test.cpp");
  cases.bad("PlaceholderV2", {}, {{"dtype", f32}, {"shape", PartialShape{2}}}, "must be fed");
}

void add_variables(OpCases& cases) {
  const std::string test = "kernels/state_ops_test.cpp";
  for (const char* op : {"VariableV2", "Variable", "VarHandleOp"}) {
    cases.served(op, {}, {{"dtype", f32}, {"shape", PartialShape{2, 3}}}, "[2,3]", test);
    cases.bad(op, {}, {{"dtype", f32}}, "shape");
  }
  cases.served("VariableV2", {}, {{"dtype", f32}, {"shape", PartialShape::scalar()}}, "[]", test);
  cases.served("Variable", {}, {{"dtype", f32}, {"shape", PartialShape::scalar()}}, "?", test);
  cases.served("ReadVariableOp", {box()}, {{"dtype", f64}}, "[2,3]", test);
  cases.bad("ReadVariableOp", {box()}, {}, "dtype");
  cases.served("IsVariableInitialized", {box()}, {}, "[]", test);
  cases.bad("IsVariableInitialized", {}, {}, "takes 1 inputs, got 0");
  cases.served("VarIsInitializedOp", {box()}, {}, "[]", test);
  cases.bad("VarIsInitializedOp", {}, {}, "takes 1 inputs, got 0");
}

void add_queues(OpCases& cases) {
  const std::string test = "actors/queue_steps_test.cpp";
  const Attributes types = {{"component_types", std::vector<DType>{f64, i32}}};
  for (const std::string v : {"", "V2"}) {
    cases.served("FIFOQueue" + v, {}, types, "[]", test);
    cases.bad("FIFOQueue" + v, {}, {{"component_types", std::vector<DType>()}}, "component_types");
    for (const char* op : {"QueueEnqueue", "QueueEnqueueMany"}) {
      cases.served(op + v, {handle(), box(), int_scalar(1)}, {}, "", test);
      cases.bad(op + v, {handle()}, {}, "Tcomponents");
    }
    cases.served("QueueDequeue" + v, {handle()}, types, "? ?", test);
    cases.bad("QueueDequeue" + v, {handle()}, {}, "component_types");
    for (const char* op : {"QueueDequeueMany", "QueueDequeueUpTo"}) {
      cases.served(op + v, {handle(), int_scalar(3)}, types, "? ?", test);
      cases.bad(op + v, {handle(), ints({3})}, types, "[1]");
    }
    cases.served("QueueClose" + v, {handle()}, {}, "", test);
    cases.bad("QueueClose" + v, {}, {}, "takes 1 inputs, got 0");
    cases.served("QueueSize" + v, {handle()}, {}, "[]", test);
    cases.bad("QueueSize" + v, {}, {}, "takes 1 inputs, got 0");
  }
}

void add_replicas(OpCases& cases) {
  const Tensor round = Tensor::scalar<int64_t>(0), samples = Tensor::scalar<int64_t>(8);
  const Attributes attrs = {{"N", int64_t{1}},
                            {"rule", "ApplyGradientDescent"},
                            {"shard", int64_t{0}},
                            {"shards", int64_t{2}},
                            {"Tvalues", std::vector<DType>{f64, f64}}};
  Attributes negative = attrs;
  negative.set("shard", int64_t{-1});
  for (const std::string op : {"SyncReplicasApply", "ResourceSyncReplicasApply"}) {
    cases.served(op, {round, box(), doubles({}, {1}), box(), samples}, attrs, "",
                 "actors/replicas_steps_test.cpp");
    cases.bad(op, {round, box(), doubles({}, {1}), box(), samples}, negative, "-1");
    cases.bad(op, {Tensor::vector<int64_t>({0}), box(), doubles({}, {1}), box(), samples}, attrs, "[1]");
    cases.bad(op, {round, box(), doubles({}, {1}), box(), box()}, attrs, "samples is double");
  }
}

}  // namespace

void add_served_cases(OpCases& cases) {
  add_control_flow(cases);
  add_stacks(cases);
  add_list_makers(cases, "golden/list_graphs.py");
  add_list_users(cases, "golden/list_graphs.py");
  add_edges(cases);
  add_variables(cases);
  add_queues(cases);
  add_replicas(cases);
}

}  // namespace troupe::test
