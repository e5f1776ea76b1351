#include "apps/nn/allreduce_means.h"

#include <map>

#include "apps/nn/as_type.h"
#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

/// Returns the bytes of a gradient, or 0 if its shape is unknown.
int64_t bytes_of(const Scope& scope, Output gradient) {
  const PartialShape& shape = scope.shape(gradient);
  if (!shape.fully_known()) return 0;
  return value_or_throw(shape.to_shape(scope.dtype(gradient))).elements() *
         static_cast<int64_t>(size_of(scope.dtype(gradient)));
}

}  // namespace

std::vector<Gradient> AllReduceMeans::of(const Scope& scope, const std::vector<Shard>& shards,
                                         const std::vector<int64_t>& roots) {
  if (members_.size() == 1) return shards.front().gradients;
  const auto& first = shards.front().gradients;
  std::vector<Gradient> means(first.size());
  struct Open {
    std::vector<size_t> gradients;
    int64_t bytes = 0;
  };
  std::map<std::pair<DType, int64_t>, Open> open;  // by dtype and root
  for (size_t i = first.size(); i-- > 0;) {
    if (!std::holds_alternative<Output>(first[i])) {
      means[i] = mean_of_rows(scope, shards, i);
      continue;
    }
    const auto gradient = std::get<Output>(first[i]);
    const int64_t root = roots.empty() ? -1 : roots[i];
    Open& bucket = open[{scope.dtype(gradient), root}];
    bucket.gradients.push_back(i);
    bucket.bytes += bytes_of(scope, gradient);
    if (bucket.bytes >= bucket_bytes)
      add_bucket(scope, shards, std::exchange(bucket, {}).gradients, root, means);
  }
  for (const auto& [kind, bucket] : open)
    if (!bucket.gradients.empty()) add_bucket(scope, shards, bucket.gradients, kind.second, means);
  return means;
}

Attributes AllReduceMeans::attributes(const Shard& shard, const std::string& key) const {
  return {{"members", members_}, {"rank", shard.index}, {"group", group_}, {"key", key}};
}

void AllReduceMeans::add_bucket(const Scope& scope, const std::vector<Shard>& shards,
                                const std::vector<size_t>& bucket, int64_t root,
                                std::vector<Gradient>& means) {
  const std::string key = "bucket_" + std::to_string(buckets_++);
  const DType dtype = scope.dtype(std::get<Output>(shards.front().gradients[bucket.front()]));
  const bool on_gpus = !gpus_.empty() && (dtype == DType::Float || dtype == DType::Double);
  for (const Shard& shard : shards) {
    const Scope there = on_gpus ? scope.with_device(gpus_[static_cast<size_t>(shard.index)]) : scope;
    std::vector<Output> inputs;
    for (const size_t i : bucket) inputs.push_back(std::get<Output>(shard.gradients[i]));
    inputs.push_back(shard.samples);
    Attributes attrs = attributes(shard, key);
    if (on_gpus) attrs.set("members", gpus_);
    attrs.set("N", static_cast<int64_t>(bucket.size()));
    attrs.set("root", root);
    const NodeId node = there.with_prefix("allreduce").with_name(key).add("WeightedAllReduce", inputs, attrs);
    if (&shard == &shards.front())
      for (uint32_t i = 0; i < bucket.size(); ++i) means[bucket[i]] = Output{node, i};
    nodes_.push_back({node, Output::control});
  }
}

template <class Input>
Output AllReduceMeans::collective(const Scope& scope, const char* op, const std::string& key,
                                  const std::vector<Shard>& shards, Input input) {
  Output result;
  for (const Shard& shard : shards) {
    const NodeId node =
        scope.with_prefix("allreduce").with_name(key).add(op, {input(shard)}, attributes(shard, key));
    if (&shard == &shards.front()) result = {node, 0};
    nodes_.push_back({node, Output::control});
  }
  return result;
}

/// The arithmetic of kernels/loops/weighted_rows.h: each shard weighs its rows, and all are added in rank order.
IndexedSlices AllReduceMeans::mean_of_rows(const Scope& scope, const std::vector<Shard>& shards,
                                           size_t gradient) {
  const std::string key = "rows_" + std::to_string(buckets_++);
  const auto rows = [&](const Shard& shard) { return std::get<IndexedSlices>(shard.gradients[gradient]); };
  const Output values = collective(scope, "AllGather", key + "_values", shards, [&](const Shard& shard) {
    return mul(scope, rows(shard).values, as_type(scope, shard.samples, scope.dtype(rows(shard).values)));
  });
  const Output indices = collective(scope, "AllGather", key + "_indices", shards,
                                    [&](const Shard& shard) { return rows(shard).indices; });
  const Output total = collective(scope, "AllReduce", key + "_samples", shards,
                                  [](const Shard& shard) { return shard.samples; });
  const IndexedSlices sums = distinct_rows(scope, {values, indices, rows(shards.front()).dense_shape});
  return {div(scope, sums.values, as_type(scope, total, scope.dtype(sums.values))), sums.indices,
          sums.dense_shape};
}

}  // namespace troupe::nn
