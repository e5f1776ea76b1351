#include "apps/config/evaluate.h"

#include <boost/test/unit_test.hpp>

#include "tests/apps/config/small_ops.h"

namespace troupe::config::evaluate_test {
namespace {

/// A graph with x float[?,2] and w float[2,3]. The definitions are in one file, each on a line "name = '...'".
struct Evaluation {
  explicit Evaluation(const std::vector<std::pair<std::string, std::string>>& definitions)
      : graph(test::small_ops()) {
    std::string text;
    for (const auto& [name, expression] : definitions) text += name + " = '" + expression + "'\n";
    document = std::make_unique<Document>(value_or_throw(Document::parse("f", text)));
    diagnostics = std::make_unique<Diagnostics>(*document);
    const Scope scope(graph);
    const auto input = [&](const char* name, PartialShape shape) {
      symbols.values[name] = scope.with_name(name).add_one(
          "Placeholder", {}, {{"dtype", DType::Float}, {"shape", std::move(shape)}});
    };
    input("x", {-1, 2});
    input("w", {2, 3});
    std::vector<Definition> parsed;
    for (const auto& [name, place, value] : document->root())
      parsed.push_back({name, {std::get<std::string>(value.data), value.place}});
    define(nn::Network(scope), parsed, symbols, *diagnostics);
  }

  /// Returns a node as "node op(inputs)", with the names of its inputs.
  std::string node(const std::string& name) const {
    const auto& symbol = symbols.values.at(name);
    const auto* output = symbol ? std::get_if<Output>(&symbol->value()) : nullptr;
    if (!output) return "none";
    const Node& node = graph.node(output->node);
    std::string out = node.name + ' ' + node.type() + '(';
    for (const Output input : node.inputs)
      out += (out.back() == '(' ? "" : ", ") + graph.node(input.node).name;
    return out + ')';
  }
  /// Returns the locations and texts of the mistakes, without the quoted lines.
  std::string mistakes() const {
    std::string out, all = diagnostics->text();
    for (size_t begin = 0; begin < all.size();) {
      const size_t end = std::min(all.find('\n', begin), all.size());
      if (all[begin] != ' ') out += (out.empty() ? "" : "\n") + all.substr(begin, end - begin);
      begin = end + 1;
    }
    return out;
  }

  Graph graph;
  std::unique_ptr<Document> document;
  std::unique_ptr<Diagnostics> diagnostics;
  Symbols symbols;
};

BOOST_AUTO_TEST_SUITE(evaluation)

// y = mean(h + 1);  h = relu(x . w);  in either order
BOOST_AUTO_TEST_CASE(definitions_stand_in_any_order) {
  const Evaluation evaluation({{"y", "mean(h + 1)"}, {"same", "y"}, {"h", "relu(matmul(x, w))"}});
  BOOST_TEST(evaluation.mistakes() == "");
  BOOST_TEST(evaluation.node("h") == "h Relu(h/MatMul)");
  BOOST_TEST(evaluation.node("y") == "y Mean(y/Add)");
  BOOST_TEST(evaluation.node("same") == "y Mean(y/Add)");
  const Node* product = evaluation.graph.find("h/MatMul");
  BOOST_REQUIRE(product);
  BOOST_TEST(product->output_shapes[0].text() == "[?,3]");
  const Node* sum = evaluation.graph.find("y/Add");
  BOOST_REQUIRE(sum);
  const Tensor* one = evaluation.graph.constant(sum->inputs[1]);
  BOOST_REQUIRE(one);
  BOOST_TEST(one->as<float>()[0] == 1);  // the number was converted to the dtype of the other operand
}

BOOST_AUTO_TEST_CASE(operators_and_arguments_become_nodes) {
  const Evaluation evaluation({{"a", "x - x * x / x"},
                               {"b", "-x"},
                               {"c", "x == 2"},
                               {"d", "matmul(x, b = x, transpose_b = true)"},
                               {"e", "add_n([x, x, -x])"},
                               {"f", "add_n(inputs = [x])"},
                               {"g", "cast(x, \"int32\")"},
                               {"n", "0.5"},
                               {"m", "x * n"}});
  BOOST_TEST(evaluation.mistakes() == "");
  BOOST_TEST(evaluation.node("a") == "a Sub(x, a/Div)");
  BOOST_TEST(evaluation.node("b") == "b Neg(x)");
  BOOST_TEST(evaluation.node("d") == "d MatMul(x, x)");
  BOOST_TEST(evaluation.graph.find("d")->output_shapes[0].text() == "[?,2]");
  BOOST_TEST(evaluation.node("e") == "e AddN(x, x, e/Neg)");
  BOOST_TEST(evaluation.node("f") == "f AddN(x)");
  BOOST_TEST((evaluation.graph.find("g")->output_types[0].dtype == DType::Int32));
  BOOST_TEST(evaluation.graph.constant(evaluation.graph.find("m")->inputs[1])->as<float>()[0] == 0.5f);
}

BOOST_AUTO_TEST_CASE(numbers_among_themselves_are_computed) {
  const Evaluation evaluation({{"n", "2 * 3 - 1"},
                               {"half", "n / 10"},
                               {"y", "x * half"},
                               {"z", "-n + x"},
                               {"bad", "1 / 0"},
                               {"big", "1e308 * 10"}});
  BOOST_TEST(evaluation.graph.constant(evaluation.graph.find("y")->inputs[1])->as<float>()[0] == 0.5f);
  BOOST_TEST(evaluation.graph.constant(evaluation.graph.find("z")->inputs[0])->as<float>()[0] == -5);
  BOOST_TEST(evaluation.mistakes() ==
             "f:5:10: the result is not a finite number\n"
             "f:6:14: the result is not a finite number");
}

BOOST_AUTO_TEST_CASE(all_mistakes_are_told_each_where_it_stands) {
  const Evaluation evaluation({{"a", "matmul(w, w) + nope"},
                               {"b", "relu(a)"},
                               {"c", "rleu(xx)"},
                               {"d", "relu(x, x)"},
                               {"e", "matmul(a = x, w)"},
                               {"f", "matmul(x)"},
                               {"g", "matmul(x, w, transpose_a = 3)"},
                               {"h", "matmul(x, a = w)"},
                               {"i", "add(x, \"text\")"},
                               {"j", "relu([x, w])"},
                               {"k", "relu(no_op())"},
                               {"l", "x +"}});
  BOOST_TEST(
      evaluation.mistakes() ==
      "f:1:6: [MatMul] a/MatMul: a [2,3] x b [2,3]: inner dimensions differ\n"
      "f:1:21: unknown name 'nope'; known: a, b, c, d, e, f, g, h, i, j, k, l, w, x\n"
      "f:3:6: there is no function 'rleu'; the nearest is 'relu'\n"
      "f:3:11: unknown name 'xx'; the nearest is 'x'\n"
      "f:4:6: relu: 2 arguments are too many; usage: relu(x)\n"
      "f:5:20: a positional argument follows a named one\n"
      "f:6:6: matmul: parameter 'b' is missing; usage: matmul(a, b, transpose_a = false, transpose_b = "
      "false)\n"
      "f:7:6: matmul: parameter 'transpose_a' must be true or false; usage: matmul(a, b, transpose_a = "
      "false, "
      "transpose_b = false)\n"
      "f:8:6: matmul: parameter 'a' is given twice; usage: matmul(a, b, transpose_a = false, transpose_b = "
      "false)\n"
      "f:9:6: add: parameter 'y' must be a number; usage: add(x, y)\n"
      "f:10:6: relu: parameter 'x' must be a number; usage: relu(x)\n"
      "f:11:6: relu: parameter 'x' is node 'k/NoOp', not one of its outputs; usage: relu(x)\n"
      "f:12:9: expected a value; found the end");
  for (const char* name : {"a", "b", "c", "l"}) BOOST_TEST(evaluation.node(name) == "none");
}

BOOST_AUTO_TEST_CASE(cycles_are_told_once_each) {
  const Evaluation evaluation({{"a", "relu(b)"},
                               {"b", "x + c"},
                               {"c", "a * 2"},
                               {"user", "a + x"},
                               {"self", "self + 1"},
                               {"fine", "relu(x)"}});
  BOOST_TEST(evaluation.mistakes() ==
             "f:3:6: the definitions form a cycle: a -> b -> c -> a\n"
             "f:5:9: the definitions form a cycle: self -> self");
  BOOST_TEST(evaluation.node("fine") == "fine Relu(x)");
  BOOST_TEST(evaluation.node("user") == "none");
}

BOOST_AUTO_TEST_CASE(a_long_chain_needs_no_stack) {
  std::vector<std::pair<std::string, std::string>> chain;
  for (int i = 20000; i > 0; --i) chain.emplace_back("v" + std::to_string(i), "v" + std::to_string(i - 1));
  chain.emplace_back("v0", "x");
  BOOST_TEST(Evaluation(chain).node("v20000") == "x Placeholder()");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::config::evaluate_test
