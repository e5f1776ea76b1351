#include "graph/passes/split/split_exchanges.h"

#include "graph/build/split.h"

namespace troupe {
namespace {

Output vector_of(const Scope& scope, std::vector<int32_t> values) {
  return scope.constant(Tensor::vector(std::span<const int32_t>(values)));
}

/// Returns a vector with `value`, a vector of one element, at `position`, and `other` elsewhere.
Output with_element(const Scope& scope, size_t rank, size_t position, int32_t other, Output value) {
  std::vector<Output> pieces;
  if (position > 0) pieces.push_back(vector_of(scope, std::vector<int32_t>(position, other)));
  pieces.push_back(value);
  if (position + 1 < rank)
    pieces.push_back(vector_of(scope, std::vector<int32_t>(rank - position - 1, other)));
  if (pieces.size() == 1) return value;
  pieces.push_back(scope.constant(Tensor::scalar<int32_t>(0)));
  return scope.add_one("ConcatV2", std::move(pieces));
}

/// Computes part_range() of a size that only the step knows.
class RangeNodes {
 public:
  RangeNodes(const Scope& scope, Output x, int64_t dimension, int64_t parts) : scope_(scope) {
    const Output size = Exchanges::length(scope, x, dimension);
    const Output count = number(static_cast<int32_t>(parts));
    least_ = scope.add_one("FloorDiv", {size, count});
    longer_ = scope.add_one("FloorMod", {size, count});
  }
  Output begin(int64_t part) const {
    const Output index = number(static_cast<int32_t>(part));
    return scope_.add_one(
        "Add", {scope_.add_one("Mul", {least_, index}), scope_.add_one("Minimum", {longer_, index})});
  }
  Output number(int32_t value) const { return vector_of(scope_, {value}); }

 private:
  Scope scope_;
  Output least_, longer_;
};

}  // namespace

Exchanges::Exchanges(const Scope& root, std::vector<std::string> devices)
    : root_(root), graph_(root.graph()), devices_(std::move(devices)) {}

Scope Exchanges::on(int64_t part, const std::string& prefix) const {
  return root_.with_device(devices_[static_cast<size_t>(part)])
      .with_prefix(prefix)
      .with_prefix("part_" + std::to_string(part));
}

Output Exchanges::whole(const DistributedTensor& tensor, const std::string& device) {
  const bool summed = tensor.distribution.partial();
  const std::string& where = summed || device.empty() ? devices_.front() : device;
  const auto [known, fresh] = wholes_.try_emplace({tensor.parts, where});
  if (fresh) {
    const Scope scope = root_.with_device(where).with_prefix(prefix_of(tensor.parts.front()));
    known->second =
        summed ? sum(scope, tensor.parts) : joined(scope, tensor.parts, tensor.distribution.dimension);
  }
  return known->second;
}

DistributedTensor Exchanges::split(Output whole, int64_t dimension, const Extent& extent) {
  DistributedTensor result{split_by(dimension), extent, {}};
  for (int64_t part = 0; part < count(); ++part)
    result.parts.push_back(slice(whole, dimension, extent, part));
  return result;
}

DistributedTensor Exchanges::split(const DistributedTensor& tensor, int64_t dimension, const Extent& extent) {
  DistributedTensor result{split_by(dimension), extent, {}};
  for (int64_t part = 0; part < count(); ++part) {
    std::vector<Output> pieces;
    for (const Output& source : tensor.parts) pieces.push_back(slice(source, dimension, extent, part));
    const Scope scope = on(part, prefix_of(tensor.parts.front()));
    result.parts.push_back(tensor.distribution.partial()
                               ? sum(scope, pieces)
                               : joined(scope, pieces, tensor.distribution.dimension));
  }
  return result;
}

Output Exchanges::slice(Output x, int64_t dimension, const Extent& extent, int64_t part) const {
  const Node& node = graph_.node(x.node);
  Scope scope = root_.with_prefix(prefix_of(x)).with_prefix("part_" + std::to_string(part));
  scope = node.device.empty() ? scope.colocated_with(graph_.output(x.node, x.index))
                              : scope.with_device(node.device);
  const size_t rank = graph_.shape(x).rank(), at = static_cast<size_t>(dimension);
  if (extent.known()) {
    const PartRange range = part_range(extent.size, part, count());
    std::vector<int64_t> begin(rank, 0), size(rank, -1);
    begin[at] = range.begin;
    size[at] = range.size;
    return scope.add_one("Slice", {x, scope.constant(Tensor::vector(std::span<const int64_t>(begin))),
                                   scope.constant(Tensor::vector(std::span<const int64_t>(size)))});
  }
  const RangeNodes ranges(scope, x, dimension, count());
  const Output first = ranges.begin(part), length = scope.add_one("Sub", {ranges.begin(part + 1), first});
  return scope.add_one(
      "Slice", {x, with_element(scope, rank, at, 0, first), with_element(scope, rank, at, -1, length)});
}

Output Exchanges::length(const Scope& scope, Output x, int64_t dimension) {
  const Output shape = scope.add_one("Shape", {x});
  return scope.add_one("Slice",
                       {shape, vector_of(scope, {static_cast<int32_t>(dimension)}), vector_of(scope, {1})});
}

/// Returns the prefix of nodes that exchange an output: the name of its node, without the prefix of the root.
std::string Exchanges::prefix_of(Output output) const {
  const std::string& name = graph_.node(output.node).name;
  return (name.starts_with(root_.prefix()) ? name.substr(root_.prefix().size()) : name) + "/exchange";
}

Output Exchanges::joined(const Scope& scope, const std::vector<Output>& parts, int64_t dimension) const {
  std::vector<Output> inputs = parts;
  inputs.push_back(scope.constant(Tensor::scalar(static_cast<int32_t>(dimension))));
  return scope.add_one("ConcatV2", std::move(inputs));
}

Output Exchanges::sum(const Scope& scope, const std::vector<Output>& terms) const {
  return scope.add_one("AddN", terms);
}

}  // namespace troupe
