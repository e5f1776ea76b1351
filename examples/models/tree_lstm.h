// A model whose structure depends on each sample: the binary TreeLSTM over parse trees (Tai et al. 2015, section 3.2). The
// nodes of the same height in all trees of a batch are computed together, so one graph serves any trees (dynamic batching;
// Looks et al. 2017).
#pragma once

#include <troupe/troupe.h>

#include <utility>
#include <vector>

namespace models {

using troupe::Output;
using troupe::nn::Network;

/// A binary tree over words. Its nodes are numbered: first the words in their order, then the inner nodes, each after its children.
/// The last node is the root.
struct Tree {
  std::vector<int32_t> words;
  std::vector<std::pair<int32_t, int32_t>> inner;  ///< the left and the right child of each inner node
};

/// The trees of a batch as tensors to feed, all int32. The nodes of all trees are numbered anew: first the words of all trees, then
/// the inner nodes by height.
struct TreeTensors {
  troupe::Tensor words;        ///< [leaves]
  troupe::Tensor left, right;  ///< [inner nodes]: the new numbers of the children
  troupe::Tensor ends;         ///< [heights]: how many inner nodes have at most the height 1, 2, ...
  troupe::Tensor roots;        ///< [trees]: the new numbers of the roots
};
/// Throws InvalidArgument if a tree has no words, or an inner node before one of its children.
TreeTensors tree_tensors(const std::vector<Tree>& trees);

/// The placeholders of the tensors above.
struct TreeInputs {
  explicit TreeInputs(const troupe::Scope& scope);
  /// Returns the feeds for a batch.
  std::vector<std::pair<Output, troupe::Tensor>> feeds(const TreeTensors& trees) const;
  Output words, left, right, ends, roots;
};

struct TreeLstmOptions {
  int64_t vocabulary = 0;
  int64_t embedding = 300;
  int64_t units = 150;
};
/// Returns the outputs of all nodes, [nodes, units], by their new numbers. There must be an inner node in the batch.
Output tree_lstm(const Network& network, const TreeInputs& trees, const TreeLstmOptions& options);

}  // namespace models
