// Functions put in place where they are called: names, types, order of effects, and functions that cannot be.
#include <boost/test/unit_test.hpp>

#include "graph/build/frames.h"
#include "graph/build/graph_text.h"
#include "tests/interop/graph_file.h"

namespace troupe::test::functions_test {
namespace {

std::string function(const std::string& name, const std::string& inputs, const std::string& outputs,
                     const std::string& nodes, const std::string& results) {
  std::string body = nodes;
  for (size_t at = 0; (at = body.find("node {", at)) != std::string::npos; at += 9)
    body.insert(at + 4, "_def");
  return "library { function { signature { name: '" + name + "' " + inputs + outputs + "} " + body + results +
         "} }\n";
}
std::string input(const std::string& name, const std::string& type = "type: DT_FLOAT") {
  return "input_arg { name: '" + name + "' " + type + " } ";
}
std::string output(const std::string& name, const std::string& type = "type: DT_FLOAT") {
  return "output_arg { name: '" + name + "' " + type + " } ";
}
std::string result(const std::string& name, const std::string& source) {
  return "ret { key: '" + name + "' value: '" + source + "' } ";
}
const std::string t = attr("T", "type: DT_FLOAT");

/// twice(a) = a + a
std::string twice() {
  return function("twice", input("a"), output("b"), node("sum", "Add", "a a", t), result("b", "sum:z:0"));
}

void check_refused(const std::string& text, const std::string& message,
                   const interop::GraphLimits& limits = {}) {
  const std::string refused = refusal(text, limits);
  BOOST_TEST(refused.find(message) != std::string::npos, refused << " does not say: " << message);
}
std::string text_of(const std::string& file) {
  const auto graph = read(file);
  return graph ? graph_text(*graph) : graph.status().message();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(functions)

BOOST_AUTO_TEST_CASE(a_call_becomes_the_nodes_of_the_function) {
  const std::string expected =
      "x = Placeholder() dtype=float shape=[2] : float[2]\n"
      "_START_"
      "y/sum = Add(x, x) : float[2] @/cpu:0\n"
      "y = Identity(y/sum) : float[2] @/cpu:0\n"
      "z = Neg(y) : float[2]\n";
  for (const auto& [op, attrs] : {std::pair<std::string, std::string>{"twice", ""},
                                  {"PartitionedCall", attr("f", "func { name: 'twice' }")}}) {
    std::string text = text_of(placeholder("x") + node("y", op, "x", "device: '/cpu:0' " + attrs) +
                               node("z", "Neg", "y:0", t) + twice());
    const std::string start = "y/_start = NoOp(^x) @/cpu:0\n";
    if (const size_t at = text.find(start); at != std::string::npos)
      text.replace(at, start.size(), "_START_");
    BOOST_TEST(text == expected);
  }
}

BOOST_AUTO_TEST_CASE(types_of_the_call_stand_in_the_body) {
  const std::string file =
      placeholder("x") + node("y", "same", "x", attr("T", "type: DT_FLOAT")) +
      function("same", "attr { name: 'T' type: 'type' } " + input("a", "type_attr: 'T'"),
               output("b", "type_attr: 'T'"), node("one", "Identity", "a", attr("T", "placeholder: 'T'")),
               result("b", "one:output:0"));
  BOOST_TEST(refusal(file) == "Ok");
  std::string other = file;
  other.replace(other.find("same' input"), 0, "");
  check_refused(placeholder("x") + node("y", "same", "x", attr("T", "type: DT_INT32")) +
                    file.substr(file.find("library")),
                "[same] y: 'a' of function same is float, expected int32");
}

BOOST_AUTO_TEST_CASE(constants_of_a_function_wait_for_the_call) {
  const auto graph =
      read(placeholder("x") + node("y", "more", "x", "") +
           function("more", input("a"), output("b"),
                    constant("one", "DT_FLOAT", "float_val: 1") + node("sum", "Add", "a one:output:0", t),
                    result("b", "sum:z:0")));
  BOOST_TEST_REQUIRE(graph.status().message() == "Ok");
  BOOST_TEST(graph_text(*graph).find("y/one = Const(^y/_start)") != std::string::npos, graph_text(*graph));
}

BOOST_AUTO_TEST_CASE(effects_come_before_results_and_after_control_inputs) {
  const std::string dtype = attr("dtype", "type: DT_FLOAT");
  const auto graph = read(
      node("v", "VarHandleOp", "", dtype + attr("shape", "shape {}")) +
      constant("x", "DT_FLOAT", "float_val: 1") + node("before", "NoOp") + node("y", "count", "v x ^before") +
      function("count", input("handle", "type: DT_RESOURCE") + input("by"), output("b"),
               node("add", "AssignAddVariableOp", "handle by", dtype) + node("seven", "Identity", "by", t),
               result("b", "seven:output:0") + "control_ret { key: 'add' value: 'add' } "));
  BOOST_TEST_REQUIRE(graph.status().message() == "Ok");
  const std::string text = graph_text(*graph);
  BOOST_TEST(text.find("y = Identity(y/seven, ^y/add)") != std::string::npos, text);
  BOOST_TEST(text.find("y/add = AssignAddVariableOp(v, x, ^y/_start)") != std::string::npos, text);
  BOOST_TEST(text.find("y/_start = NoOp(^v, ^x, ^before)") != std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(several_outputs) {
  const std::string both = function("both", input("a"), output("p") + output("q"), node("n", "Neg", "a", t),
                                    result("p", "a") + result("q", "n:y:0"));
  const auto graph = read(placeholder("x") + node("y", "both", "x") + node("z", "Sub", "y:1 y ^y", t) + both);
  BOOST_TEST_REQUIRE(graph.status().message() == "Ok");
  const Node& z = *graph->find("z");
  BOOST_TEST(graph->node(z.inputs[0].node).name == "y/_output_1");
  BOOST_TEST(graph->node(z.inputs[1].node).name == "y/_output_0");
  BOOST_TEST(graph->node(z.control_inputs[0]).name == "y");
  check_refused(placeholder("x") + node("y", "both", "x") + node("z", "Neg", "y:2", t) + both,
                "[Neg] z: input from y: there is no output 2");
}

// Signatures of saved models are fetched so.
BOOST_AUTO_TEST_CASE(outputs_of_calls_are_found_by_name) {
  const std::string both = function("both", input("a"), output("p") + output("q"), node("n", "Neg", "a", t),
                                    result("p", "a") + result("q", "n:y:0"));
  const auto graph = read(placeholder("x") + node("y", "both", "x") + both);
  BOOST_TEST_REQUIRE(graph.status().message() == "Ok");
  for (const uint32_t i : {0u, 1u}) {
    const auto found = graph->find_output("y:" + std::to_string(i));
    BOOST_TEST_REQUIRE(found.status().message() == "Ok");
    const Node& call = graph->node(found->node);
    BOOST_TEST(graph->node(call.inputs[i].node).name == "y/_output_" + std::to_string(i));
  }
}

BOOST_AUTO_TEST_CASE(a_call_of_a_function_with_an_unknown_op_is_left_out) {
  const std::string outer =
      function("outer", input("a"), output("b"), node("call", "inner", "a"), result("b", "call:b:0"));
  const std::string inner =
      function("inner", input("a"), output("b"), node("z", "Zyx", "a"), result("b", "z:y:0"));
  const auto graph = read(placeholder("x") + node("y", "outer", "x") + outer + inner);
  BOOST_TEST_REQUIRE(graph.status().message() == "Ok");
  BOOST_TEST(graph->find_output("y").status().message() ==
             "Unimplemented: [outer] y: there is no such op: Zyx");
}

// To TensorFlow a node outside the function does not exist there; the gradient of Gather in a loop names one.
BOOST_AUTO_TEST_CASE(colocation_with_a_node_outside_the_function_means_nothing) {
  const std::string outside = attr("_class", "list { s: 'loc:@x' s: 'loc:@nowhere' }");
  const auto graph =
      read(placeholder("x") + node("y", "f", "x") +
           function("f", input("a"), output("b"), node("n", "Neg", "a", t + outside), result("b", "n:y:0")));
  BOOST_TEST_REQUIRE(graph.status().message() == "Ok");
  BOOST_TEST(graph->find("y/n")->colocate_with.empty());
}

// a -> Enter -> Merge -> Switch -> (Identity -> add 1 -> NextIteration), the 1 being a Const that waits for the Identity
BOOST_AUTO_TEST_CASE(a_loop_inside_a_function_stays_in_its_frame) {
  const auto constant_in_loop = [](const std::string& name, const std::string& pivot) {
    return node(name, "Const", '^' + pivot,
                attr("dtype", "type: DT_FLOAT") +
                    attr("value", "tensor { dtype: DT_FLOAT tensor_shape {} float_val: 1 }"));
  };
  const std::string loop =
      node("enter", "Enter", "a", t + attr("frame_name", "s: 'f'")) +
      node("merge", "Merge", "enter:output:0 next:output:0", t + attr("N", "i: 2")) +
      constant_in_loop("nine", "merge") + node("less", "Less", "merge:output:0 nine:output:0", t) +
      node("go", "LoopCond", "less:z:0") + node("switch", "Switch", "merge:output:0 go:output:0", t) +
      node("kept", "Identity", "switch:output_true:0", t) + constant_in_loop("one", "kept") +
      node("add", "Add", "kept:output:0 one:output:0", t) + node("next", "NextIteration", "add:z:0", t) +
      node("exit", "Exit", "switch:output_false:0", t);
  for (const std::string control : {"", " ^before"}) {
    const auto graph = read(constant("x", "DT_FLOAT", "float_val: 1") + node("before", "NoOp") +
                            node("y", "f", "x" + control) +
                            function("f", input("a"), output("b"), loop, result("b", "exit:output:0")));
    BOOST_TEST_REQUIRE(graph.status().message() == "Ok");
    BOOST_TEST(assign_frames(*graph).status().message() == "Ok");
  }
}

// v -> While(i, v): v[i]; the handle's edge keeps the shape of the variable's value, though the file says [] of handles.
BOOST_AUTO_TEST_CASE(handles_keep_the_shape_of_their_variable) {
  const std::string handle = "type: DT_RESOURCE", scalar = "shape { }";
  const std::string variable =
      node("v", "VarHandleOp", "",
           attr("dtype", "type: DT_FLOAT") + attr("shape", "shape { dim { size: 2 } dim { size: 3 } }"));
  const std::string test =
      function("test", input("i", "type: DT_INT32") + input("h", handle), output("go", "type: DT_INT32"),
               node("n", "Neg", "i", attr("T", "type: DT_INT32")), result("go", "n:y:0"));
  const std::string step =
      function("step", input("i", "type: DT_INT32") + input("h", handle),
               output("j", "type: DT_INT32") + output("k", handle),
               node("read", "ReadVariableOp", "h", attr("dtype", "type: DT_FLOAT")) +
                   node("product", "MatMul", "read:value:0 read:value:0", t + attr("transpose_b", "b: true")),
               result("j", "i") + result("k", "h"));
  const auto graph = read(variable + constant("zero", "DT_INT32", "int_val: 0") +
                          node("y", "While", "zero v",
                               attr("cond", "func { name: 'test' }") + attr("body", "func { name: 'step' }") +
                                   attr("T", "list { type: DT_INT32 " + handle + " }") +
                                   attr("output_shapes", "list { " + scalar + scalar + " }")) +
                          test + step);
  BOOST_TEST_REQUIRE(graph.status().message() == "Ok");
  BOOST_TEST(graph->shape({graph->find("y/_body/read")->id, 0}).text() == "[2,3]");
  BOOST_TEST(graph->node(graph->find("y/_loop_cond")->inputs[0].node).type() == "ToBool");
}

BOOST_AUTO_TEST_CASE(numbers_steer_conditionals) {
  const auto graph = read(
      placeholder("x") + constant("p", "DT_INT32", "int_val: 2") +
      node("y", "If", "p x",
           attr("then_branch", "func { name: 'twice' }") + attr("else_branch", "func { name: 'twice' }")) +
      twice());
  BOOST_TEST_REQUIRE(graph.status().message() == "Ok");
  BOOST_TEST(graph->node(graph->find("y/_cond")->inputs[1].node).type() == "ToBool");
}

BOOST_AUTO_TEST_CASE(conditionals_and_loops) {
  const std::string predicate = constant("p", "DT_BOOL", "bool_val: true");
  const std::string branches =
      attr("then_branch", "func { name: 'twice' }") + attr("else_branch", "func { name: 'less' }");
  const std::string less =
      function("less", input("a"), output("b"),
               constant("one", "DT_FLOAT", "float_val: 1") + node("sub", "Sub", "a one:output:0", t),
               result("b", "sub:z:0"));
  const auto branched =
      read(placeholder("x") + predicate + node("y", "If", "p x", branches) + twice() + less);
  BOOST_TEST_REQUIRE(branched.status().message() == "Ok");
  BOOST_TEST(branched->find("y")->type() == "Merge");
  BOOST_TEST(branched->shape({branched->find("y")->id, 0}).text() == "[2]");

  const std::string test = function(
      "test", input("a"), output("go", "type: DT_BOOL"),
      constant("axes", "DT_INT32", "int_val: 0") + node("sum", "Sum", "a axes:output:0", t) +
          constant("nine", "DT_FLOAT", "float_val: 9") + node("is", "Less", "sum:output:0 nine:output:0", t),
      result("go", "is:z:0"));
  const auto looped =
      read(placeholder("x") +
           node("y", "While", "x",
                attr("cond", "func { name: 'test' }") + attr("body", "func { name: 'twice' }") +
                    attr("T", "list { type: DT_FLOAT }")) +
           twice() + test);
  BOOST_TEST_REQUIRE(looped.status().message() == "Ok");
  BOOST_TEST(looped->find("y")->type() == "Exit");
  const auto frames = assign_frames(*looped);
  BOOST_TEST_REQUIRE(frames.status().message() == "Ok");
  BOOST_TEST(frames->frames.size() == 2u);
}

BOOST_AUTO_TEST_CASE(calls_that_do_not_fit) {
  const std::string x = placeholder("x");
  check_refused(x + node("y", "twice", "x x") + twice(), "[twice] y: function twice takes 1 inputs, got 2");
  check_refused(x + node("y", "twice") + twice(), "[twice] y: function twice takes more than the 0 inputs");
  check_refused(constant("x", "DT_INT32", "") + node("y", "twice", "x") + twice(),
                "[twice] y: 'a' of function twice is int32, expected float");
  check_refused(x + node("y", "PartitionedCall", "x"),
                "[PartitionedCall] y: attribute f is missing or is not a function");
  check_refused(x + node("y", "PartitionedCall", "x", attr("f", "func { name: 'no' }")),
                "there is no function 'no'");
  check_refused(twice() + twice(), "InvalidArgument: function twice is defined twice");
  check_refused(x + node("y", "odd", "x") + function("odd", input("a"), output("b"), "", ""),
                "output 'b' of function odd: the function does not say which node yields it");
  check_refused(
      x + node("y", "odd", "x") + function("odd", input("a"), output("b"), "", result("b", "c:d:0")),
      "there is no node 'c'");
  check_refused(
      x + node("y", "odd", "x") +
          function("odd", input("a"), output("b"), node("n", "Neg", "a:1", t), result("b", "n:y:0")),
      "[Neg] y/n: there is no output 1");
  check_refused(
      x + node("y", "odd", "x") +
          function("odd", "attr { name: 'N' type: 'int' } " + input("a", "number_attr: 'N' type: DT_FLOAT"),
                   "", "", ""),
      "does not say how many tensors argument 'a' has");
}

BOOST_AUTO_TEST_CASE(functions_that_call_themselves) {
  const auto calling = [](const std::string& name, const std::string& callee) {
    return function(name, input("a"), output("b"), node("n", callee, "a"), result("b", "n:b:0"));
  };
  const std::string x = placeholder("x");
  for (const auto& [functions, call] : {std::pair{calling("f", "f"), std::string("f/n/_call")},
                                        {calling("f", "g") + calling("g", "f"), "f/n/n/_call"}}) {
    const auto graph = read(x + node("y", "f", "x") + functions);
    BOOST_TEST_REQUIRE(graph.status().message() == "Ok");
    BOOST_TEST(graph_text(*graph).find("y/_call = PartitionedCall(x) Tout=[float] f=@f") != std::string::npos,
               graph_text(*graph));
    BOOST_TEST_REQUIRE(graph->functions().size() == 1U);
    const Graph& body = *graph->find_function("f")->body;
    BOOST_TEST(body.find(call), graph_text(body));
  }
  check_refused(
      placeholder("x") + node("y", "f", "x") +
          function("f", input("a", "type: DT_INT32"), output("b"), node("n", "f", "a"), result("b", "n:b:0")),
      "[f] y: 'a' of function f is float, expected int32");
  check_refused(x + node("y", "f", "x") +
                    function("f", input("a"), output("b"), node("n", "f", "a") + node("m", "Neg", "n:c:0", t),
                             result("b", "m:y:0")),
                "[Neg] f/m: input from n: there is no output called 'c'");
  std::string chain;
  for (int i = 0; i < 100; ++i) chain += calling("f" + std::to_string(i), "f" + std::to_string(i + 1));
  check_refused(x + node("y", "f0", "x") + chain + calling("f100", "Neg"), "ResourceExhausted: [f64] ");
  check_refused(x + node("y", "f0", "x") + chain + calling("f100", "Neg"),
                "limit function_depth = 64 is exceeded");
}

// Each combination of attributes is a function of its own, built once.
BOOST_AUTO_TEST_CASE(functions_that_call_themselves_with_attributes) {
  const std::string same = attr("T", "placeholder: 'T'");
  const auto graph =
      read(placeholder("x") + node("y", "f", "x", t) + node("z", "f", "x", t) +
           node("i", "Cast", "x", attr("SrcT", "type: DT_FLOAT") + attr("DstT", "type: DT_INT32")) +
           node("w", "f", "i", attr("T", "type: DT_INT32")) +
           function("f", "attr { name: 'T' type: 'type' } " + input("a", "type_attr: 'T'"),
                    output("b", "type_attr: 'T'"), node("n", "f", "a", same), result("b", "n:b:0")));
  BOOST_TEST_REQUIRE(graph.status().message() == "Ok");
  BOOST_TEST(graph->functions().size() == 2U);
  BOOST_TEST((graph->dtype({graph->find("w")->id, 0}) == DType::Int32));
  for (const auto& [name, function] : graph->functions()) {
    const Node* const call = function.body->find(name + "/n/_call");
    BOOST_TEST_REQUIRE(call);
    BOOST_TEST(call->attrs.get<FunctionName>("f").name == name);
  }
}

// In time that their number squared would not leave.
BOOST_AUTO_TEST_CASE(functions_of_many_parts) {
  std::string attrs, calls, nodes, outputs, results, effects;
  for (int i = 0; i < 20'000; ++i) {
    const std::string n = std::to_string(i);
    attrs += "attr { name: 'a" + n + "' type: 'int' default_value { i: 1 } } ";
    calls += node("c" + n, "wide", "x");
    nodes += node("n" + n, "NoOp");
    outputs += output("o" + n);
    results += result("o" + n, "a");
    effects += "control_ret { key: 'e" + n + "' value: 'n" + n + "' } ";
  }
  const std::string x = placeholder("x");
  check_refused(x + calls + function("wide", attrs + input("a"), output("b"), "", result("b", "a")),
                "limit function_bytes = 268435456 is exceeded");
  check_refused(x + node("y", "many", "x") + function("many", input("a"), outputs, nodes, results + effects),
                "Ok");
}

BOOST_AUTO_TEST_CASE(functions_that_multiply) {
  std::string file = placeholder("x") + node("y", "f0", "x");
  for (int i = 0; i < 40; ++i) {
    const std::string next = "f" + std::to_string(i + 1);
    file += function("f" + std::to_string(i), input("a"), output("b"),
                     node("n", next, "a") + node("m", next, "n:b:0"), result("b", "m:b:0"));
  }
  file += function("f40", input("a"), output("b"), "", result("b", "a"));
  check_refused(file, "limit nodes = 10000 is exceeded", {.nodes = 10000});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::functions_test
