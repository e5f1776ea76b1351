#include "graph/passes/symbolic_shapes.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "graph/build/shape_context.h"

namespace troupe {

/// How the dimensions of a node's outputs follow from its inputs. What no rule says has a symbol of its own.
class SymbolicShapes::Rules {
 public:
  using List = std::vector<SymbolicDim>;

  explicit Rules(SymbolicShapes& shapes) : shapes_(shapes) {}

  void apply(const Node& node) {
    for (uint32_t i = 0; i < node.output_types.size(); ++i) {
      const PartialShape& known = node.output_shapes[i];
      std::optional<List> ruled = i == 0 ? first_output(node) : std::nullopt;
      const bool fits = ruled && (!known.known_rank() || known.rank() == ruled->size());
      if (!fits && !known.known_rank()) continue;
      List dims = fits ? std::move(*ruled) : List(known.rank(), unknown);
      for (size_t axis = 0; axis < dims.size(); ++axis) complete(dims[axis], known, axis);
      // A variable may get a value of another size during the step.
      const bool fixed = !node.output_types[i].is_ref || std::ranges::all_of(dims, &SymbolicDim::is_number);
      if (fixed) shapes_.set({node.id, i}, dims);
    }
  }

 private:
  using Rule = std::optional<List> (Rules::*)(const Node&) const;
  static constexpr SymbolicDim unknown{0, UINT32_MAX};

  /// What shape inference knows is a number; what nobody knows gets a new symbol.
  void complete(SymbolicDim& dim, const PartialShape& known, size_t axis) {
    if (known.known_rank() && known[axis] != unknown_dim)
      dim = {known[axis], 0};
    else if (dim == unknown)
      dim = {1, ++symbols_};
  }

  std::optional<List> first_output(const Node& node) const {
    if (node.inputs.empty()) return std::nullopt;
    if (node.op->shape == unchanged_shape) return of_input(node, 0);
    if (node.op->shape == broadcast_shape) return broadcast(node);
    static const std::unordered_map<std::string_view, Rule> rules = {
        {"AddN", &Rules::as_first},
        {"AvgPool", &Rules::as_images},
        {"BiasAdd", &Rules::as_first},
        {"BiasAddV1", &Rules::as_first},
        {"Conv2D", &Rules::as_images},
        {"FusedBatchNorm", &Rules::as_first},
        {"FusedBatchNormV2", &Rules::as_first},
        {"FusedBatchNormV3", &Rules::as_first},
        {"LogSoftmax", &Rules::as_first},
        {"MatMul", &Rules::product},
        {"MaxPool", &Rules::as_images},
        {"Reshape", &Rules::reshape},
        {"Softmax", &Rules::as_first},
        {"Transpose", &Rules::transpose},
        {"Conv2DBackpropInput", &Rules::spelled_by_first},
        {"MaxPoolGrad", &Rules::as_first},
        {"Max", &Rules::reduction},
        {"Mean", &Rules::reduction},
        {"Sum", &Rules::reduction},
        {"Fill", &Rules::spelled_by_first},
        {"BroadcastTo", &Rules::spelled_by_second},
        {"EluGrad", &Rules::as_first},
        {"ReluGrad", &Rules::as_first},
        {"Relu6Grad", &Rules::as_first},
        {"SigmoidGrad", &Rules::as_first},
        {"TanhGrad", &Rules::as_first},
        {"RsqrtGrad", &Rules::as_first},
        {"SqrtGrad", &Rules::as_first},
        {"SoftplusGrad", &Rules::as_first},
        {"SoftsignGrad", &Rules::as_first}};
    const auto rule = rules.find(node.type());
    return rule == rules.end() ? std::nullopt : (this->*rule->second)(node);
  }

  std::optional<List> of_input(const Node& node, size_t i) const {
    const auto dims = shapes_.of(node.inputs[i]);
    return dims ? std::optional(List(dims->begin(), dims->end())) : std::nullopt;
  }
  std::optional<List> as_first(const Node& node) const { return of_input(node, 0); }
  std::optional<List> spelled_by_first(const Node& node) const { return shapes_.spelled_by(node.inputs[0]); }
  std::optional<List> spelled_by_second(const Node& node) const { return shapes_.spelled_by(node.inputs[1]); }

  /// Keeps the number of images.
  std::optional<List> as_images(const Node& node) const {
    auto dims = of_input(node, 0);
    if (dims) std::fill(dims->begin() + 1, dims->end(), unknown);
    return dims;
  }

  std::optional<List> broadcast(const Node& node) const {
    auto a = of_input(node, 0), b = of_input(node, 1);
    if (!a || !b) return std::nullopt;
    if (a->size() < b->size()) std::swap(a, b);
    const size_t leading = a->size() - b->size();
    for (size_t i = 0; i < b->size(); ++i) {
      SymbolicDim& dim = (*a)[leading + i];
      const SymbolicDim other = (*b)[i], one{1, 0};
      if (other == one || other == dim || (dim.is_number() && dim != one)) continue;
      dim = dim == one || other.is_number() ? other : unknown;
    }
    return a;
  }

  std::optional<List> product(const Node& node) const {
    const auto a = of_input(node, 0), b = of_input(node, 1);
    if (!a || !b || a->size() != 2 || b->size() != 2) return std::nullopt;
    return List{(*a)[node.attrs.get<bool>("transpose_a") ? 1 : 0],
                (*b)[node.attrs.get<bool>("transpose_b") ? 0 : 1]};
  }

  std::optional<List> transpose(const Node& node) const {
    const auto dims = of_input(node, 0);
    const auto order = shapes_.spelled_by(node.inputs[1]);
    if (!dims || !order || order->size() != dims->size()) return std::nullopt;
    List result;
    for (const SymbolicDim& axis : *order) {
      if (!axis.is_number() || axis.factor < 0 || axis.factor >= static_cast<int64_t>(dims->size()))
        return std::nullopt;
      result.push_back((*dims)[static_cast<size_t>(axis.factor)]);
    }
    return result;
  }

  std::optional<List> reduction(const Node& node) const {
    auto dims = of_input(node, 0);
    const auto axes = shapes_.spelled_by(node.inputs[1]);
    if (!dims || !axes) return std::nullopt;
    std::vector<bool> reduced(dims->size());
    for (const SymbolicDim& axis : *axes) {
      const auto rank = static_cast<int64_t>(dims->size());
      if (!axis.is_number() || axis.factor < -rank || axis.factor >= rank) return std::nullopt;
      reduced[static_cast<size_t>(axis.factor < 0 ? axis.factor + rank : axis.factor)] = true;
    }
    const bool keeps = node.attrs.get<bool>("keep_dims");
    List result;
    for (size_t i = 0; i < dims->size(); ++i)
      if (!reduced[i])
        result.push_back((*dims)[i]);
      else if (keeps)
        result.push_back({1, 0});
    return result;
  }

  /// The number of elements, if it is a number times at most one symbol.
  static std::optional<SymbolicDim> elements(std::span<const SymbolicDim> dims) {
    SymbolicDim result{1, 0};
    for (const SymbolicDim& dim : dims) {
      if (!result.is_number() && !dim.is_number()) return std::nullopt;
      if (__builtin_mul_overflow(result.factor, dim.factor, &result.factor)) return std::nullopt;
      result.symbol = std::max(result.symbol, dim.symbol);
    }
    return result;
  }

  std::optional<List> reshape(const Node& node) const {
    auto target = shapes_.spelled_by(node.inputs[1]);
    if (!target) return std::nullopt;
    const SymbolicDim rest{-1, 0};
    const auto open = std::ranges::find(*target, rest);
    if (open == target->end()) return target;
    const auto dims = shapes_.of(node.inputs[0]);
    if (!dims) return std::nullopt;
    *open = {1, 0};
    const auto all = elements(*dims), others = elements(*target);
    const bool divides =
        all && others && others->is_number() && others->factor > 0 && all->factor % others->factor == 0;
    *open = divides ? SymbolicDim{all->factor / others->factor, all->symbol} : unknown;
    return target;
  }

  SymbolicShapes& shapes_;
  uint32_t symbols_ = 0;
};

SymbolicShapes::SymbolicShapes(const GraphDraft& draft, std::span<const NodeId> order)
    : draft_(draft), first_output_(draft.nodes.size()) {
  uint32_t outputs = 0;
  for (const Node& node : draft.nodes) {
    first_output_[node.id] = outputs;
    outputs += static_cast<uint32_t>(node.output_types.size());
  }
  places_.resize(outputs);
  dims_.reserve(size_t{3} * outputs);
  Rules rules(*this);
  for (const NodeId id : order) rules.apply(draft.node(id));
}

void SymbolicShapes::set(Output output, std::span<const SymbolicDim> dims) {
  places_[first_output_[output.node] + output.index] = {static_cast<uint32_t>(dims_.size()),
                                                        static_cast<uint32_t>(dims.size())};
  dims_.insert(dims_.end(), dims.begin(), dims.end());
}

std::optional<SymbolicShapes::Dims> SymbolicShapes::of(Output output) const {
  if (output.node >= first_output_.size()) return std::nullopt;
  const Place place = places_[first_output_[output.node] + output.index];
  if (place.rank == unknown_rank) return std::nullopt;
  return Dims(dims_).subspan(place.first, place.rank);
}

std::optional<std::vector<SymbolicDim>> SymbolicShapes::spelled_by(Output shape) const {
  const Node& node = draft_.node(shape.node);
  if (node.type() == "Shape") {
    const auto dims = of(node.inputs[0]);
    return dims ? std::optional(std::vector(dims->begin(), dims->end())) : std::nullopt;
  }
  const Tensor* const constant = draft_.constant(shape);
  if (!constant || constant->shape().rank() > 1) return std::nullopt;
  std::vector<SymbolicDim> result;
  if (constant->dtype() == DType::Int32)
    for (const int32_t dim : constant->as<int32_t>()) result.push_back({dim, 0});
  else if (constant->dtype() == DType::Int64)
    for (const int64_t dim : constant->as<int64_t>()) result.push_back({dim, 0});
  else
    return std::nullopt;
  return result;
}

bool SymbolicShapes::same(Output a, Output b) const {
  if (a == b) return true;
  const auto first = of(a), second = of(b);
  return first && second && std::ranges::equal(*first, *second);
}

}  // namespace troupe
