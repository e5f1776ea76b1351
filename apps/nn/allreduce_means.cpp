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

/// Returns the mean of a dense gradient over some shards, which have so many samples. Shards without samples count nothing,
/// whatever their gradients are.
Output mean_of_shards(const Scope& scope, const std::vector<AllReduceMeans::Shard>& shards, size_t gradient,
                      Output all_samples) {
  if (shards.size() == 1) return std::get<Output>(shards.front().gradients[gradient]);
  std::vector<Output> sums;
  for (const AllReduceMeans::Shard& shard : shards) {
    const auto value = std::get<Output>(shard.gradients[gradient]);
    sums.push_back(mul_no_nan(scope, value, as_type(scope, shard.samples, scope.dtype(value))));
  }
  return div_no_nan(scope, add_n(scope, sums), as_type(scope, all_samples, scope.dtype(sums[0])));
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
  const DType dtype = scope.dtype(std::get<Output>(shards.front().gradients[bucket.front()]));
  if (!gpus_.empty() && (dtype == DType::Float || dtype == DType::Double))
    return add_bucket_on_gpus(scope, shards, bucket, root, means);
  const std::string key = "bucket_" + std::to_string(buckets_++);
  for (const Shard& shard : shards) {
    std::vector<Output> inputs;
    for (const size_t i : bucket) inputs.push_back(std::get<Output>(shard.gradients[i]));
    const auto results = add_member(scope, attributes(shard, key), inputs, shard.samples, root);
    if (&shard == &shards.front())
      for (size_t i = 0; i < bucket.size(); ++i) means[bucket[i]] = results[i];
  }
}

/// The GPU first takes the means over the shards of this graph, and then part in those over all graphs as one member.
void AllReduceMeans::add_bucket_on_gpus(const Scope& scope, const std::vector<Shard>& shards,
                                        const std::vector<size_t>& bucket, int64_t root,
                                        std::vector<Gradient>& means) {
  const std::string key = "bucket_" + std::to_string(buckets_++);
  const Shard& first = shards.front();
  const Scope there = scope.with_device(gpus_[static_cast<size_t>(first.index)]);
  std::vector<Output> samples;
  for (const Shard& shard : shards) samples.push_back(shard.samples);
  const Output all_samples =
      samples.size() == 1 ? samples[0] : add_n(scope.with_device("/device:CPU:0"), samples);
  std::vector<Output> inputs;
  for (const size_t i : bucket) inputs.push_back(mean_of_shards(there, shards, i, all_samples));
  Attributes attrs = attributes(first, key);
  attrs.set("members", gpus_);
  const auto results = add_member(there, std::move(attrs), inputs, all_samples, root);
  for (size_t i = 0; i < bucket.size(); ++i) means[bucket[i]] = results[i];
}

std::vector<Output> AllReduceMeans::add_member(const Scope& there, Attributes attrs,
                                               std::vector<Output> inputs, Output samples, int64_t root) {
  const auto count = static_cast<uint32_t>(inputs.size());
  const std::string key = attrs.get<std::string>("key");
  attrs.set("N", static_cast<int64_t>(count));
  attrs.set("root", root);
  inputs.push_back(samples);
  const NodeId node =
      there.with_prefix("allreduce").with_name(key).add("WeightedAllReduce", inputs, std::move(attrs));
  nodes_.push_back({node, Output::control});
  std::vector<Output> results;
  for (uint32_t i = 0; i < count; ++i) results.push_back({node, i});
  return results;
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
