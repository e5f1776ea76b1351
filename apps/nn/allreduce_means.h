// AllReduceMeans: the means of gradients over all members of a training that needs no parameter servers. Every member adds the
// same nodes to its own graph, on its own device, and gets the same means, bit for bit those of one process
// (kernels/loops/weighted_mean.h). Dense gradients travel in buckets, which begin as soon as the backward pass has made their
// gradients, so that communication and computing overlap; rows of embeddings are gathered from all members. Uses only the
// public builder and throws Error as it does. Public header; one thread at a time per graph.
#pragma once

#include <string>
#include <vector>

#include "apps/nn/gradients.h"

#pragma GCC visibility push(default)
namespace troupe::nn {

class AllReduceMeans {
 public:
  /// A logical shard that this graph computes. Its number is its rank.
  struct Shard {
    int64_t index = 0;
    Output samples;                   ///< an int64 scalar: the number of samples of the shard
    std::vector<Gradient> gradients;  ///< of the same variables in all shards; rows may occur several times
  };
  /// `members` has the device of each shard, a CPU. `group` must differ between trainings that share devices. `gpus` is empty, or
  /// has a GPU for each graph, in the order of their first shards: these GPUs, which differ, compute the means of dense gradients
  /// of float and double, and add in an order of their own. Then the first shards of the graphs are 0, 1, ...
  AllReduceMeans(std::vector<std::string> members, std::string group, std::vector<std::string> gpus = {})
      : members_(std::move(members)), gpus_(std::move(gpus)), group_(std::move(group)) {}

  /// Returns the mean of each gradient over all shards. `shards` are those of this graph, at least one. Gradients are expected
  /// to be made in reverse order, as the backward pass does for variables in the order of their use. Rows have each index once,
  /// unless there is only one shard. `roots` has for each gradient the shard whose member alone needs the mean, or -1; the means of
  /// dense gradients that other members get are undefined. Empty: all members need all means.
  std::vector<Gradient> of(const Scope& scope, const std::vector<Shard>& shards,
                           const std::vector<int64_t>& roots = {});
  /// Returns the nodes that take part for the shards of this graph. All must run in every step, also those whose results nobody
  /// uses.
  const std::vector<Output>& nodes() const { return nodes_; }

  static constexpr int64_t bucket_bytes = int64_t{4} << 20;

 private:
  void add_bucket(const Scope& scope, const std::vector<Shard>& shards, const std::vector<size_t>& bucket,
                  int64_t root, std::vector<Gradient>& means);
  void add_bucket_on_gpus(const Scope& scope, const std::vector<Shard>& shards,
                          const std::vector<size_t>& bucket, int64_t root, std::vector<Gradient>& means);
  /// Adds the node of one member. Returns its outputs, a mean for each input.
  std::vector<Output> add_member(const Scope& there, Attributes attrs, std::vector<Output> inputs,
                                 Output samples, int64_t root);
  IndexedSlices mean_of_rows(const Scope& scope, const std::vector<Shard>& shards, size_t gradient);
  /// Adds a collective for each shard, with the input that `input(shard)` returns, and returns the result.
  template <class Input>
  Output collective(const Scope& scope, const char* op, const std::string& key,
                    const std::vector<Shard>& shards, Input input);
  Attributes attributes(const Shard& shard, const std::string& key) const;

  std::vector<std::string> members_, gpus_;
  std::string group_;
  std::vector<Output> nodes_;
  size_t buckets_ = 0;
};

}  // namespace troupe::nn
#pragma GCC visibility pop
