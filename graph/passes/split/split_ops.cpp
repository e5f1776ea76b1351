#include "graph/passes/split/split_ops.h"

#include <algorithm>
#include <map>
#include <memory>

#include "graph/build/frames.h"
#include "graph/build/split.h"
#include "graph/passes/split/split_declarations.h"
#include "graph/passes/split/split_exchanges.h"
#include "graph/passes/split/split_rules.h"

namespace troupe {
namespace {

/// Graphs come from files, too, so their declarations must not make the pass use any amount of memory.
constexpr size_t max_added_nodes = 1'000'000;

/// What stands for an output of the graph before the pass: the whole tensor, its parts, or both.
struct Value {
  std::optional<Output> whole;
  std::optional<DistributedTensor> parts;
  Exchanges* exchanges = nullptr;  ///< of the parts
  /// The parts into which a whole tensor was cut for a node that needed them. Others use the whole tensor, except for products
  /// that are gradients of weights: the weights of which a device has a part get their gradient there.
  bool cut = false;
};

/// Returns whether a node may be the gradient of weights with which this input of it was multiplied.
bool may_be_gradient_of_weights(const Node& node, size_t input) {
  if (node.type() == "Conv2DBackpropFilter") return input == 0;
  return node.type() == "MatMul" && node.attrs.get<bool>(input == 0 ? "transpose_a" : "transpose_b");
}

/// Returns a name with which no name of the graph begins.
std::string free_prefix(const Graph& graph) {
  std::string prefix = "split";
  for (int i = 1; std::ranges::any_of(
           graph.nodes(),
           [&](const Node& node) { return node.name == prefix || node.name.starts_with(prefix + '/'); });
       ++i)
    prefix = "split_" + std::to_string(i);
  return prefix;
}

/// Estimates the bytes of a tensor.
double bytes_of(const Graph& graph, Output output) {
  constexpr double guess = 32;
  double bytes = static_cast<double>(std::max<size_t>(1, size_of(graph.dtype(output))));
  if (graph.shape(output).known_rank())
    for (const int64_t dim : graph.shape(output).dims())
      bytes *= dim == unknown_dim ? guess : static_cast<double>(dim);
  return bytes;
}

/// Estimates which multiple of the bytes of a tensor is exchanged to distribute it anew over n devices.
double exchanges_of(const Distribution& from, const Distribution& to, bool has_whole, double n) {
  if (from == to && !from.whole()) return 0;
  if (from.whole() || has_whole) return to.whole() ? n - 1 : 1;
  if (to.whole()) return from.partial() ? 2 * (n - 1) : n - 1;
  return from.partial() ? n - 1 : 1;
}

class Splitter {
 public:
  explicit Splitter(Subgraph& subgraph)
      : subgraph_(subgraph), old_(subgraph.graph), result_(subgraph.graph.empty()),
        root_(Scope(result_).with_prefix(free_prefix(old_))), values_(old_.size()), ends_(old_.size()) {}

  Result<size_t> run() try {
    TROUPE_RETURN_IF_FAILED(refuse_declarations_in_loops());
    TROUPE_ASSIGN(const auto order, topological_order(old_));
    for (const NodeId id : order) {
      const Node& node = old_.node(id);
      if (declares_distribution(node))
        declare(node);
      else if (!take_part(node) && !replace(node))
        copy(node);
      while (origin_.size() < result_.size()) origin_.push_back(no_node);
      if (result_.size() > old_.size() + max_added_nodes)
        return resource_exhausted("splitting ops over devices takes more than " +
                                  std::to_string(max_added_nodes) + " nodes")
            .at_node(node.type(), node.name);
    }
    close_loops();
    for (NodeId& root : subgraph_.roots) root = end_of(root);
    while (origin_.size() < result_.size()) origin_.push_back(no_node);
    subgraph_.graph = std::move(result_);
    subgraph_.origin = std::move(origin_);
    return replaced_;
  } catch (const Error& error) {
    return error.status();
  }

 private:
  Status refuse_declarations_in_loops() const {
    TROUPE_ASSIGN(const FrameInfo frames, assign_frames(old_));
    for (const Node& node : old_.nodes())
      if (declares_distribution(node) && frames.of_node[node.id] != root_frame)
        return invalid_argument("a tensor inside a loop cannot be declared to be split over devices")
            .at_node(node.type(), node.name);
    return {};
  }

  // ---- Values

  Value& value(Output output) { return values_[output.node][output.index]; }

  Exchanges* exchanges(const std::vector<std::string>& devices) {
    auto& known = exchanges_[devices];
    if (!known) known = std::make_unique<Exchanges>(root_, devices);
    return known.get();
  }

  Output whole(Output output, const std::string& device) {
    const Value& known = value(output);
    return known.whole ? *known.whole : known.exchanges->whole(*known.parts, device);
  }

  Extent extent_of(Output output, int64_t dimension) const {
    const int64_t size = old_.shape(output)[static_cast<size_t>(dimension)];
    return size == unknown_dim ? Extent{size, output, dimension} : Extent{size};
  }

  /// Returns the parts of a tensor in this distribution, which is not Whole.
  DistributedTensor parts(Output output, const Distribution& wanted, Exchanges& over) {
    Value& known = value(output);
    const bool same_devices = known.parts && known.exchanges == &over;
    if (same_devices && known.parts->distribution == wanted) return *known.parts;
    const Extent extent = extent_of(output, wanted.dimension);
    if (same_devices && !known.whole) return over.split(*known.parts, wanted.dimension, extent);
    DistributedTensor cut = over.split(whole(output, {}), wanted.dimension, extent);
    if (!known.parts) {
      known.parts = cut;
      known.exchanges = &over;
      known.cut = true;
    }
    return cut;
  }

  /// Returns the parts of an input that determine how its node is split; null if there are none.
  const DistributedTensor* ruling_parts(const Node& node, size_t input) {
    if (is_back_edge(old_.node(node.inputs[input].node), node)) return nullptr;
    const Value& known = value(node.inputs[input]);
    const bool counts = known.parts && (!known.cut || may_be_gradient_of_weights(node, input));
    return counts ? &*known.parts : nullptr;
  }

  // ---- Nodes

  std::vector<NodeId> controls(const Node& node) const {
    std::vector<NodeId> result;
    for (const NodeId control : node.control_inputs)
      result.insert(result.end(), ends_[control].begin(), ends_[control].end());
    std::ranges::sort(result);
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
  }

  Scope after_controls(const Scope& scope, const Node& node) const {
    std::vector<Output> sources;
    for (const NodeId control : controls(node)) sources.push_back(result_.output(control, Output::control));
    return scope.with_control(sources);
  }

  /// Returns one node that runs after the node, or after all of its parts.
  NodeId end_of(NodeId id) {
    if (ends_[id].size() == 1) return ends_[id].front();
    std::vector<Output> parts;
    for (const NodeId end : ends_[id]) parts.push_back(result_.output(end, Output::control));
    return root_.with_prefix(old_.node(id).name).group(parts).node;
  }

  void copy(const Node& node) {
    Node copied = node;
    const auto entering = std::ranges::find_if(
        node.inputs, [&](const Output& input) { return !is_back_edge(old_.node(input.node), node); });
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Output input = node.inputs[i];
      if (is_back_edge(old_.node(input.node), node)) {
        back_edges_.push_back({node.id, i, input});
        copied.inputs[i] = whole(*entering, node.device);  // of the same dtype, until the loop is closed
      } else {
        copied.inputs[i] = whole(input, node.device);
        copied.inputs[i].graph = 0;
      }
    }
    copied.control_inputs = controls(node);
    origin_.resize(result_.size(), no_node);
    const NodeId id = result_.append(std::move(copied));
    origin_.push_back(subgraph_.origin[node.id]);
    ends_[node.id] = {id};
    for (uint32_t i = 0; i < node.output_types.size(); ++i)
      values_[node.id].push_back({Output{id, i}, std::nullopt, nullptr});
  }

  void close_loops() {
    for (const auto& [reader, index, source] : back_edges_) {
      const Status closed = result_.replace_input(ends_[reader].front(), index, whole(source, {}));
      if (!closed.ok()) throw Error(closed);
    }
  }

  /// Adds the tensor that a node declares to be distributed.
  void declare(const Node& node) {
    const Declaration declared = value_or_throw(declaration_of(old_, node));
    Exchanges* const over = exchanges(declared.devices);
    ++replaced_;
    if (declared.joins) return declare_parts(node, declared, *over);
    const bool stays_in_parts = value(node.inputs[0]).parts && controls(node).empty() && !declared.as.whole();
    Value result;
    if (!stays_in_parts) {
      const Scope scope = root_.with_prefix(node.name).with_device(node.device);
      result.whole = after_controls(scope, node).add_one("Identity", {whole(node.inputs[0], node.device)});
    }
    if (!declared.as.whole()) {
      const Extent extent = extent_of({node.id, 0}, declared.as.dimension);
      result.parts = stays_in_parts ? parts(node.inputs[0], declared.as, *over)
                                    : over->split(*result.whole, declared.as.dimension, extent);
      result.exchanges = over;
    }
    finish(node, {std::move(result)});
  }

  /// The inputs of the node are the parts.
  void declare_parts(const Node& node, const Declaration& declared, Exchanges& over) {
    DistributedTensor tensor{declared.as, {}, {}};
    if (declared.as.split()) tensor.extent = extent_of({node.id, 0}, declared.as.dimension);
    for (int64_t part = 0; part < over.count(); ++part) {
      const Scope scope = after_controls(over.on(part, node.name), node);
      const std::string& device = over.devices()[static_cast<size_t>(part)];
      tensor.parts.push_back(
          scope.add_one("Identity", {whole(node.inputs[static_cast<size_t>(part)], device)}));
    }
    finish(node, {Value{std::nullopt, std::move(tensor), &over}});
  }

  /// Sets what stands for the outputs of a node, whose nodes are those of the first output.
  void finish(const Node& node, std::vector<Value> outputs) {
    const Value& first = outputs.front();
    if (first.whole) ends_[node.id].push_back(first.whole->node);
    if (first.parts && !first.whole)
      for (const Output& part : first.parts->parts) ends_[node.id].push_back(part.node);
    values_[node.id] = std::move(outputs);
  }

  /// If the node cuts exactly one part out of a tensor in parts, as the gradient of split_parts() does, takes this part.
  bool take_part(const Node& node) {
    if (node.type() != "Slice" || !node.control_inputs.empty()) return false;
    const Value& x = value(node.inputs[0]);
    if (!x.parts || x.whole || !x.parts->distribution.split() || !x.parts->extent.known()) return false;
    const auto part =
        part_cut_by(old_, node, x.parts->distribution.dimension, x.parts->extent.size, x.exchanges->count());
    if (!part) return false;
    const Output taken = x.parts->parts[static_cast<size_t>(*part)];
    ++replaced_;
    finish(node, {Value{taken, std::nullopt, nullptr}});
    return true;
  }

  // ---- Replacing nodes by parts

  /// Returns where the parts of the inputs are; null if no input is in parts. Those on other devices count as whole.
  Exchanges* devices_of_inputs(const Node& node) {
    for (size_t i = 0; i < node.inputs.size(); ++i)
      if (ruling_parts(node, i)) return value(node.inputs[i]).exchanges;
    return nullptr;
  }

  bool replace(const Node& node) {
    Exchanges* const over = devices_of_inputs(node);
    if (!over || node.op->effect != Effect::Pure || (node.type() == "Shape" && value(node.inputs[0]).whole))
      return false;
    std::vector<SplitInput> inputs;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Output input = node.inputs[i];
      if (!old_.shape(input).known_rank()) return false;
      const DistributedTensor* const ruling =
          value(input).exchanges == over ? ruling_parts(node, i) : nullptr;
      inputs.push_back({ruling ? ruling->distribution : whole_tensor, ruling ? ruling->extent : Extent{},
                        old_.shape(input)});
    }
    const auto signatures = split_signatures({old_, node, inputs, over->count()});
    const SplitSignature* best = nullptr;
    double least = 0;
    for (const SplitSignature& signature : signatures) {
      const double cost = cost_of(node, inputs, signature, static_cast<double>(over->count()));
      if (best && cost >= least) continue;
      best = &signature;
      least = cost;
    }
    if (!best) return false;
    expand(node, *best, *over);
    ++replaced_;
    return true;
  }

  double cost_of(const Node& node, const std::vector<SplitInput>& inputs, const SplitSignature& signature,
                 double n) {
    double cost = 0;
    for (size_t i = 0; i < inputs.size(); ++i)
      cost += bytes_of(old_, node.inputs[i]) * exchanges_of(inputs[i].distribution, signature.inputs[i],
                                                            value(node.inputs[i]).whole.has_value(), n);
    return cost;
  }

  void expand(const Node& node, const SplitSignature& signature, Exchanges& over) {
    std::vector<std::optional<DistributedTensor>> inputs;
    for (size_t i = 0; i < node.inputs.size(); ++i)
      inputs.push_back(signature.inputs[i].whole()
                           ? std::nullopt
                           : std::optional(parts(node.inputs[i], signature.inputs[i], over)));
    std::vector<Value> outputs;
    const auto& like = inputs[signature.like];
    for (const Distribution& distribution : signature.outputs)
      outputs.push_back(
          {std::nullopt, DistributedTensor{distribution, like ? like->extent : Extent{}, {}}, &over});
    for (int64_t part = 0; part < over.count(); ++part) {
      const auto k = static_cast<size_t>(part);
      std::vector<Output> mine;
      for (size_t i = 0; i < inputs.size(); ++i)
        mine.push_back(inputs[i] ? inputs[i]->parts[k] : whole(node.inputs[i], over.devices()[k]));
      const Scope scope = after_controls(over.on(part, node.name), node);
      const Output first = signature.make ? signature.make(scope, part, std::move(mine))
                                          : scope.add_one(node.type(), std::move(mine), node.attrs);
      for (size_t i = 0; i < outputs.size(); ++i)
        outputs[i].parts->parts.push_back(result_.output(first.node, first.index + static_cast<uint32_t>(i)));
    }
    finish(node, std::move(outputs));
  }

  struct BackEdge {
    NodeId reader;
    size_t index;
    Output source;
  };

  Subgraph& subgraph_;
  const Graph& old_;
  Graph result_;
  const Scope root_;
  std::vector<std::vector<Value>> values_;  ///< by node and output of the graph before the pass
  std::vector<std::vector<NodeId>> ends_;   ///< by node: the nodes of the result that stand for it
  std::vector<NodeId> origin_;
  std::vector<BackEdge> back_edges_;
  std::map<std::vector<std::string>, std::unique_ptr<Exchanges>> exchanges_;
  size_t replaced_ = 0;
};

}  // namespace

Result<size_t> split_ops(Subgraph& subgraph) {
  if (std::ranges::none_of(subgraph.graph.nodes(), declares_distribution)) return size_t{0};
  return Splitter(subgraph).run();
}

}  // namespace troupe
