// Trains the TreeLSTM of examples/models on the trees of a file, for bench/peers/trees.py:
//   trees_bench FILE BATCH THREADS
// Each line of the file is a tree: its words, "|", the children of its inner nodes, "|", its class out of five. Prints {"seconds":
// [of each step]}: a step makes the tensors of the next batch, computes the gradients of the mean cross entropy at the roots, and
// subtracts 0.01 of them from the weights.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tree_lstm.h"

namespace troupe {
namespace {

struct Labelled {
  models::Tree tree;
  int32_t label = 0;
};

std::vector<Labelled> read_trees(const char* path) {
  std::vector<Labelled> trees;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream parts(line);
    std::string words, inner;
    Labelled& tree = trees.emplace_back();
    std::getline(parts, words, '|');
    std::getline(parts, inner, '|');
    parts >> tree.label;
    std::istringstream all_words(words), children(inner);
    for (int32_t word = 0; all_words >> word;) tree.tree.words.push_back(word);
    for (int32_t left = 0, right = 0; children >> left >> right;) tree.tree.inner.emplace_back(left, right);
  }
  return trees;
}

std::vector<double> seconds_of_steps(const std::vector<Labelled>& trees, size_t batch, size_t threads) {
  Runtime runtime({.threads = threads});
  Graph graph(runtime.ops());
  const Scope g(graph);
  const nn::Network network(g);
  const models::TreeInputs inputs(g);
  const Output labels = placeholder(g, i32, {-1}, "labels");
  const Output nodes = tree_lstm(network, inputs, {.vocabulary = 5000, .embedding = 300, .units = 150});
  const Output logits = nn::dense(network, gather(g, nodes, inputs.roots), {.units = 5});
  const Output loss = mean(g, sparse_softmax_cross_entropy_with_logits(g, logits, labels));
  const Output update = nn::Sgd(0.01).minimize(g, loss);
  Session session = runtime.session(graph, {.seed = 1});
  session.run({initializer(g)});
  std::vector<double> seconds;
  for (size_t first = 0; first + batch <= trees.size(); first += batch) {
    const auto begin = std::chrono::steady_clock::now();
    std::vector<models::Tree> of_batch;
    std::vector<int32_t> classes;
    for (size_t i = first; i < first + batch; ++i) {
      of_batch.push_back(trees[i].tree);
      classes.push_back(trees[i].label);
    }
    auto feeds = inputs.feeds(models::tree_tensors(of_batch));
    feeds.emplace_back(labels, Tensor::vector<int32_t>(std::span<const int32_t>(classes)));
    session.run(feeds, {loss, update});
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return seconds;
}

}  // namespace
}  // namespace troupe

int main(int count, char** arguments) try {
  if (count != 4) {
    std::fprintf(stderr, "trees_bench FILE BATCH THREADS\n");
    return 2;
  }
  const auto trees = troupe::read_trees(arguments[1]);
  const nlohmann::json seconds = {
      {"seconds", troupe::seconds_of_steps(trees, std::stoul(arguments[2]), std::stoul(arguments[3]))}};
  std::printf("%s\n", seconds.dump().c_str());
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
