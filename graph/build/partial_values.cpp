#include "graph/build/partial_values.h"

#include <algorithm>
#include <span>

namespace troupe {
namespace {

using Integers = std::optional<std::vector<int64_t>>;

constexpr int max_depth = 16;  ///< of the chains of nodes that are followed

Integers elements(const Tensor& tensor) {
  if (tensor.shape().rank() > 1) return {};
  if (tensor.dtype() == DType::Int32) {
    const auto values = tensor.as<int32_t>();
    return std::vector<int64_t>(values.begin(), values.end());
  }
  if (tensor.dtype() != DType::Int64) return {};
  const auto values = tensor.as<int64_t>();
  return std::vector<int64_t>(values.begin(), values.end());
}

class Follower {
 public:
  explicit Follower(const Graph& graph) : graph_(graph) {}

  Integers integers(Output output, int depth) const {
    if (depth == 0) return {};
    if (const Tensor* const constant = graph_.constant(output)) return elements(*constant);
    const Node& node = graph_.node(output.node);
    const std::string& type = node.type();
    if (type == "Shape") return dimensions(node);
    if (type == "Identity" || type == "Cast") return integers(node.inputs[0], depth - 1);
    if (type == "Pack") return joined(std::span(node.inputs), depth, true);
    if (type == "ConcatV2") return joined(std::span(node.inputs).first(node.inputs.size() - 1), depth, false);
    if (type == "Concat") return joined(std::span(node.inputs).subspan(1), depth, false);
    if (type == "Slice") return slice(node, depth);
    if (type == "StridedSlice") return strided_slice(node, depth);
    return unknown(output);
  }

 private:
  /// As many unknown elements as the shape of the output says.
  Integers unknown(Output output) const {
    const PartialShape& shape = graph_.shape(output);
    if (!shape.known_rank() || shape.rank() > 1) return {};
    if (shape.rank() == 0) return std::vector<int64_t>{unknown_dim};
    if (shape[0] == unknown_dim || shape[0] > static_cast<int64_t>(Shape::max_rank)) return {};
    return std::vector<int64_t>(static_cast<size_t>(shape[0]), unknown_dim);
  }

  Integers dimensions(const Node& node) const {
    const PartialShape& shape = graph_.shape(node.inputs[0]);
    if (!shape.known_rank()) return {};
    return std::vector<int64_t>(shape.dims().begin(), shape.dims().end());
  }

  /// The elements of vectors, or of scalars, one after the other.
  Integers joined(std::span<const Output> parts, int depth, bool scalars) const {
    std::vector<int64_t> result;
    for (const Output part : parts) {
      const PartialShape& shape = graph_.shape(part);
      if (!shape.known_rank() || shape.rank() != (scalars ? 0 : 1)) return {};
      const Integers values = integers(part, depth - 1);
      if (!values || result.size() + values->size() > Shape::max_rank) return {};
      result.insert(result.end(), values->begin(), values->end());
    }
    return result;
  }

  Integers constants(Output output) const {
    const Tensor* const constant = graph_.constant(output);
    return constant ? elements(*constant) : Integers{};
  }

  Integers slice(const Node& node, int depth) const {
    const Integers all = integers(node.inputs[0], depth - 1), begin = constants(node.inputs[1]),
                   size = constants(node.inputs[2]);
    if (!all || !begin || !size || begin->size() != 1 || size->size() != 1) return {};
    const auto count = static_cast<int64_t>(all->size());
    const int64_t from = begin->front(), taken = size->front() == -1 ? count - from : size->front();
    if (from < 0 || from > count || taken < 0 || taken > count - from) return {};
    return std::vector<int64_t>(all->begin() + from, all->begin() + from + taken);
  }

  /// Of a vector, in steps of 1.
  Integers strided_slice(const Node& node, int depth) const {
    const Integers all = integers(node.inputs[0], depth - 1), begin = constants(node.inputs[1]),
                   end = constants(node.inputs[2]), strides = constants(node.inputs[3]);
    if (!all || !begin || !end || !strides || begin->size() != 1 || strides->front() != 1 ||
        mask(node, "ellipsis_mask") || mask(node, "new_axis_mask"))
      return {};
    const auto count = static_cast<int64_t>(all->size());
    const auto position = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + count : at, 0, count); };
    const int64_t from = mask(node, "begin_mask") ? 0 : position(begin->front());
    if (mask(node, "shrink_axis_mask")) {
      if (from >= count) return {};
      return std::vector<int64_t>{(*all)[static_cast<size_t>(from)]};
    }
    const int64_t to = mask(node, "end_mask") ? count : position(end->front());
    return std::vector<int64_t>(all->begin() + from, all->begin() + std::max(from, to));
  }

  static bool mask(const Node& node, std::string_view name) { return node.attrs.get<int64_t>(name) != 0; }

  const Graph& graph_;
};

}  // namespace

std::optional<std::vector<int64_t>> partial_integers(const Graph& graph, Output output) {
  return Follower(graph).integers(output, max_depth);
}

}  // namespace troupe
