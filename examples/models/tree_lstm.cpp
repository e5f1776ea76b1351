#include "tree_lstm.h"

#include <algorithm>
#include <string>

namespace models {
namespace {

namespace nn = troupe::nn;
using troupe::Argument;
using troupe::PartialShape;
using troupe::Scope;
using troupe::Tensor;

/// Where the nodes of the trees come from: tree and number there.
struct Place {
  size_t tree;
  int32_t node;
};

Tensor integers(const std::vector<int32_t>& values) {
  return Tensor::vector<int32_t>(std::span<const int32_t>(values));
}

/// Returns the heights of the nodes of a tree: 0 for words.
std::vector<int32_t> heights(const Tree& tree) {
  std::vector<int32_t> heights(tree.words.size(), 0);
  for (const auto& [left, right] : tree.inner) {
    const auto count = static_cast<int32_t>(heights.size());
    if (left < 0 || left >= count || right < 0 || right >= count)
      throw troupe::Error(troupe::invalid_argument(
          "node " + std::to_string(count) + " of a tree has the children " + std::to_string(left) + " and " +
          std::to_string(right) + "; they must be earlier nodes"));
    heights.push_back(1 + std::max(heights[static_cast<size_t>(left)], heights[static_cast<size_t>(right)]));
  }
  return heights;
}

/// The outputs and memories of nodes, [2 units] each, in an array that a loop fills.
class NodeStates {
 public:
  NodeStates(const Scope& scope, Output nodes, int64_t units) : columns_(2 * units) {
    const auto array = scope.add("TensorArrayV3", {nodes},
                                 {{"dtype", troupe::f32},
                                  {"element_shape", PartialShape{columns_}},
                                  {"clear_after_read", false},
                                  {"identical_element_shapes", true}});
    handle_ = {array, 0};
    empty = {array, 1};
  }

  Output with(const Scope& s, Output array, Output indices, Output states) const {
    return s.add_one("TensorArrayScatterV3", {handle_, indices, states, array});
  }
  Output get(const Scope& s, Output array, Output indices) const {
    return s.add_one("TensorArrayGatherV3", {handle_, indices, array},
                     {{"dtype", troupe::f32}, {"element_shape", PartialShape{columns_}}});
  }

  Output empty;  ///< the array before any node has a state

 private:
  int64_t columns_;
  Output handle_;
};

/// Returns output and memory in one tensor, [nodes, 2 units], from the gates of output and what is kept.
Output joined(const Scope& s, Output output_gate, Output memory) {
  return concat(s, {mul(s, sigmoid(s, output_gate), tanh(s, memory)), memory}, 1);
}

}  // namespace

TreeTensors tree_tensors(const std::vector<Tree>& trees) {
  std::vector<std::vector<int32_t>> numbers;  // the new numbers of each tree's nodes
  std::vector<std::vector<Place>> by_height;
  std::vector<int32_t> words;
  for (size_t t = 0; t < trees.size(); ++t) {
    const Tree& tree = trees[t];
    if (tree.words.empty()) throw troupe::Error(troupe::invalid_argument("a tree has no words"));
    const auto height = heights(tree);
    auto& own = numbers.emplace_back(height.size());
    for (size_t i = 0; i < height.size(); ++i) {
      if (i < tree.words.size()) {
        own[i] = static_cast<int32_t>(words.size());
        words.push_back(tree.words[i]);
        continue;
      }
      const auto level = static_cast<size_t>(height[i] - 1);
      if (by_height.size() <= level) by_height.resize(level + 1);
      by_height[level].push_back({t, static_cast<int32_t>(i)});
    }
  }
  std::vector<int32_t> left, right, ends, roots;
  for (const auto& level : by_height) {
    for (const Place& place : level) {
      const Tree& tree = trees[place.tree];
      auto& own = numbers[place.tree];
      const auto& children = tree.inner[static_cast<size_t>(place.node) - tree.words.size()];
      own[static_cast<size_t>(place.node)] = static_cast<int32_t>(words.size() + left.size());
      left.push_back(own[static_cast<size_t>(children.first)]);
      right.push_back(own[static_cast<size_t>(children.second)]);
    }
    ends.push_back(static_cast<int32_t>(left.size()));
  }
  for (const auto& own : numbers) roots.push_back(own.back());
  return {integers(words), integers(left), integers(right), integers(ends), integers(roots)};
}

TreeInputs::TreeInputs(const Scope& scope)
    : words(placeholder(scope, troupe::i32, {-1}, "words")),
      left(placeholder(scope, troupe::i32, {-1}, "left")),
      right(placeholder(scope, troupe::i32, {-1}, "right")),
      ends(placeholder(scope, troupe::i32, {-1}, "ends")),
      roots(placeholder(scope, troupe::i32, {-1}, "roots")) {}

std::vector<std::pair<Output, Tensor>> TreeInputs::feeds(const TreeTensors& trees) const {
  return {{words, trees.words},
          {left, trees.left},
          {right, trees.right},
          {ends, trees.ends},
          {roots, trees.roots}};
}

Output tree_lstm(const Network& network, const TreeInputs& trees, const TreeLstmOptions& options) {
  const nn::Layer layer(network, "tree_lstm");
  const Scope& g = layer.scope();
  const int64_t units = options.units;
  const Output of_words =
                   layer.weight("words", {options.embedding, 3 * units}, troupe::f32, nn::glorot_uniform),
               of_children =
                   layer.weight("children", {2 * units, 5 * units}, troupe::f32, nn::glorot_uniform),
               words_bias = layer.weight("words_bias", {3 * units}, troupe::f32, nn::all_equal(0)),
               children_bias = layer.weight("children_bias", {5 * units}, troupe::f32, nn::all_equal(0));

  // The gates of a word: input, candidate, output.
  const Output x =
      nn::embedding(network, trees.words, {.rows = options.vocabulary, .units = options.embedding});
  const auto word = split(g, g.add_one("BiasAdd", {matmul(g, x, of_words), words_bias}), 3, 1);
  const Output leaves = joined(g, word[2], mul(g, sigmoid(g, word[0]), tanh(g, word[1])));

  const Output leaf_count = size(g, trees.words), levels = size(g, trees.ends);
  const Output node_count = add(g, leaf_count, size(g, trees.left));
  const NodeStates states(g, node_count, units);
  const Output with_leaves = states.with(g, states.empty, range(g, 0, leaf_count, 1), leaves);
  const Output begins = pad(g, trees.ends, {{1, 0}});  // of each level, among the inner nodes

  const auto goes_on = [&](const Scope& s, std::span<const Output> loop) { return less(s, loop[0], levels); };
  const auto next_level = [&](const Scope& s, std::span<const Output> loop) {
    const Output begin = gather(s, begins, loop[0]), end = gather(s, trees.ends, loop[0]);
    const Output nodes = range(s, begin, end, 1);
    const Output left = states.get(s, loop[1], gather(s, trees.left, nodes)),
                 right = states.get(s, loop[1], gather(s, trees.right, nodes));
    const auto of_left = split(s, left, 2, 1), of_right = split(s, right, 2, 1);
    // The gates of an inner node: input, candidate, output, and one to forget each child.
    const auto gates =
        split(s,
              s.add_one("BiasAdd",
                        {matmul(s, concat(s, {of_left[0], of_right[0]}, 1), of_children), children_bias}),
              5, 1);
    const Output memory =
        add(s, mul(s, sigmoid(s, gates[0]), tanh(s, gates[1])),
            add(s, mul(s, sigmoid(s, gates[3]), of_left[1]), mul(s, sigmoid(s, gates[4]), of_right[1])));
    const Output numbers = add(s, nodes, leaf_count);
    return std::vector{add(s, loop[0], 1), states.with(s, loop[1], numbers, joined(s, gates[2], memory))};
  };
  const Output zero = g.constant(Tensor::scalar<int32_t>(0));
  const auto last =
      while_loop(g, {zero, with_leaves}, goes_on, next_level, {.name = "levels", .shape_invariants = {}});
  const Output all = states.get(g, last[1], range(g, 0, node_count, 1));
  return slice(g, all, {0, 0}, {-1, units});
}

}  // namespace models
