#include "actors/services/queue/queue_spec.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "kernels/core/state.h"

namespace troupe {
namespace {

constexpr std::pair<std::string_view, QueueKind> kinds[] = {
    {"FIFOQueue", QueueKind::Fifo},
    {"PaddingFIFOQueue", QueueKind::PaddingFifo},
    {"RandomShuffleQueue", QueueKind::RandomShuffle},
    {"PriorityQueue", QueueKind::Priority},
};

Result<QueueKind> queue_kind(std::string_view op) {
  if (op.ends_with("V2")) op.remove_suffix(2);
  for (const auto& [name, kind] : kinds)
    if (name == op) return kind;
  return invalid_argument("the op " + std::string(op) + " does not yield a queue");
}

std::vector<int64_t> least_dims(const PartialShape& shape) {
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  std::ranges::replace(dims, unknown_dim, 0);
  return dims;
}

Status check_shapes(const QueueSpec& spec) {
  if (!spec.shapes.empty() && spec.shapes.size() != spec.types.size())
    return invalid_argument(std::to_string(spec.shapes.size()) + " shapes for " +
                            std::to_string(spec.types.size()) + " components");
  if (spec.kind == QueueKind::PaddingFifo && spec.shapes.empty())
    return invalid_argument("a queue that pads elements needs the rank of each component: shapes is empty");
  for (size_t i = 0; i < spec.shapes.size(); ++i) {
    if (spec.kind != QueueKind::PaddingFifo)
      TROUPE_RETURN_IF_FAILED(spec.shapes[i].to_shape(spec.types[i]).status());
    else if (!spec.shapes[i].known_rank())
      return invalid_argument("the rank of component " + std::to_string(i) +
                              " is unknown, but must be known");
    else
      TROUPE_RETURN_IF_FAILED(Shape::make(least_dims(spec.shapes[i]), spec.types[i]).status());
  }
  return {};
}

Status read_shuffle(const Node& handle, QueueSpec& spec) {
  spec.min_after_dequeue = handle.attrs.get<int64_t>("min_after_dequeue");
  spec.seed = handle.attrs.get<int64_t>("seed");
  spec.seed2 = handle.attrs.get<int64_t>("seed2");
  if (spec.min_after_dequeue >= 0 && (spec.capacity < 0 || spec.min_after_dequeue < spec.capacity)) return {};
  return invalid_argument("min_after_dequeue is " + std::to_string(spec.min_after_dequeue) +
                          ", but must be at least 0 and less than the capacity" +
                          (spec.capacity < 0 ? "" : " " + std::to_string(spec.capacity)));
}

}  // namespace

bool QueueSpec::accepts(size_t i, std::span<const int64_t> dims) const {
  if (shapes.empty()) return kind != QueueKind::Priority || i != 0 || dims.empty();
  return shapes[i].compatible_with(PartialShape(std::vector<int64_t>(dims.begin(), dims.end())));
}

Shape QueueSpec::least_shape(size_t i) const { return Shape::make(least_dims(shapes[i]), types[i]).value(); }

std::string QueueSpec::text() const {
  std::string result;
  for (size_t i = 0; i < types.size(); ++i)
    result += (i == 0 ? "(" : ", ") + std::string(troupe::name(types[i])) +
              (shapes.empty() ? std::string() : shapes[i].text());
  result += ")" + (capacity < 0 ? "" : ", capacity " + std::to_string(capacity));
  if (kind == QueueKind::RandomShuffle)
    result += ", shuffled with seeds " + std::to_string(seed) + " and " + std::to_string(seed2) +
              ", at least " + std::to_string(min_after_dequeue) + " left";
  if (kind == QueueKind::Priority) result += ", by priority";
  if (kind == QueueKind::PaddingFifo) result += ", padded";
  return result;
}

bool operator==(const QueueSpec& a, const QueueSpec& b) {
  const auto seeds = [](const QueueSpec& spec) { return std::pair(spec.seed, spec.seed2); };
  constexpr std::pair<int64_t, int64_t> none;
  const auto parts = [](const QueueSpec& spec) {
    return std::tie(spec.name, spec.types, spec.shapes, spec.capacity, spec.kind, spec.min_after_dequeue);
  };
  return parts(a) == parts(b) && (seeds(a) == seeds(b) || seeds(a) == none || seeds(b) == none);
}

Result<QueueSpec> queue_spec(const Node& handle) {
  QueueSpec spec;
  spec.name = state_name(handle);
  TROUPE_ASSIGN(spec.kind, queue_kind(handle.type()));
  spec.types = handle.attrs.get<std::vector<DType>>("component_types");
  spec.capacity = std::max<int64_t>(handle.attrs.get<int64_t>("capacity"), -1);
  spec.shapes = handle.attrs.get<std::vector<PartialShape>>("shapes");
  if (spec.kind == QueueKind::Priority) {
    if (!spec.shapes.empty() || spec.types.empty())
      spec.shapes.insert(spec.shapes.begin(), PartialShape::scalar());
    spec.types.insert(spec.types.begin(), DType::Int64);
  }
  TROUPE_RETURN_IF_FAILED(check_shapes(spec));
  if (spec.kind == QueueKind::RandomShuffle) TROUPE_RETURN_IF_FAILED(read_shuffle(handle, spec));
  return spec;
}

}  // namespace troupe
