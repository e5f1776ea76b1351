#include "graph/passes/simplify/symbolic_rules.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "graph/build/shape_context.h"

namespace troupe {
namespace {

using Dims = SymbolicShapes::Dims;
using List = std::vector<SymbolicDim>;

constexpr SymbolicDim one_dim{1, 0};

/// What a tensor of integers with at most one dimension contains.
std::optional<List> elements_of(const Tensor& tensor) {
  if (tensor.shape().rank() > 1 || static_cast<size_t>(tensor.elements()) > Shape::max_rank)
    return std::nullopt;
  List result;
  if (tensor.dtype() == DType::Int32)
    for (const int32_t element : tensor.as<int32_t>()) result.push_back({element, 0});
  else if (tensor.dtype() == DType::Int64)
    for (const int64_t element : tensor.as<int64_t>()) result.push_back({element, 0});
  else
    return std::nullopt;
  return result;
}

/// What both facts say of tensors that are described by one or the other.
SymbolicFact joined(const SymbolicFact& a, const SymbolicFact& b) {
  if (a.kind == SymbolicFact::Kind::Any) return b;
  return b.kind == SymbolicFact::Kind::Any || a == b ? a : SymbolicFact();
}
SymbolicFacts joined(const SymbolicFacts& a, const SymbolicFacts& b) {
  return {joined(a.shape, b.shape), joined(a.values, b.values)};
}

/// Looks at the inputs of a node.
class Inputs {
 public:
  Inputs(std::span<const Node> nodes, const SymbolicShapes& known, const Node& of)
      : node(of), nodes_(nodes), known_(known) {}

  size_t size() const { return node.inputs.size(); }
  const SymbolicFacts& facts(size_t i) const { return known_.facts(node.inputs[i]); }
  /// Returns the shape of an input, if it is known and the input is no list.
  std::optional<List> shape(size_t i) const {
    return is_variant(node.inputs[i]) ? std::nullopt : copied(known_.of(node.inputs[i]));
  }
  std::optional<List> values(size_t i) const { return copied(known_.spelled_by(node.inputs[i])); }
  /// Returns the only element of an input, if it is a number.
  std::optional<int64_t> number(size_t i) const {
    const auto all = values(i);
    return all && all->size() == 1 && all->front().is_number() ? std::optional(all->front().factor)
                                                               : std::nullopt;
  }

  const Node& node;

 private:
  static std::optional<List> copied(std::optional<Dims> dims) {
    return dims ? std::optional(List(dims->begin(), dims->end())) : std::nullopt;
  }
  bool is_variant(Output output) const {
    return nodes_[output.node].output_types[output.index].dtype == DType::Variant;
  }

  std::span<const Node> nodes_;
  const SymbolicShapes& known_;
};

/// Returns a dimension that may be counted from the last one, or nothing if there is no such dimension.
std::optional<size_t> axis_in(std::optional<int64_t> axis, size_t rank) {
  const auto signed_rank = static_cast<int64_t>(rank);
  if (!axis || *axis < -signed_rank || *axis >= signed_rank) return std::nullopt;
  return static_cast<size_t>(*axis < 0 ? *axis + signed_rank : *axis);
}

// ---- shapes

template <size_t Input>
std::optional<List> as(const Inputs& in) {
  return in.shape(Input);
}
template <size_t Input>
std::optional<List> spelled(const Inputs& in) {
  return in.values(Input);
}

/// Keeps the first dimension: the number of images.
std::optional<List> as_images(const Inputs& in) {
  auto dims = in.shape(0);
  if (dims && !dims->empty()) std::fill(dims->begin() + 1, dims->end(), unnamed_dim);
  return dims;
}

List broadcast(List a, List b) {
  if (a.size() < b.size()) std::swap(a, b);
  const size_t leading = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    SymbolicDim& dim = a[leading + i];
    const SymbolicDim other = b[i];
    if (other == one_dim || other == dim || (dim.is_number() && dim != one_dim)) continue;
    dim = dim == one_dim || other.is_number() ? other : unnamed_dim;
  }
  return a;
}

std::optional<List> broadcast_inputs(const Inputs& in) {
  auto result = in.shape(0);
  for (size_t i = 1; i < in.size() && result; ++i) {
    const auto other = in.shape(i);
    if (!other) return std::nullopt;
    result = broadcast(std::move(*result), *other);
  }
  return result;
}

std::optional<List> product(const Inputs& in) {
  const auto a = in.shape(0), b = in.shape(1);
  if (!a || !b || a->size() != 2 || b->size() != 2) return std::nullopt;
  return List{(*a)[in.node.attrs.get<bool>("transpose_a") ? 1 : 0],
              (*b)[in.node.attrs.get<bool>("transpose_b") ? 0 : 1]};
}

std::optional<List> transpose(const Inputs& in) {
  const auto dims = in.shape(0), order = in.values(1);
  if (!dims || !order || order->size() != dims->size()) return std::nullopt;
  List result;
  for (const SymbolicDim& axis : *order) {
    if (!axis.is_number() || axis.factor < 0 || axis.factor >= static_cast<int64_t>(dims->size()))
      return std::nullopt;
    result.push_back((*dims)[static_cast<size_t>(axis.factor)]);
  }
  return result;
}

std::optional<List> reduction(const Inputs& in) {
  const auto dims = in.shape(0), axes = in.values(1);
  if (!dims || !axes) return std::nullopt;
  std::vector<bool> reduced(dims->size());
  for (const SymbolicDim& axis : *axes) {
    const auto at = axis_in(axis.is_number() ? std::optional(axis.factor) : std::nullopt, dims->size());
    if (!at) return std::nullopt;
    reduced[*at] = true;
  }
  const bool keeps = in.node.attrs.get<bool>("keep_dims");
  List result;
  for (size_t i = 0; i < dims->size(); ++i)
    if (!reduced[i])
      result.push_back((*dims)[i]);
    else if (keeps)
      result.push_back(one_dim);
  return result;
}

/// The number of elements, if it is a number times at most one symbol.
std::optional<SymbolicDim> elements(Dims dims) {
  SymbolicDim result = one_dim;
  for (const SymbolicDim& dim : dims) {
    if (!result.is_number() && !dim.is_number()) return std::nullopt;
    if (__builtin_mul_overflow(result.factor, dim.factor, &result.factor)) return std::nullopt;
    result.symbol = std::max(result.symbol, dim.symbol);
  }
  return result;
}

std::optional<List> reshape(const Inputs& in) {
  auto target = in.values(1);
  if (!target) return std::nullopt;
  const auto open = std::ranges::find(*target, SymbolicDim{-1, 0});
  if (open == target->end()) return target;
  const auto dims = in.shape(0);
  if (!dims) return std::nullopt;
  *open = one_dim;
  const auto all = elements(*dims), others = elements(*target);
  const bool divides =
      all && others && others->is_number() && others->factor > 0 && all->factor % others->factor == 0;
  *open = divides ? SymbolicDim{all->factor / others->factor, all->symbol} : unnamed_dim;
  return target;
}

/// Returns the shape of an input whose dimension `axis` is replaced by `size` of its size.
template <class Size>
std::optional<List> resized(const Inputs& in, size_t tensor, size_t axis, const Size& size) {
  auto dims = in.shape(tensor);
  if (!dims) return std::nullopt;
  const auto at = axis_in(in.number(axis), dims->size());
  if (!at) return std::nullopt;
  (*dims)[*at] = size(*at, (*dims)[*at]);
  return dims;
}

std::optional<List> split(const Inputs& in) {
  const auto count = static_cast<int64_t>(in.node.output_types.size());
  return resized(in, 1, 0, [&](size_t, SymbolicDim whole) {
    return whole.factor % count == 0 ? SymbolicDim{whole.factor / count, whole.symbol} : unnamed_dim;
  });
}
std::optional<List> split_v(const Inputs& in, uint32_t output) {
  const auto sizes = in.values(1);
  return resized(in, 0, 2, [&](size_t, SymbolicDim) {
    const bool known = sizes && output < sizes->size() && (*sizes)[output] != SymbolicDim{-1, 0};
    return known ? (*sizes)[output] : unnamed_dim;
  });
}

/// The tensors are the inputs [first, last), of which the first one says the other dimensions.
std::optional<List> concatenated(const Inputs& in, size_t first, size_t last, size_t axis) {
  return resized(in, first, axis, [&](size_t at, SymbolicDim sum) {
    for (size_t i = first + 1; i < last; ++i) {
      const auto dims = in.shape(i);
      if (!dims || at >= dims->size() || (*dims)[at].symbol != sum.symbol) return unnamed_dim;
      if (__builtin_add_overflow(sum.factor, (*dims)[at].factor, &sum.factor)) return unnamed_dim;
    }
    return sum;
  });
}
std::optional<List> concat(const Inputs& in) { return concatenated(in, 0, in.size() - 1, in.size() - 1); }
std::optional<List> concat_v1(const Inputs& in) { return concatenated(in, 1, in.size(), 0); }

std::optional<List> slice(const Inputs& in) {
  auto dims = in.shape(0);
  const auto begin = in.values(1), size = in.values(2);
  if (!dims || !begin || !size || begin->size() != dims->size() || size->size() != dims->size())
    return std::nullopt;
  for (size_t i = 0; i < dims->size(); ++i) {
    const bool rest = (*size)[i] == SymbolicDim{-1, 0}, whole = rest && (*begin)[i] == SymbolicDim{0, 0};
    if (!whole) (*dims)[i] = rest ? unnamed_dim : (*size)[i];
  }
  return dims;
}

/// Gather, and GatherV2 along the first dimension.
std::optional<List> gather(const Inputs& in) {
  const auto from = in.shape(0);
  auto dims = in.shape(1);
  const bool first = in.size() == 2 || in.number(2) == 0;
  if (!from || !dims || from->empty() || !first) return std::nullopt;
  dims->insert(dims->end(), from->begin() + 1, from->end());
  return dims;
}

std::optional<List> expand_dims(const Inputs& in) {
  auto dims = in.shape(0);
  if (!dims) return std::nullopt;
  const auto axis = axis_in(in.number(1), dims->size() + 1);
  if (!axis) return std::nullopt;
  dims->insert(dims->begin() + static_cast<std::ptrdiff_t>(*axis), one_dim);
  return dims;
}

std::optional<List> stack(const Inputs& in) {
  auto dims = in.shape(0);
  if (!dims) return std::nullopt;
  const auto axis = axis_in(in.node.attrs.get<int64_t>("axis"), dims->size() + 1);
  if (!axis) return std::nullopt;
  dims->insert(dims->begin() + static_cast<std::ptrdiff_t>(*axis), {static_cast<int64_t>(in.size()), 0});
  return dims;
}

using ListRule = std::optional<List> (*)(const Inputs&);

/// Returns the shape of output 0.
std::optional<List> shape_of_first(const Inputs& in) {
  // A variable may get a value of another size between two reads.
  if (in.node.type() == "ReadVariableOp") return std::nullopt;
  if (in.node.op->shape == unchanged_shape) return in.shape(0);
  if (in.node.op->shape == broadcast_shape) return broadcast_inputs(in);
  static const std::unordered_map<std::string_view, ListRule> rules = {{"AddN", as<0>},
                                                                       {"AvgPool", as_images},
                                                                       {"BiasAdd", as<0>},
                                                                       {"BiasAddV1", as<0>},
                                                                       {"BroadcastTo", spelled<1>},
                                                                       {"Concat", concat_v1},
                                                                       {"ConcatV2", concat},
                                                                       {"Conv2D", as_images},
                                                                       {"Conv2DBackpropInput", spelled<0>},
                                                                       {"EluGrad", as<0>},
                                                                       {"ExpandDims", expand_dims},
                                                                       {"Fill", spelled<0>},
                                                                       {"FusedBatchNorm", as<0>},
                                                                       {"FusedBatchNormV2", as<0>},
                                                                       {"FusedBatchNormV3", as<0>},
                                                                       {"Gather", gather},
                                                                       {"GatherV2", gather},
                                                                       {"LayerNorm", as<0>},
                                                                       {"LogSoftmax", as<0>},
                                                                       {"MatMul", product},
                                                                       {"Max", reduction},
                                                                       {"MaxPool", as_images},
                                                                       {"MaxPoolGrad", as<0>},
                                                                       {"Mean", reduction},
                                                                       {"Pack", stack},
                                                                       {"Relu6Grad", as<0>},
                                                                       {"ReluGrad", as<0>},
                                                                       {"Reshape", reshape},
                                                                       {"ReverseV2", as<0>},
                                                                       {"RsqrtGrad", as<0>},
                                                                       {"Select", as<1>},
                                                                       {"SelectV2", broadcast_inputs},
                                                                       {"SigmoidGrad", as<0>},
                                                                       {"Slice", slice},
                                                                       {"Softmax", as<0>},
                                                                       {"SoftplusGrad", as<0>},
                                                                       {"SoftsignGrad", as<0>},
                                                                       {"SqrtGrad", as<0>},
                                                                       {"Sum", reduction},
                                                                       {"TanhGrad", as<0>},
                                                                       {"Transpose", transpose}};
  const auto rule = rules.find(in.node.type());
  return rule == rules.end() ? std::nullopt : rule->second(in);
}

std::optional<List> shape_of(const Inputs& in, uint32_t output) {
  if (in.size() == 0) return std::nullopt;
  const std::string& op = in.node.type();
  if (op == "Split") return split(in);
  if (op == "SplitV") return split_v(in, output);
  if (op == "SoftmaxCrossEntropyWithLogits" && output == 1) return broadcast_inputs(in);
  if (op == "SparseSoftmaxCrossEntropyWithLogits" && output == 1) return in.shape(0);
  return output == 0 ? shape_of_first(in) : std::nullopt;
}

// ---- the elements of shapes

std::optional<List> concatenated_values(const Inputs& in) {
  List result;
  for (size_t i = 0; i + 1 < in.size(); ++i) {
    const auto part = in.values(i);
    if (!part || result.size() + part->size() > Shape::max_rank) return std::nullopt;
    result.insert(result.end(), part->begin(), part->end());
  }
  return result;
}

std::optional<List> packed_values(const Inputs& in) {
  List result;
  for (size_t i = 0; i < in.size() && i < Shape::max_rank; ++i) {
    const auto element = in.values(i);
    const auto shape = in.shape(i);
    if (!element || !shape || !shape->empty()) return std::nullopt;
    result.push_back(element->front());
  }
  return result.size() == in.size() ? std::optional(result) : std::nullopt;
}

std::optional<List> sliced_values(const Inputs& in) {
  const auto all = in.values(0);
  const auto begin = in.number(1), size = in.number(2);
  if (!all || !begin || !size) return std::nullopt;
  const auto count = static_cast<int64_t>(all->size());
  if (*begin < 0 || *begin > count || *size > count - *begin) return std::nullopt;
  const auto first = all->begin() + *begin;
  return List(first, *size < 0 ? all->end() : first + *size);
}

/// One element, as Python's shape[i] takes it.
std::optional<List> element_values(const Inputs& in) {
  const auto all = in.values(0);
  const auto mask = [&](const char* name) { return in.node.attrs.get<int64_t>(name); };
  if (!all || mask("shrink_axis_mask") != 1 || mask("begin_mask") || mask("ellipsis_mask") ||
      mask("new_axis_mask"))
    return std::nullopt;
  const auto at = axis_in(in.number(1), all->size());
  return at ? std::optional(List{(*all)[*at]}) : std::nullopt;
}

std::optional<List> reshaped_values(const Inputs& in) {
  const auto shape = in.values(1);
  return shape && shape->size() <= 1 ? in.values(0) : std::nullopt;
}

std::optional<List> values_of(const Inputs& in) {
  const std::string& op = in.node.type();
  if (op == "Const") return elements_of(in.node.attrs.get<Tensor>("value"));
  static const std::unordered_map<std::string_view, ListRule> rules = {
      {"ConcatV2", concatenated_values}, {"Pack", packed_values},
      {"Reshape", reshaped_values},      {"Shape", as<0>},
      {"Slice", sliced_values},          {"StridedSlice", element_values}};
  const auto rule = rules.find(op);
  return rule == rules.end() ? std::nullopt : rule->second(in);
}

// ---- what passes tensors on

SymbolicFacts first_rows(const SymbolicFact& shape) {
  if (!shape.known() || shape.dims.empty()) return {};
  return {SymbolicFact::of({shape.dims.begin() + 1, shape.dims.end()})};
}

SymbolicFacts stacked(const SymbolicFact& element) {
  if (!element.known()) return {};
  List dims = element.dims;
  dims.insert(dims.begin(), unnamed_dim);
  return {SymbolicFact::of(std::move(dims))};
}

/// Returns the facts of an output that is an input, a list or an element of a list.
std::optional<SymbolicFacts> passed_on(std::span<const Node> nodes, const Inputs& in, uint32_t output) {
  const std::string& op = in.node.type();
  switch (flow_kind(in.node)) {
    case FlowKind::Merge:
      if (output != 0 || in.size() != 2) return SymbolicFacts();
      return is_loop_variable(nodes, in.node) ? in.facts(0) : joined(in.facts(0), in.facts(1));
    case FlowKind::Enter:
    case FlowKind::Exit:
    case FlowKind::NextIteration:
    case FlowKind::Switch: return in.facts(0);
    default: break;
  }
  if (op == "Identity") return in.facts(0);
  const SymbolicFact any{SymbolicFact::Kind::Any};
  if (op == "EmptyTensorList") return SymbolicFacts{any, any};
  if (op == "TensorListFromTensor") return first_rows(in.facts(0).shape);
  if (op == "TensorListPushBack") return joined(in.facts(0), in.facts(1));
  if (op == "TensorListPopBack" || op == "_TensorListReverse") return in.facts(0);
  if (op == "ZerosLike" && in.node.output_types[0].dtype == DType::Variant)
    return SymbolicFacts{in.facts(0).shape};
  if (op == "TensorListStack") return stacked(in.facts(0).shape);
  return std::nullopt;
}

SymbolicFact fact_of(std::optional<List> dims) {
  return dims ? SymbolicFact::of(std::move(*dims)) : SymbolicFact();
}

}  // namespace

bool is_loop_variable(std::span<const Node> nodes, const Node& node) {
  return flow_kind(node) == FlowKind::Merge && node.inputs.size() == 2 &&
         flow_kind(nodes[node.inputs[1].node]) == FlowKind::NextIteration;
}

SymbolicFacts symbolic_facts(std::span<const Node> nodes, const SymbolicShapes& known, const Node& node,
                             uint32_t output) {
  const Inputs in(nodes, known, node);
  if (auto facts = passed_on(nodes, in, output)) return *facts;
  return {fact_of(shape_of(in, output)), output == 0 ? fact_of(values_of(in)) : SymbolicFact()};
}

}  // namespace troupe
