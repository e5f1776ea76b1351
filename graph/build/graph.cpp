#include "graph/build/graph.h"

#include <algorithm>
#include <atomic>
#include <charconv>

#include "graph/build/shape_context.h"
#include "graph/build/signature.h"

namespace troupe {
namespace {

constexpr int64_t max_outputs = 1 << 20;

/// Numbers graphs throughout the process, so that graphs of different runtimes have different stamps, too. 0 means unknown.
uint32_t next_stamp() {
  static constinit std::atomic<uint32_t> last{0};
  uint32_t stamp = 0;
  while (stamp == 0) stamp = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return stamp;
}

/// Sorts the ids and removes duplicates.
void normalise(std::vector<NodeId>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

std::vector<bool> reference_inputs(const OpDef& op, const Attributes& attrs) {
  std::vector<bool> result;
  for (const auto& type : flattened_types(op.inputs, attrs)) result.push_back(type.is_ref);
  return result;
}

/// `subject` is what the caller calls the node.
Status no_such_node(const std::string& subject, NodeId node, size_t nodes) {
  return invalid_argument(subject + "refers to node number " + std::to_string(node) + ", but the graph has " +
                          std::to_string(nodes) + (nodes == 1 ? " node" : " nodes"));
}

Status no_such_control_input(NodeId source, size_t nodes) {
  return no_such_node("a control input ", source, nodes);
}

std::string outputs_text(size_t count) {
  return std::to_string(count) + (count == 1 ? " output" : " outputs");
}

}  // namespace

bool valid_node_name(std::string_view name) {
  if (name.empty() || name.front() == '-' || name.front() == '/') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-' || c == '/' || c == '>';
  });
}

Graph::Graph(std::shared_ptr<const OpTable> ops) : ops_(std::move(ops)), stamp_(next_stamp()) {}

Result<NodeId> Graph::add(NodeSpec spec) {
  const auto fail = [&](Status status) { return std::move(status).at_node(spec.op, spec.name); };
  auto op = ops_->require(spec.op);
  if (!op) return fail(op.status());
  if (!valid_node_name(spec.name))
    return fail(invalid_argument(
        "'" + spec.name +
        "' is not a valid name of a node: allowed are letters, digits and _.-/>, but not - or / first"));
  if (index_.contains(spec.name)) return fail(invalid_argument("the graph already has a node of this name"));

  std::vector<EdgeType> input_types;
  input_types.reserve(spec.inputs.size());
  for (Output& input : spec.inputs) {
    if (Status status = check_tensor(input); !status.ok())
      return fail(invalid_argument("input " + std::to_string(input_types.size()) + ' ' + status.text()));
    input_types.push_back(type(input));
    input.graph = 0;
  }
  for (const NodeId control : spec.control_inputs)
    if (control >= size()) return fail(no_such_control_input(control, size()));
  if (Status status = complete_attributes(**op, input_types, spec.attrs); !status.ok())
    return fail(std::move(status));
  for (const auto& output : (*op)->outputs)
    if (!output.number_attr.empty() && spec.attrs.get<int64_t>(output.number_attr) > max_outputs)
      return fail(resource_exhausted("output '" + output.name + "' has " +
                                     std::to_string(spec.attrs.get<int64_t>(output.number_attr)) +
                                     " tensors; at most " + std::to_string(max_outputs) + " are allowed"));

  Node node;
  node.id = static_cast<NodeId>(nodes_.size());
  node.name = spec.name;
  node.op = *op;
  node.attrs = std::move(spec.attrs);
  node.inputs = std::move(spec.inputs);
  node.control_inputs = std::move(spec.control_inputs);
  normalise(node.control_inputs);
  node.device = std::move(spec.device);
  node.colocate_with = std::move(spec.colocate_with);
  node.output_types = flattened_types(node.op->outputs, node.attrs);
  node.expects_ref = reference_inputs(*node.op, node.attrs);
  ShapeContext context(*this, node);
  if (Status status = node.op->shape(context); !status.ok()) return fail(std::move(status));
  if (!context.status().ok()) return fail(context.status());
  node.output_shapes = std::move(context).take_outputs();

  index_.emplace(node.name, node.id);
  nodes_.push_back(std::move(node));
  ++version_;
  return nodes_.back().id;
}

Graph Graph::empty() const {
  Graph graph(ops_);
  graph.functions_ = functions_;
  return graph;
}

void Graph::reserve(size_t nodes) {
  nodes_.reserve(nodes);
  index_.reserve(nodes);
}

NodeId Graph::append(Node node) {
  node.id = static_cast<NodeId>(nodes_.size());
  [[maybe_unused]] const bool free = index_.emplace(node.name, node.id).second;
  assert(free);
  nodes_.push_back(std::move(node));
  ++version_;
  return nodes_.back().id;
}

std::vector<Node> Graph::release() && {
  index_.clear();
  return std::move(nodes_);
}

Status Graph::replace_input(NodeId node, size_t index, Output source) {
  if (node >= size()) return no_such_node("a request for another input ", node, size());
  Node& target = nodes_[node];
  const auto fail = [&](std::string text) {
    return invalid_argument(std::move(text)).at_node(target.type(), target.name);
  };
  if (index >= target.inputs.size()) return fail("there is no input " + std::to_string(index));
  if (const Status status = check_tensor(source); !status.ok())
    return fail("the new input " + std::to_string(index) + ' ' + status.text());
  const EdgeType old_type = type(target.inputs[index]), new_type = type(source);
  if (old_type.dtype != new_type.dtype)
    return fail("input " + std::to_string(index) + " is " + std::string(troupe::name(old_type.dtype)) +
                " and cannot become " + std::string(troupe::name(new_type.dtype)));
  if (target.expects_ref[index] && !new_type.is_ref)
    return fail("input " + std::to_string(index) + " must be a reference to a variable, not a value");
  target.inputs[index] = {source.node, source.index};
  ++version_;
  return {};
}

Status Graph::add_control_input(NodeId node, NodeId source) {
  if (node >= size()) return no_such_node("a request for another control input ", node, size());
  if (source >= size())
    return no_such_control_input(source, size()).at_node(nodes_[node].type(), nodes_[node].name);
  nodes_[node].control_inputs.push_back(source);
  normalise(nodes_[node].control_inputs);
  ++version_;
  return {};
}

void Graph::set_device(NodeId node, std::string device) {
  if (node >= size()) throw Error(no_such_node("a request for device '" + device + "' ", node, size()));
  nodes_[node].device = std::move(device);
  ++version_;
}

Status Graph::refine_shape(Output output, const PartialShape& shape) {
  if (const Status status = check_tensor(output); !status.ok())
    return invalid_argument("the output whose shape is refined " + status.text());
  Node& node = nodes_[output.node];
  auto merged = merge(node.output_shapes[output.index], shape);
  if (!merged) return merged.status().at_node(node.type(), node.name);
  node.output_shapes[output.index] = std::move(*merged);
  ++version_;
  return {};
}

const Node* Graph::find(std::string_view name) const {
  const auto at = index_.find(std::string(name));
  return at == index_.end() ? nullptr : &nodes_[at->second];
}

Result<const Node*> Graph::require(std::string_view name) const {
  if (const Node* node = find(name)) return node;
  if (absent_.contains(name)) return absent_.why(name);
  std::vector<std::string_view> names;
  for (const auto& candidate : nodes_) names.push_back(candidate.name);
  const auto near = nearest(name, names);
  return not_found("the graph has no node '" + std::string(name) + "'" +
                   (near.empty() ? "" : "; the nearest is '" + std::string(near) + "'"));
}

Result<Output> Graph::find_target(std::string_view name) const {
  TROUPE_ASSIGN(const Node* const node, require(name));
  return output(node->id, Output::control);
}

Result<Output> Graph::find_output(std::string_view name) const {
  const size_t colon = name.rfind(':');
  const std::string_view node_name = name.substr(0, colon);
  uint32_t index = 0;
  if (colon != std::string_view::npos) {
    const auto digits = name.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (error != std::errc{} || end != digits.data() + digits.size())
      return invalid_argument("'" + std::string(name) + "' is not of the form NODE or NODE:OUTPUT");
  }
  TROUPE_ASSIGN(const Node* const node, require(node_name));
  if (index >= node->output_types.size())
    return invalid_argument("there is no output " + std::to_string(index) + ": the node has " +
                            outputs_text(node->output_types.size()))
        .at_node(node->type(), node->name);
  return this->output(node->id, index);
}

bool Graph::contains(Output output) const {
  return output.node < nodes_.size() && output.index < nodes_[output.node].output_types.size();
}

Status Graph::check(Output output) const {
  if (output.node == Output::no_node) return invalid_argument("is a default constructed Output");
  if (output.graph != 0 && output.graph != stamp_) return invalid_argument("belongs to another graph");
  if (output.node >= size()) return no_such_node("", output.node, size());
  const Node& node = nodes_[output.node];
  if (!output.is_control() && output.index >= node.output_types.size())
    return invalid_argument("refers to output " + std::to_string(output.index) + ", but node '" + node.name +
                            "' has " + outputs_text(node.output_types.size()));
  return {};
}

Status Graph::check_tensor(Output output) const {
  TROUPE_RETURN_IF_FAILED(check(output));
  if (!output.is_control()) return {};
  return invalid_argument("is node '" + nodes_[output.node].name + "', not one of its outputs");
}

std::string Graph::name_of(Output output) const {
  return output.is_control() ? '^' + nodes_[output.node].name
                             : nodes_[output.node].name + ':' + std::to_string(output.index);
}

const Tensor* Graph::constant(Output output) const {
  // The ops by which branches and loops see values from outside. Chains of them are short.
  const auto passes_on = [](const std::string& type) {
    return type == "Switch" || type == "Enter" || type == "Identity";
  };
  const Node* node = &nodes_[output.node];
  for (int hops = 0; hops < 64 && passes_on(node->type()); ++hops) {
    const AttrValue* invariant = node->attrs.find("is_constant");
    if (invariant && !std::get<bool>(*invariant)) return nullptr;
    node = &nodes_[node->inputs[0].node];
  }
  return node->type() == "Const" ? &node->attrs.get<Tensor>("value") : nullptr;
}

std::string Graph::unique_name(std::string_view base) const {
  std::string name(base);
  if (!index_.contains(name)) return name;
  uint32_t& suffix = next_suffix_[name];
  do name = std::string(base) + '_' + std::to_string(++suffix);
  while (index_.contains(name));
  return name;
}

Status Graph::add_function(Function function) {
  std::string name = function.name;
  if (!functions_.emplace(name, std::move(function)).second)
    return already_exists("function " + name + " is defined twice");
  ++version_;
  return {};
}

const Function* Graph::find_function(std::string_view name) const {
  const auto at = functions_.find(name);
  return at == functions_.end() ? nullptr : &at->second;
}

const std::string& requested_device(const Graph& graph, NodeId id) {
  const Node* node = &graph.node(id);
  while (node->device.empty() && !node->colocate_with.empty()) {
    const Node* const other = graph.find(node->colocate_with.front());
    if (!other || other->id >= node->id) break;
    node = other;
  }
  return node->device;
}

bool is_back_edge(const Node& from, const Node& to) {
  return (to.type() == "Merge" || to.type() == "RefMerge") &&
         (from.type() == "NextIteration" || from.type() == "RefNextIteration");
}

Result<std::vector<NodeId>> topological_order(std::span<const Node> nodes) {
  std::vector<uint32_t> pending(nodes.size(), 0), start(nodes.size() + 1, 0);
  const auto each_edge = [&](auto&& visit) {
    for (const Node& node : nodes) {
      for (const Output& input : node.inputs)
        if (!is_back_edge(nodes[input.node], node)) visit(input.node, node.id);
      for (const NodeId control : node.control_inputs) visit(control, node.id);
    }
  };
  each_edge([&](NodeId from, NodeId to) { ++start[from + 1], ++pending[to]; });
  for (size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
  std::vector<NodeId> consumers(start.back());
  auto next = start;
  each_edge([&](NodeId from, NodeId to) { consumers[next[from]++] = to; });

  std::vector<NodeId> order;
  order.reserve(nodes.size());
  for (NodeId id = 0; id < nodes.size(); ++id)
    if (pending[id] == 0) order.push_back(id);
  for (size_t i = 0; i < order.size(); ++i)
    for (uint32_t e = start[order[i]]; e < start[order[i] + 1]; ++e)
      if (--pending[consumers[e]] == 0) order.push_back(consumers[e]);
  if (order.size() == nodes.size()) return order;
  const auto stuck = std::find_if(pending.begin(), pending.end(), [](uint32_t count) { return count != 0; });
  const Node& node = nodes[static_cast<size_t>(stuck - pending.begin())];
  return invalid_argument("the node is part of a cycle without a NextIteration, or depends on one")
      .at_node(node.type(), node.name);
}

}  // namespace troupe
