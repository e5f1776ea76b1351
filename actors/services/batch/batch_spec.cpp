#include "actors/services/batch/batch_spec.h"

#include <algorithm>

#include "kernels/core/state.h"

namespace troupe {
namespace {

constexpr int64_t nanoseconds_per_microsecond = 1000;

Status check_at_least(const Node& node, const char* attr, int64_t least) {
  const int64_t value = node.attrs.get<int64_t>(attr);
  if (value >= least && value <= INT32_MAX) return {};
  return invalid_argument(std::string(attr) + " is " + std::to_string(value) +
                          ", but must be an int32 of at least " + std::to_string(least));
}

Status check_sizes(const std::vector<int64_t>& sizes, int64_t max_rows) {
  if (sizes.empty()) return {};
  if (std::ranges::adjacent_find(sizes, std::greater_equal<>()) != sizes.end() || sizes.front() < 1)
    return invalid_argument("allowed_batch_sizes must be positive and ascending");
  if (sizes.back() == max_rows) return {};
  return invalid_argument("the last of allowed_batch_sizes is " + std::to_string(sizes.back()) +
                          ", but must be max_batch_size, " + std::to_string(max_rows));
}

}  // namespace

int64_t BatchSpec::padded(int64_t rows) const {
  const auto at = std::ranges::lower_bound(sizes, rows);
  return at == sizes.end() ? rows : *at;
}

std::string BatchSpec::text() const {
  switch (kind) {
    case BatchKind::Batch: return "the role of a Batch";
    case BatchKind::Unbatch: return "the role of an Unbatch";
    case BatchKind::BatchGradient: break;
  }
  return "the role of an UnbatchGrad";
}

Result<BatchSpec> batch_spec(const Node& node) {
  BatchSpec spec;
  spec.name = state_name(node);
  spec.kind = node.type() == "Batch"     ? BatchKind::Batch
              : node.type() == "Unbatch" ? BatchKind::Unbatch
                                         : BatchKind::BatchGradient;
  if (spec.kind != BatchKind::Batch) return spec;
  TROUPE_RETURN_IF_FAILED(check_at_least(node, "num_batch_threads", 1));
  TROUPE_RETURN_IF_FAILED(check_at_least(node, "max_batch_size", 1));
  TROUPE_RETURN_IF_FAILED(check_at_least(node, "batch_timeout_micros", 0));
  TROUPE_RETURN_IF_FAILED(check_at_least(node, "max_enqueued_batches", 0));
  spec.max_rows = node.attrs.get<int64_t>("max_batch_size");
  spec.timeout = node.attrs.get<int64_t>("batch_timeout_micros") * nanoseconds_per_microsecond;
  spec.max_batches = node.attrs.get<int64_t>("max_enqueued_batches");
  spec.sizes = node.attrs.get<std::vector<int64_t>>("allowed_batch_sizes");
  TROUPE_RETURN_IF_FAILED(check_sizes(spec.sizes, spec.max_rows));
  return spec;
}

}  // namespace troupe
