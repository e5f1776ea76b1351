#include <boost/test/unit_test.hpp>

#include "graph/build/graph_text.h"
#include "tests/interop/graph_file.h"

namespace troupe::test::read_graph_test {
namespace {

void check_refused(const std::string& text, const std::string& message) {
  const std::string refused = refusal(text);
  BOOST_TEST(refused.find(message) != std::string::npos, refused << " does not say: " << message);
}

std::string text_of(const std::string& file) {
  const auto graph = read(file);
  return graph ? graph_text(*graph) : graph.status().message();
}

/// i counts up to 5:  zero -> Enter -> Merge -> Less -> LoopCond; Switch -> AddV2 -> NextIteration -> Merge
std::string loop(const std::string& merge_inputs = "enter next", const std::string& step_type = "Add") {
  const std::string t = attr("T", "type: DT_INT32");
  return constant("zero", "DT_INT32", "int_val: 0") +
         node("merge", "Merge", merge_inputs, t + attr("N", "i: 2")) +
         node("enter", "Enter", "zero", t + attr("frame_name", "s: 'loop'")) +
         node("five", "Const", "^merge",
              attr("dtype", "type: DT_INT32") +
                  attr("value", "tensor { dtype: DT_INT32 tensor_shape {} int_val: 5 }")) +
         node("less", "Less", "merge five", t) + node("steer", "LoopCond", "less") +
         node("switch", "Switch", "merge steer", t) + node("step", step_type, "switch:1 switch:1", t) +
         node("next", "NextIteration", "step") + node("exit", "Exit", "switch", t);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(read_graph)

BOOST_AUTO_TEST_CASE(nodes_inputs_attributes_devices) {
  BOOST_TEST(text_of(placeholder("x") + node("y", "Add", "x x:0 ^x",
                                             "device: '/job:ps/task:1' " + attr("T", "type: DT_FLOAT"))) ==
             "x = Placeholder() dtype=float shape=[2] : float[2]\n"
             "y = Add(x, x, ^x) : float[2] @/job:ps/task:1\n");
}

BOOST_AUTO_TEST_CASE(what_is_left_out_is_filled_in) {
  const auto graph =
      read(placeholder("x") + node("y", "MatMul", "x2 x2") + node("x2", "ExpandDims", "x axis") +
           constant("axis", "DT_INT32", "int_val: 0") + "unknown_field: 3");
  BOOST_TEST_REQUIRE(graph.status().message() ==
                     "InvalidArgument: [MatMul] y: a [1,2] x b [1,2]: inner dimensions differ");
}

BOOST_AUTO_TEST_CASE(an_empty_graph) {
  BOOST_TEST(text_of("") == "");
  BOOST_TEST(text_of("versions { producer: 27 }") == "");
  check_refused("\n", "the text consists only of white space");
}

BOOST_AUTO_TEST_CASE(nodes_come_in_any_order) {
  BOOST_TEST(
      text_of(node("z", "Neg", "y") + node("y", "Neg", "x ^w") + placeholder("x") + placeholder("w")) ==
      "x = Placeholder() dtype=float shape=[2] : float[2]\n"
      "w = Placeholder() dtype=float shape=[2] : float[2]\n"
      "y = Neg(x, ^w) : float[2]\n"
      "z = Neg(y) : float[2]\n");
}

BOOST_AUTO_TEST_CASE(loops_close) {
  for (const char* merge_inputs : {"enter next", "next enter"}) {
    const auto graph = read(loop(merge_inputs));
    BOOST_TEST_REQUIRE(graph.status().message() == "Ok");
    const Node& merge = *graph->find("merge");
    const size_t back = merge_inputs[0] == 'n' ? 0 : 1;
    BOOST_TEST(graph->node(merge.inputs[back].node).name == "next");
    BOOST_TEST(graph->node(merge.inputs[1 - back].node).name == "enter");
  }
  check_refused(loop("next next"), "[Merge] merge: all inputs come from a NextIteration");
  check_refused(loop("enter step"), "cycle that no NextIteration closes");
  check_refused(loop("enter next", "Less"), "input 1 is int32 and cannot become bool");
}

BOOST_AUTO_TEST_CASE(colocation_and_shapes) {
  const auto graph =
      read(placeholder("a") +
           node("b", "Neg", "a",
                attr("_class", "list { s: 'loc:@a' s: 'kind@z' }") +
                    attr("_output_shapes", "list { shape { dim { size: 2 } } }") + attr("_unknown", "i: 3")));
  BOOST_TEST_REQUIRE(graph.status().message() == "Ok");
  BOOST_TEST(graph->node(1).colocate_with == std::vector<std::string>{"a"}, boost::test_tools::per_element());
  BOOST_TEST(graph->node(1).attrs.size() == 1u);  // T
  check_refused(placeholder("a") + node("b", "Neg", "a", attr("_class", "list { s: 'loc:@c' }")),
                "[Neg] b: attribute _class: there is no node 'c'");
  check_refused(
      placeholder("a") + node("b", "Neg", "a", attr("_output_shapes", "list { shape { dim { size: 3 } } }")),
      "[Neg] b: ");
  check_refused(placeholder("a") + node("b", "Neg", "a", attr("_output_shapes", "list { }")),
                "has 0 shapes for 1 outputs");
  // TensorFlow's handles are vectors.
  const std::string vector = attr("_output_shapes", "list { shape { dim { size: 2 } } }");
  BOOST_TEST(refusal(node("q", "FIFOQueue", "", attr("component_types", "list { type: DT_FLOAT }") + vector) +
                     node("n", "QueueSize", "q")) == "Ok");
}

BOOST_AUTO_TEST_CASE(other_names_and_attributes_that_change_nothing) {
  BOOST_TEST(text_of(placeholder("x") + node("y", "AddV2", "x x", attr("T", "type: DT_FLOAT"))) ==
             "x = Placeholder() dtype=float shape=[2] : float[2]\ny = AddV2(x, x) : float[2]\n");
  const auto multiply = [&](const std::string& policy) {
    return placeholder("x") + constant("at", "DT_INT32", "int_val: 0") +
           node("where", "ExpandDims", "at at") +
           node("y", "GatherNd", "x where", attr("bad_indices_policy", "s: '" + policy + "'"));
  };
  BOOST_TEST(refusal(multiply("")) == "Ok");
  check_refused(multiply("IGNORE"), "bad_indices_policy");
}

BOOST_AUTO_TEST_CASE(attributes_of_later_versions_are_read) {
  const std::string x = placeholder("x"), integer = "type: DT_INT32";
  const auto gather = [&](const std::string& axis) {
    return x + constant("row", "DT_INT32", "int_val: 1") + constant("axis", "DT_INT32", "int_val: " + axis) +
           node("y", "GatherV2", "x row axis", attr("Taxis", integer) + attr("batch_dims", "i: 0"));
  };
  BOOST_TEST(text_of(gather("-1")).ends_with(": float[]\n"), text_of(gather("-1")));
  check_refused(gather("1"), "[GatherV2] y: axis 1 is outside [-1, 1)");
  for (const char* value : {"true", "false"})
    BOOST_TEST(refusal(x + node("y", "Equal", "x x",
                                attr("incompatible_shape_error", std::string("b: ") + value))) == "Ok");
  BOOST_TEST(refusal(x + node("y", "Cast", "x", attr("DstT", integer) + attr("Truncate", "b: true"))) ==
             "Ok");
}

// A scalar shape was how a Placeholder of unknown shape was written, up to version 21.
BOOST_AUTO_TEST_CASE(old_placeholders_of_shape_scalar_have_any_shape) {
  const std::string type = attr("dtype", "type: DT_FLOAT"), scalar = attr("shape", "shape { }");
  const auto shape_for = [&](const std::string& op, const std::string& shape, const std::string& producer) {
    const Graph graph =
        value_or_throw(read(node("x", op, "", type + shape) + "versions { producer: " + producer + " }"));
    return graph.shape({0, 0}).text();
  };
  for (const char* old : {"0", "21"}) BOOST_TEST(shape_for("Placeholder", scalar, old) == "?");
  for (const char* later : {"22", "24", "1395"}) BOOST_TEST(shape_for("Placeholder", scalar, later) == "[]");
  BOOST_TEST(shape_for("Placeholder", attr("shape", "shape { dim { size: 2 } }"), "21") == "[2]");
  BOOST_TEST(shape_for("PlaceholderV2", scalar, "21") == "[]");
}

BOOST_AUTO_TEST_CASE(versions) {
  BOOST_TEST(refusal("versions { producer: 2474 min_consumer: 12 }") == "Ok");
  BOOST_TEST(refusal("versions { producer: 9999 }") == "Ok");
  check_refused("versions { producer: 9999 min_consumer: 9000 }",
                "at least version 9000; Troupe reads version 2474");
  check_refused("versions { producer: 9999 bad_consumers: [7, 2474] }", "must not be read by version 2474");
  check_refused("versions { producer: -1 }", "versions.producer is -1");
}

// x -> Zyx b -> Neg c -> Alpha d, and y beside them
BOOST_AUTO_TEST_CASE(nodes_of_unknown_ops_are_left_out_with_what_needs_them) {
  const auto graph =
      read(placeholder("x") + node("b", "Zyx", "x") + node("c", "Neg", "b") + node("d", "Alpha", "c") +
           node("e", "NoOp", "^b") + node("y", "Neg", "x", attr("_class", "list { s: 'loc:@b' }")));
  BOOST_TEST_REQUIRE(graph.status().message() == "Ok");
  BOOST_TEST(graph_text(*graph) ==
             "x = Placeholder() dtype=float shape=[2] : float[2]\ny = Neg(x) : float[2]\n");
  BOOST_TEST(graph->find_output("b").status().message() ==
             "Unimplemented: [Zyx] b: there is no such op: Zyx");
  BOOST_TEST(graph->find_output("c:0").status().message() ==
             "Unimplemented: [Neg] c: there is no such op: Zyx");
  BOOST_TEST(graph->find_output("d").status().message() ==
             "Unimplemented: [Alpha] d: there are no such ops: Alpha, Zyx");
  BOOST_TEST(graph->find_target("e").status().message() ==
             "Unimplemented: [NoOp] e: there is no such op: Zyx");
  BOOST_TEST(graph->find_target("x").ok());
  BOOST_TEST(graph->absent().why().message() == "Unimplemented: [Zyx] b: there are no such ops: Alpha, Zyx");
}

// x -> Enter -> Merge -> Zyx -> NextIteration -> Merge: the loop is left out from its Merge on.
BOOST_AUTO_TEST_CASE(a_loop_that_cannot_be_closed_is_left_out) {
  const std::string frame = attr("frame_name", "s: 'f'");
  const auto graph =
      read(placeholder("x") + node("enter", "Enter", "x", frame) + node("merge", "Merge", "enter next") +
           node("zeta", "Zyx", "merge") + node("next", "NextIteration", "zeta"));
  BOOST_TEST_REQUIRE(graph.status().message() == "Ok");
  BOOST_TEST(graph->find("enter"));
  BOOST_TEST(graph->find_output("merge").status().message() ==
             "Unimplemented: [Merge] merge: there is no such op: Zyx");
}

BOOST_AUTO_TEST_CASE(what_is_wrong_with_names_and_inputs) {
  const std::string x = placeholder("x");
  check_refused(x + x, "InvalidArgument: [Placeholder] x: another node has the same name");
  check_refused(node("", "NoOp"), "'' is not a valid name of a node");
  check_refused(node("a b", "NoOp"), "'a b' is not a valid name of a node");
  check_refused(node("\\377", "NoOp"), "is not a valid name of a node");
  check_refused(node("y", "Neg", "x"), "[Neg] y: input 'x': there is no node 'x'");
  check_refused(x + node("y", "Neg", "x:1"),
                "[Neg] y: input from x: there is no output 1; the number of outputs is 1");
  for (const char* index : {"x:-1", "x:one", "x:0:0", "x:99999999999999999999"})
    check_refused(x + node("y", "Neg", index), "is not the number of an output");
  check_refused(x + node("y", "Neg", "x x"), "[Neg] y: takes 1 inputs, got 2");
  check_refused(x + node("y", "Neg"), "[Neg] y: takes 1 inputs, got 0");
  check_refused(x + node("y", "Neg", "^x x"), "[Neg] y: input 'x': it follows a control input");
  check_refused(x + node("y", "NoOp", "^x:0"),
                "a control input names a node, without the number of an output");
  check_refused(x + node("y", "NoOp", "^"), "there is no node ''");
  check_refused(x + node("y", "Neg", "x", "device: '/job:a/cpu:x'"), "[Neg] y: ");
  check_refused(node("y", "Neg", "y"), "[Neg] y: the node is part of a cycle");
  check_refused(node("y", "NoOp", "^z") + node("z", "NoOp", "^y"), "the node is part of a cycle");
}

BOOST_AUTO_TEST_CASE(what_is_wrong_with_attributes) {
  const auto neg = [](const std::string& attrs) { return placeholder("x") + node("y", "Neg", "x", attrs); };
  const std::string t = attr("T", "type: DT_FLOAT");
  check_refused(neg(t + t), "[Neg] y: attribute T is given twice");
  check_refused(neg(attr("T", "i: 1")), "[Neg] y: attribute T: it is of kind int, expected type");
  check_refused(neg(attr("T", "list { type: DT_FLOAT }")), "attribute T: it is of kind list, expected type");
  check_refused(neg(attr("T", "")), "attribute T: it has no value");
  check_refused(neg(attr("T", "placeholder: 'U'")),
                "attribute T: it stands for attribute 'U' of the function call, which does not exist");
  check_refused(neg(attr("T", "type: 77")), "unknown dtype 77");
  check_refused(neg(attr("T", "type: DT_FLOAT_REF")), "unknown dtype 101 (DT_FLOAT_REF)");
  check_refused(neg(attr("T", "type: DT_STRING")), "[Neg] y: ");
  check_refused(
      neg(attr("colour", "s: 'red'")),
      "Unimplemented: [Neg] y: attribute colour is s: \"red\", but this op has no such attribute; its "
      "attributes are: T");
  check_refused(placeholder("x") + node("y", "GatherNd", "x x", attr("bad_indices_policy", "s: 'IGNORE'")),
                "attribute bad_indices_policy is s: \"IGNORE\"; only an empty value is available");
  check_refused(node("y", "VariableV2", "", attr("dtype", "type: DT_FLOAT")),
                "[VariableV2] y: attribute shape is missing");
  check_refused(node("y", "VariableV2", "",
                     attr("dtype", "type: DT_FLOAT") + attr("shape", "shape { dim { size: -2 } }")),
                "[VariableV2] y: attribute shape");
  check_refused(placeholder("x") + node("y", "Squeeze", "x", attr("squeeze_dims", "list { i: 1 s: 'a' }")),
                "attribute squeeze_dims: it is of kind list(string), expected list(int)");
  check_refused(placeholder("x") + node("y", "Unpack", "x", attr("num", "i: 1099511627776")), "[Unpack] y: ");
  check_refused(node("y", "Placeholder", "", attr("dtype", "type: DT_FLOAT") + attr("_trainable", "i: 1")),
                "attribute _trainable: it is of kind int, expected bool");
}

BOOST_AUTO_TEST_CASE(text_that_is_none) {
  check_refused("node { name: 'x' ", "line 1, column ");
  check_refused("node {\n name: 'x'\n op = 'y' }", "line 3, column 5");
  check_refused("\x0a\x05hello", "cut off or damaged");
}

BOOST_AUTO_TEST_CASE(bytes_that_are_neither_a_binary_graph_nor_text) {
  const std::string damaged =
      "the bytes are cut off or damaged, or are not a GraphDef, neither a binary one nor one in text form";
  BOOST_TEST(refusal("\xff\xff\xff") == "InvalidArgument: " + damaged);
  BOOST_TEST(refusal("caf\xe9") == "InvalidArgument: " + damaged);  // Latin-1
  BOOST_TEST(refusal("gar\x7f") == "InvalidArgument: " + damaged);
  check_refused(
      "garbage",
      "the bytes are neither a binary GraphDef nor one in text form, which fails at line 1, column ");
  check_refused("caf\xc3\xa9", "nor one in text form, which fails at line 1, column 4");
  // A character of several bytes lies across the end of what is inspected.
  const std::string euro = "\xe2\x82\xac";
  for (size_t before = 4090; before < 4100; ++before)
    check_refused('#' + std::string(before, ' ') + euro + euro + "\ngarbage",
                  "nor one in text form, which fails at line 2, column ");
}

BOOST_AUTO_TEST_CASE(meta_graphs) {
  const auto meta = interop::read_meta_graph(
      "meta_info_def { tags: 'serve' tensorflow_version: '1.0' } graph_def { " + placeholder("x") +
          "} saver_def { filename_tensor_name: 'save/Const:0' restore_op_name: 'save/restore_all' version: "
          "V2 } "
          "collection_def { key: 'losses' value { node_list { value: 'x:0' } } } "
          "collection_def { key: 'steps' value { int64_list { value: [1, 2] } } }",
      op_library()->ops);
  BOOST_TEST_REQUIRE(meta.status().message() == "Ok");
  BOOST_TEST(meta->graph.size() == 1u);
  BOOST_TEST(meta->tags.at(0) == "serve");
  BOOST_TEST(meta->tensorflow_version == "1.0");
  BOOST_TEST(meta->saver->restore_node == "save/restore_all");
  BOOST_TEST(meta->saver->format == 2);
  BOOST_TEST(std::get<std::vector<std::string>>(meta->collections.at("losses")).at(0) == "x:0");
  BOOST_TEST(std::get<std::vector<int64_t>>(meta->collections.at("steps")).at(1) == 2);
}

/// w -> save/all, whose op is unknown -> save/done,  and `other`
std::string graph_with_saver(const std::string& other) {
  return "graph_def { " +
         node("w", "VariableV2", "", attr("dtype", "type: DT_FLOAT") + attr("shape", "shape { }")) +
         node("save/all", "SaveElsewhere", "w") + node("save/done", "NoOp", "^save/all") +
         node("save/name", "NoOp") + other + "} saver_def { restore_op_name: 'save/done' }";
}

BOOST_AUTO_TEST_CASE(nodes_of_a_saver_are_left_out) {
  const auto meta = interop::read_meta_graph(graph_with_saver(""), op_library()->ops);
  BOOST_TEST_REQUIRE(meta.status().message() == "Ok");
  BOOST_TEST(graph_text(meta->graph) ==
             "w = VariableV2() dtype=float shape=[] : ref float[]\nsave/name = NoOp()\n");
  BOOST_TEST(!meta->saver);
}

BOOST_AUTO_TEST_CASE(what_needs_the_nodes_of_a_saver_is_left_out_with_it) {
  const auto meta =
      interop::read_meta_graph(graph_with_saver(node("train", "NoOp", "^save/done")), op_library()->ops);
  BOOST_TEST_REQUIRE(meta.status().message() == "Ok");
  BOOST_TEST(meta->graph.find_target("train").status().message() ==
             "Unimplemented: [NoOp] train: there is no such op: SaveElsewhere");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::read_graph_test
