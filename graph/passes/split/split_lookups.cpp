// Lookups of rows, and their gradients.
//
//   Gather    rows of params -> terms of a sum: each device looks up what it has, and has zeros for the rest; of numbers only
//             columns of params -> columns; indices -> rows of the result
#include "graph/build/split.h"
#include "graph/passes/split/split_rules.h"

namespace troupe {
namespace {

/// The part of a lookup in a table whose rows are split. The first part leaves negative indices as they are, and the last part
/// those that are too large, so that they fail.
class RowLookup {
 public:
  RowLookup(const SplitNode& node, int64_t rows) : node_(node.node), rows_(rows), parts_(node.parts) {
    const SplitInput& params = node.inputs[0];
    for (int64_t i = 1; i < params.rank(); ++i) row_.push_back(static_cast<int32_t>(params.dim(i)));
  }

  Output operator()(const Scope& scope, int64_t part, std::vector<Output> inputs) const {
    const PartRange range = part_range(rows_, part, parts_);
    const DType dtype = scope.dtype(inputs[1]);
    const auto number = [&](int64_t value) {
      const Output wide = scope.constant(Tensor::scalar<int64_t>(value));
      return dtype == DType::Int64 ? wide : scope.add_one("Cast", {wide}, {{"DstT", dtype}});
    };
    const Output flat = scope.add_one("Reshape", {inputs[1], scope.constant(Tensor::vector<int32_t>({-1}))});
    const Output local = scope.add_one("Sub", {flat, number(range.begin)});
    const Output above = scope.add_one("Maximum", {local, number(0)}),
                 below = scope.add_one("Minimum", {local, number(range.size - 1)});
    const bool first = part == 0, last = part + 1 == parts_;
    const Output nearest = first  ? below
                           : last ? above
                                  : scope.add_one("Minimum", {above, number(range.size - 1)});
    std::vector<Output> gathered = {inputs[0], nearest};
    gathered.insert(gathered.end(), inputs.begin() + 2, inputs.end());
    const Output rows = scope.add_one(node_.type(), std::move(gathered), node_.attrs);
    const Output mine = scope.add_one("Equal", {local, nearest});
    const Output kept = scope.add_one("Select", {mine, rows, scope.add_one("ZerosLike", {rows})});
    return scope.add_one("Reshape", {kept, shape(scope, inputs[1])});
  }

 private:
  Output shape(const Scope& scope, Output indices) const {
    const Output leading = scope.add_one("Shape", {indices});
    if (row_.empty()) return leading;
    return scope.add_one("ConcatV2", {leading, scope.constant(Tensor::vector(std::span<const int32_t>(row_))),
                                      scope.constant(Tensor::scalar<int32_t>(0))});
  }

  const Node node_;
  const int64_t rows_, parts_;
  std::vector<int32_t> row_;  ///< the shape of a row
};

bool looks_up_rows(const SplitNode& node) {
  const AttrValue* const batch = node.node.attrs.find("batch_dims");
  if (batch && std::get<int64_t>(*batch) != 0) return false;
  if (node.node.type() == "Gather") return true;
  const auto axis = node.integers(2);
  return axis && axis->front() == 0;
}

std::vector<SplitSignature> gather_signatures(const SplitNode& node) {
  if (!looks_up_rows(node)) return {};
  const SplitInput &params = node.inputs[0], &indices = node.inputs[1];
  const auto with_axis = [&](std::vector<Distribution> inputs) {
    inputs.resize(node.inputs.size());
    return inputs;
  };
  std::vector<SplitSignature> result;
  if (indices.distribution.split())
    result.push_back({with_axis({whole_tensor, indices.distribution}), {indices.distribution}, 1});
  if (params.distribution.split(0)) {
    bool fits = params.extent.known() && is_number(node.graph.dtype(node.node.inputs[0]));
    for (int64_t i = 1; i < params.rank(); ++i) fits = fits && params.dim(i) != unknown_dim;
    if (fits)
      result.push_back(
          {with_axis({split_by(0), whole_tensor}), {terms_of_sum}, 0, RowLookup(node, params.extent.size)});
  } else if (params.distribution.split()) {
    const int64_t column = indices.rank() + params.distribution.dimension - 1;
    result.push_back({with_axis({params.distribution, whole_tensor}), {split_by(column)}, 0});
  }
  return result;
}

/// UnsortedSegmentSum(data, segment_ids, num_segments)
std::vector<SplitSignature> segment_sum_signatures(const SplitNode& node) {
  const SplitInput &data = node.inputs[0], &ids = node.inputs[1];
  std::vector<SplitSignature> result;
  if (data.distribution.split() && data.distribution.dimension >= ids.rank())
    result.push_back({{data.distribution, whole_tensor, whole_tensor},
                      {split_by(data.distribution.dimension - ids.rank() + 1)},
                      0});
  else if (data.distribution.split())
    result.push_back({{data.distribution, data.distribution, whole_tensor}, {terms_of_sum}});
  else if (data.distribution.partial())
    result.push_back({{terms_of_sum, whole_tensor, whole_tensor}, {terms_of_sum}});
  return result;
}

}  // namespace

SplitSignatures lookup_signatures(const SplitNode& node) {
  const std::string& op = node.node.type();
  if (op == "Gather" || op == "GatherV2") return gather_signatures(node);
  if (op == "UnsortedSegmentSum") return segment_sum_signatures(node);
  return std::nullopt;
}

}  // namespace troupe
