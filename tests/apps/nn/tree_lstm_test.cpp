// The TreeLSTM of examples/models computes what a graph with nodes of its own for each tree computes, with gradients, and learns.
#include "tree_lstm.h"

#include <boost/test/unit_test.hpp>
#include <random>

#include "tests/support/failure_of.h"
#include "tests/support/ops/golden_values.h"

namespace troupe::test::tree_lstm_test {
namespace {

using models::Tree;

const models::TreeLstmOptions options{.vocabulary = 10, .embedding = 6, .units = 5};

/// Three trees of different shapes, one of them a single word.
const std::vector<Tree> trees = {
    {{3, 1, 4, 1}, {{1, 2}, {0, 4}, {5, 3}}}, {{5}, {}}, {{9, 2, 6, 5, 3}, {{0, 1}, {2, 3}, {5, 6}, {7, 4}}}};

struct Fixture {
  Runtime runtime;
  Graph graph{runtime.ops()};
  const Scope g{graph};
  const nn::Network network{g};
  const models::TreeInputs inputs{g};
  const Output nodes = tree_lstm(network, inputs, options);

  Output weight(const std::string& name) const {
    for (const auto& [weight, edge] : network.weights())
      if (weight.name.ends_with(name)) return edge;
    throw Error(not_found(name));
  }
  Output joined(Output gate, Output memory) const {
    return concat(g, {mul(g, sigmoid(g, gate), tanh(g, memory)), memory}, 1);
  }
  /// Returns the outputs of the root of one tree, whose structure is that of the graph.
  Output root_of(const Tree& tree) const {
    std::vector<Output> states;
    for (const int32_t word : tree.words) {
      const Output row = gather(g, weight("embedding_weights"), g.constant(Tensor::vector<int32_t>({word})));
      const auto gates = split(g, add(g, matmul(g, row, weight("lstm_words")), weight("words_bias")), 3, 1);
      states.push_back(joined(gates[2], mul(g, sigmoid(g, gates[0]), tanh(g, gates[1]))));
    }
    for (const auto& [l, r] : tree.inner) {
      const auto left = split(g, states[static_cast<size_t>(l)], 2, 1),
                 right = split(g, states[static_cast<size_t>(r)], 2, 1);
      const Output sums = matmul(g, concat(g, {left[0], right[0]}, 1), weight("lstm_children"));
      const auto gates = split(g, add(g, sums, weight("children_bias")), 5, 1);
      states.push_back(joined(gates[2], add_n(g, {mul(g, sigmoid(g, gates[0]), tanh(g, gates[1])),
                                                  mul(g, sigmoid(g, gates[3]), left[1]),
                                                  mul(g, sigmoid(g, gates[4]), right[1])})));
    }
    return split(g, states.back(), 2, 1)[0];
  }
};

BOOST_FIXTURE_TEST_SUITE(tree_lstm, Fixture)

BOOST_AUTO_TEST_CASE(a_loop_over_heights_computes_what_a_graph_for_each_tree_does) {
  const Output roots = gather(g, nodes, inputs.roots);
  std::vector<Output> expected_roots;
  for (const Tree& tree : trees) expected_roots.push_back(root_of(tree));
  const Output expected = concat(g, expected_roots, 0);
  std::vector<Output> by;
  for (const auto& [weight, edge] : network.weights()) by.push_back(edge);
  std::vector<Output> fetches = {roots, expected};
  for (const Output& y : {roots, expected}) {
    const auto slopes = gradients(g, {square(g, y)}, by);
    for (size_t i = 0; i < by.size(); ++i) fetches.push_back(dense(g, slopes[i], by[i]));
  }
  auto session = runtime.session(graph, {.seed = 3});
  session.run({initializer(g)});
  const auto found = session.run(inputs.feeds(models::tree_tensors(trees)), fetches);
  BOOST_TEST(difference(found[0], found[1], {1e-5, 1e-6}) == "");
  for (size_t i = 0; i < by.size(); ++i)
    BOOST_TEST(difference(found[2 + i], found[2 + by.size() + i], {1e-5, 1e-6}) == "",
               network.weights()[i].first.name);
}

// Whether a tree has the word 7: the graph never changes, though each batch has other trees.
BOOST_AUTO_TEST_CASE(what_trees_contain_is_learned_from_trees_of_any_shape) {
  const Output labels = placeholder(g, i32, {-1}, "labels");
  const Output logits = nn::dense(network, gather(g, nodes, inputs.roots), {.units = 2});
  const Output loss = mean(g, sparse_softmax_cross_entropy_with_logits(g, logits, labels));
  const Output step = nn::Adam(0.02).minimize(g, loss);
  auto session = runtime.session(graph, {.seed = 3});
  session.run({initializer(g)});
  std::mt19937 random(5);
  const auto below = [&](size_t n) { return static_cast<int32_t>(random() % n); };
  float last = 0;
  for (int i = 0; i < 300; ++i) {
    std::vector<Tree> batch(16);
    std::vector<int32_t> has_seven;
    for (Tree& tree : batch) {
      std::vector<int32_t> roots;  // of the parts that are not joined yet
      for (int32_t words = 2 + below(5); words > 0; --words) {
        roots.push_back(static_cast<int32_t>(tree.words.size()));
        tree.words.push_back(below(10));
      }
      has_seven.push_back(std::ranges::count(tree.words, 7) > 0 ? 1 : 0);
      while (roots.size() > 1) {
        const auto at = static_cast<size_t>(below(roots.size() - 1));
        tree.inner.emplace_back(roots[at], roots[at + 1]);
        roots[at] = static_cast<int32_t>(tree.words.size() + tree.inner.size() - 1);
        roots.erase(roots.begin() + static_cast<std::ptrdiff_t>(at) + 1);
      }
    }
    auto feeds = inputs.feeds(models::tree_tensors(batch));
    feeds.emplace_back(labels, Tensor::vector<int32_t>(std::span<const int32_t>(has_seven)));
    last = session.run(feeds, {loss, step}).at(0).item<float>();
  }
  BOOST_TEST(last < 0.2f);
}

BOOST_AUTO_TEST_CASE(trees_that_are_none_are_refused) {
  const auto refused = [](Tree tree) {
    return failure_of([&] { models::tree_tensors({std::move(tree)}); }).code() == Code::InvalidArgument;
  };
  BOOST_TEST(refused({{}, {}}));
  BOOST_TEST(refused({{1, 2}, {{0, 2}}}));
  BOOST_TEST(refused({{1, 2}, {{-1, 0}}}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::tree_lstm_test
