// Drawings: that they show every node, what edges carry, and what goes from device to device.
#include <boost/test/unit_test.hpp>

#include "apps/draw/dot.h"
#include "apps/draw/draw_command.h"
#include "apps/draw/edge_text.h"
#include "apps/draw/graph_view.h"
#include "apps/draw/scope_drawing.h"
#include "messages/env/real_disk.h"
#include "tests/interop/graph_file.h"
#include "tests/support/temporary_folder.h"

namespace troupe::draw::draw_test {
namespace {

bool says(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

// x, float[2] -> y = Neg(x) on /job:a -> z = Exp(y) on /job:b, after y
const std::string chain = test::placeholder("x") +
                          "node { name: 'y' op: 'Neg' input: 'x' device: '/job:a/task:0' " +
                          test::attr("T", "type: DT_FLOAT") + "}" +
                          "node { name: 'z' op: 'Exp' input: 'y' input: '^y' device: '/job:b/task:0' " +
                          test::attr("T", "type: DT_FLOAT") + "}";

std::string node(const std::string& name, const std::string& op, const std::string& inputs,
                 const std::string& attrs) {
  std::string text = "node { name: '" + name + "' op: '" + op + "' ";
  for (size_t at = 0; at < inputs.size();) {
    const size_t end = std::min(inputs.find(' ', at), inputs.size());
    text += "input: '" + inputs.substr(at, end - at) + "' ";
    at = end + 1;
  }
  return text + attrs + "}\n";
}

const std::string of_float = test::attr("T", "type: DT_FLOAT"), dtype = test::attr("dtype", "type: DT_FLOAT"),
                  vector = test::attr("shape", "shape { dim { size: 2 } }");

// dense = Relu(Add(x, w)); w is initialised with zeros, has a gradient, and is updated with it:
//   x, w -> dense/Add -> dense, its Relu;  zero -> w/Assign;  gradients/Relu, lr -> descent
const std::string model =
    test::placeholder("x") + node("w", "VariableV2", "", dtype + vector) +
    node("zero", "Const", "",
         dtype + test::attr("value",
                            "tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: 0 }")) +
    node("w/Assign", "Assign", "w zero", of_float) + node("w/read", "Identity", "w", of_float) +
    node("dense/Add", "Add", "x w/read", of_float) + node("dense", "Relu", "dense/Add", of_float) +
    node("gradients/Relu", "ReluGrad", "x dense", of_float) +
    node("lr", "Const", "",
         dtype + test::attr("value", "tensor { dtype: DT_FLOAT tensor_shape { } float_val: 0.1 }")) +
    node("descent", "ApplyGradientDescent", "w lr gradients/Relu", of_float);

std::string drawn(const Graph& graph, size_t depth, bool gradients = false) {
  const GraphView view(graph, {.results = {}, .gradients = gradients});
  ScopeNumbers numbers;
  return draw_scope(view, {}, depth, numbers).dot;
}

BOOST_AUTO_TEST_SUITE(drawings)

BOOST_AUTO_TEST_CASE(readers_see_what_computes_the_results) {
  const Graph graph = value_or_throw(test::read(model));
  const std::string open = drawn(graph, 1), folded = drawn(graph, 0), training = drawn(graph, 1, true);
  for (const char* const part : {R"("dense/Add" -> "dense" [label="float [2]\n8 B"])",
                                 R"("w" -> "dense/Add")", "label=<<b>dense</b>>"})
    BOOST_TEST(says(open, part), open);
  for (const char* const hidden : {"zero", "Assign", "gradients", "descent", "lr", "w/read"})
    BOOST_TEST(!says(open, hidden), open);
  // The variable is part of the only scope that uses it.
  for (const char* const part :
       {R"("x" -> "scope/dense" [label="float [2]\n8 B"])", "Add, Relu", "w [2]", "2 elements of variables"})
    BOOST_TEST(says(folded, part), folded);
  BOOST_TEST(!says(folded, R"("dense/Add")"), folded);
  for (const char* const part : {"gradients/Relu", R"("descent")"})
    BOOST_TEST(says(training, part), training);
  BOOST_TEST(!says(training, "zero"), training);
}

BOOST_AUTO_TEST_CASE(devices_have_a_legend) {
  const std::string text = drawn(value_or_throw(test::read(chain)), 1);
  BOOST_TEST(says(text, R"("device /job:a/task:0" [label=</job:a/task:0>)"), text);
  BOOST_TEST(!says(drawn(value_or_throw(test::read(model)), 1), "legend"));
}

BOOST_AUTO_TEST_CASE(edges_say_how_much_they_carry) {
  const Graph graph = value_or_throw(
      test::read(node("a", "Placeholder", "",
                      dtype + test::attr("shape", "shape { dim { size: -1 } dim { size: 500 } }")) +
                 node("b", "Placeholder", "", dtype + test::attr("shape", "shape { unknown_rank: true }"))));
  BOOST_TEST(edge_text(graph, value_or_throw(graph.find_output("a"))) == "float [?,500]\n1.95 KiB per row");
  BOOST_TEST(edge_text(graph, value_or_throw(graph.find_output("b"))) == "float ?");
}

BOOST_AUTO_TEST_CASE(a_graph_is_drawn_as_it_was_built) {
  const std::string text = dot(value_or_throw(test::read(chain)));
  BOOST_TEST(text.starts_with("digraph {"));
  for (const char* node :
       {R"("x" [label="x\nPlaceholder")", R"("y" [label="y\nNeg")", R"("z" [label="z\nExp")"})
    BOOST_TEST(says(text, node), text);
  BOOST_TEST(says(text, R"("x" -> "y" [label="float[2]"])"), text);
  BOOST_TEST(says(text, R"("y" -> "z" [style=dashed])"), text);
}

BOOST_AUTO_TEST_CASE(a_step_is_drawn_in_a_box_for_each_device) {
  const test::TemporaryFolder folder;
  DrawArguments arguments;
  arguments.file = folder.write("graph.pb", chain);
  arguments.feeds = {"x:0"};
  arguments.fetches = {"z:0"};
  arguments.out = folder.path() + "/chain";
  const std::vector<std::string> expected = {arguments.out + ".dot", arguments.out + ".placed.dot"};
  std::vector<std::string> files = value_or_throw(draw(arguments));
  std::erase_if(files,
                [](const std::string& file) { return file.ends_with(".svg"); });  // if graphviz is installed
  BOOST_TEST(files == expected, boost::test_tools::per_element());
  RealDisk disk;
  const std::string text = value_or_throw(read_file(disk, expected[1], 1 << 20));
  BOOST_TEST(says(text, R"(label="/job:a/replica:0/task:0/device:CPU:0")"), text);
  BOOST_TEST(says(text, R"(label="/job:b/replica:0/task:0/device:CPU:0")"), text);
  BOOST_TEST(says(text, "color=red"), text);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_drawn_is_refused) {
  const test::TemporaryFolder folder;
  DrawArguments arguments;
  arguments.file = folder.path() + "/none.pb";
  BOOST_TEST((draw(arguments).status().code() == Code::NotFound));
  arguments.file = folder.write("graph.pb", chain);
  arguments.fetches = {"w:0"};
  BOOST_TEST((draw(arguments).status().code() == Code::NotFound));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::draw::draw_test
