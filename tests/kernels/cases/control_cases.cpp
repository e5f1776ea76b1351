// Samples of the ops of kernels/ops/control, of feeds and of transfers between partitions.
#include "graph/build/host_functions.h"
#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
namespace {

Tensor sample() { return random_doubles(Shape{2, 3}, 1, 9); }
Tensor yes() { return bools({}, {true}); }

void add_control_flow(OpCases& cases) {
  const std::string test = "kernels/state_ops_test.cpp";
  const Attributes frame = {{"frame_name", "f"}};
  Attributes constant = frame;
  constant.set("is_constant", true);
  for (const std::string ref : {"", "Ref"}) {
    cases.served(ref + "Switch", {sample(), yes()}, {}, "[2,3] [2,3]", test);
    cases.bad(ref + "Switch", {sample(), bools(Shape{1}, {true})}, {}, "[1]");
    cases.bad(ref + "Switch", {sample(), int_scalar(1)}, {}, "input pred is int32, expected bool");
    cases.served(ref + "Merge", {sample(), sample()}, {}, "[2,3] []", test);
    cases.served(ref + "Merge", {sample(), random_doubles(Shape{2, 4}, 1, 9)}, {}, "[2,?] []", test);
    cases.served(ref + "Merge", {sample(), doubles({}, {1})}, {}, "? []", test);
    cases.bad(ref + "Merge", {}, {{"T", f32}}, "attribute N is 0");
    cases.bad(ref + "Merge", {sample(), int_scalar(1)}, {}, "int32");
    cases.served(ref + "Enter", {sample()}, frame, ref.empty() ? "?" : "[2,3]", test);
    cases.served(ref + "Enter", {sample()}, constant, "[2,3]", test);
    cases.bad(ref + "Enter", {sample()}, {}, "frame_name");
    for (const char* op : {"Exit", "NextIteration"}) {
      cases.served(ref + op, {sample()}, {}, "[2,3]", test);
      cases.bad(ref + op, {}, {}, "takes 1 inputs, got 0");
    }
  }
  const Attributes call = {
      {"f", FunctionName{"f"}}, {"Tin", std::vector{f64}}, {"Tout", std::vector{f64, f64}}};
  for (const char* op : {"PartitionedCall", "StatefulPartitionedCall"}) {
    cases.served(op, {sample()}, call, "? ?", "actors/step/function_steps_test.cpp");
    cases.bad(op, {sample()}, {{"Tout", std::vector{f64}}}, "attribute f");
    cases.bad(op, {int_scalar(1)}, call, "int32");
  }
  cases.served("LoopCond", {yes()}, {}, "[]", test);
  cases.bad("LoopCond", {bools(Shape{2}, {true, false})}, {}, "[2]");
  cases.served("ControlTrigger", {}, {}, "", "graph/step_state_test.cpp");
  cases.bad("ControlTrigger", {sample()}, {}, "takes 0 inputs, got 1");
  cases.served("RefIdentity", {sample()}, {}, "[2,3]", test);
  cases.bad("RefIdentity", {}, {}, "takes 1 inputs, got 0");
}

void add_edges(OpCases& cases) {
  const Attributes edge = {{"tensor_name", "e"},
                           {"send_device", "a"},
                           {"send_device_incarnation", int64_t{1}},
                           {"recv_device", "b"}};
  Attributes receiver = edge;
  receiver.set("tensor_type", f64);
  for (const char* op : {"_Send", "_HostSend", "_RefSend"}) {
    cases.served(op, {sample()}, edge, "", "graph/partition_test.cpp");
    cases.bad(op, {sample()}, {}, "tensor_name");
    cases.bad(op, {}, edge, "takes 1 inputs, got 0");
  }
  Attributes to_host = edge;
  to_host.set("recv_on_host", true);
  cases.served("_Send", {sample()}, to_host, "", "graph/partition_test.cpp");
  for (const char* op : {"_Recv", "_HostRecv"}) {
    cases.served(op, {}, receiver, "?", "graph/partition_test.cpp");
    cases.bad(op, {}, edge, "tensor_type");
  }
  cases.served("_Arg", {}, {{"T", f64}, {"index", int64_t{0}}}, "?", "graph/toy_graph.cpp");
  cases.bad("_Arg", {}, {{"T", f64}, {"index", int64_t{-1}}}, "-1");
  cases.served("_Retval", {sample()}, {{"index", int64_t{0}}}, "", "graph/simplify_test.cpp");
  cases.bad("_Retval", {sample()}, {{"index", int64_t{-1}}}, "-1");
  cases.served("Placeholder", {}, {{"dtype", f32}}, "?", "kernels/constant_test.cpp");
  cases.served("Placeholder", {}, {{"dtype", f32}, {"shape", PartialShape{2, -1}}}, "[2,?]",
               "kernels/constant_test.cpp");
  cases.bad("Placeholder", {}, {{"dtype", f32}}, "must be fed");
  cases.served("PlaceholderV2", {}, {{"dtype", f32}, {"shape", PartialShape{2, -1}}}, "[2,?]",
               "interop/read_graph_test.cpp");
  cases.bad("PlaceholderV2", {}, {{"dtype", f32}, {"shape", PartialShape{2}}}, "must be fed");
}

/// Returns the token of a function that returns x y for numbers x and y, and has a gradient.
const std::string& product_function() {
  using Numbers = std::span<const Tensor>;
  const auto number = [](Numbers values, size_t i) {
    if (i >= values.size()) throw Error(invalid_argument("the function needs one more number"));
    return values[i].item<double>();
  };
  const HostFunction product = [number](Numbers v) {
    return std::vector{Tensor::scalar(number(v, 0) * number(v, 1))};
  };
  const HostFunction gradient = [number](Numbers v) {
    return std::vector{Tensor::scalar(number(v, 1) * number(v, 2)),
                       Tensor::scalar(number(v, 0) * number(v, 2))};
  };
  static const auto registered_gradient = host_functions().add({gradient, {}, {}});
  static const auto registered = host_functions().add({product, registered_gradient->token, {}});
  return registered->token;
}

void add_functions(OpCases& cases) {
  const std::vector<DType> result = {DType::Double};
  for (const char* const op : {"PyFunc", "PyFuncStateless"}) {
    const std::vector<Tensor> factors = {Tensor::scalar(3.0), Tensor::scalar(-0.5)};
    cases.good(op, factors, {{"token", product_function()}, {"Tout", result}});
    cases.bad(op, factors, {{"token", "nothing"}, {"Tout", result}},
              "this process has no function 'nothing'");
  }
}

void add_checks(OpCases& cases) {
  const Attributes silent = {{"first_n", int64_t{0}}};
  cases.good_in_every_type("Print", {sample(), ints({1}), strings({"a"})}, silent);
  cases.good("Print", {floats(Shape(), {3})}, silent);
  cases.good("Print", {floats(Shape{0, 2}, {})}, silent);
  cases.bad("Print", {}, {}, "takes");
  const Tensor text = strings({"shown by a test\n"}).reshaped(Shape());
  cases.good("PrintV2", {text}, {{"end", ""}});
  cases.bad("PrintV2", {strings({"a", "b"})}, {}, "[2]");
  cases.bad("PrintV2", {text}, {{"output_stream", "file:///tmp/x"}}, "output_stream is 'file:///tmp/x'");
  cases.good("Assert", {bools({}, {true}), sample(), strings({"a"})});
  cases.good("Assert", {bools({}, {true}), floats(Shape{0, 2}, {})}, {{"summarize", int64_t{-1}}});
  const Tensor no = bools({}, {false});
  cases.bad("Assert", {no, ints({1, 2, 3, 4}), strings({"is wrong"})}, {},
            "assertion failed: [1 2 3...] [is wrong]");
  cases.bad("Assert", {no, floats(Shape{2}, {0.5, -1}), floats(Shape{0, 2}, {})},
            {{"summarize", int64_t{-1}}}, "assertion failed: [0.5 -1] []");
  cases.bad("Assert", {bools(Shape{2}, {true, true}), sample()}, {},
            "condition must be a scalar, but its shape is [2]");
}

}  // namespace

void add_control_cases(OpCases& cases) {
  add_control_flow(cases);
  add_edges(cases);
  add_checks(cases);
  add_functions(cases);
}

}  // namespace troupe::test
