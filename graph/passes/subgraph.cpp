#include "graph/passes/subgraph.h"

#include <algorithm>
#include <unordered_map>

#include "graph/build/recomputation.h"

namespace troupe {
namespace {

Status no_such_node(const Graph& graph, std::string_view what, NodeId node) {
  return invalid_argument(std::string(what) + " refers to node number " + std::to_string(node) +
                          ", but the graph has " + std::to_string(graph.size()) + " nodes");
}

Status check_fetch(const Graph& graph, Output fetch) {
  if (fetch.node >= graph.size()) return no_such_node(graph, "a fetch", fetch.node);
  if (graph.contains(fetch)) return {};
  const Node& node = graph.node(fetch.node);
  const size_t outputs = node.output_types.size();
  if (fetch.is_control() || outputs == 0)
    return invalid_argument("the node has no output to fetch; run it as a target")
        .at_node(node.type(), node.name);
  return invalid_argument("there is no output " + std::to_string(fetch.index) + " to fetch: the node has " +
                          std::to_string(outputs) + (outputs == 1 ? " output" : " outputs"))
      .at_node(node.type(), node.name);
}

class Cut {
 public:
  Cut(const Graph& graph, const RunSignature& signature)
      : graph_(graph), signature_(signature), fed_node_(graph.size()), reached_(graph.size()),
        argument_(signature.feeds.size(), no_node), new_id_(graph.size(), no_node),
        yields_value_(graph.size()) {}

  Result<std::vector<bool>> feeds_needed(std::span<const uint32_t> fetches) && {
    TROUPE_RETURN_IF_FAILED(check());
    used_.assign(feed_.size() + 1, false);
    for (const uint32_t fetch : fetches) reach(signature_.fetches[fetch].node, feed_.size());
    reach_all();
    used_.pop_back();
    return std::move(used_);
  }

  Result<Subgraph> run() && {
    TROUPE_RETURN_IF_FAILED(check());
    reach();
    Subgraph result{graph_.empty(), {}, {}};
    TROUPE_RETURN_IF_FAILED(add_arguments(result.graph));
    result.origin.assign(result.graph.size(), no_node);
    TROUPE_RETURN_IF_FAILED(copy_nodes(result));
    for (const NodeId target : signature_.targets) result.roots.push_back(control_source(target));
    TROUPE_RETURN_IF_FAILED(add_results(result));
    result.origin.resize(result.graph.size(), no_node);
    return result;
  }

 private:
  Status check() {
    if (signature_.fetches.empty() && signature_.targets.empty())
      return invalid_argument("the step has neither fetches nor targets");
    for (const Output& feed : signature_.feeds) {
      if (feed.node >= graph_.size()) return no_such_node(graph_, "a feed", feed.node);
      if (!graph_.contains(feed))
        return invalid_argument("there is no output " + std::to_string(feed.index) + " to feed")
            .at_node(graph_.node(feed.node).type(), graph_.node(feed.node).name);
      if (!feed_.emplace(feed, feed_.size()).second)
        return invalid_argument(graph_.name_of(feed) + " is fed twice");
      fed_node_[feed.node] = true;
    }
    for (const Output& fetch : signature_.fetches) {
      TROUPE_RETURN_IF_FAILED(check_fetch(graph_, fetch));
      if (feed_.contains(fetch)) return invalid_argument(graph_.name_of(fetch) + " is both fed and fetched");
    }
    for (const NodeId target : signature_.targets)
      if (target >= graph_.size()) return no_such_node(graph_, "a target", target);
    return {};
  }

  /// Returns the index of the feed that replaces this output, or the number of feeds if there is none.
  size_t feed_of(Output output) const {
    if (!fed_node_[output.node]) return feed_.size();
    const auto at = feed_.find(output);
    return at == feed_.end() ? feed_.size() : at->second;
  }
  /// Returns the index of the feed that control edges from this node move to: that of a fed Placeholder.
  size_t feed_of_control(NodeId node) const {
    const std::string& type = graph_.node(node).type();
    return fed_node_[node] && (type == "Placeholder" || type == "PlaceholderV2") ? feed_of({node, 0})
                                                                                 : feed_.size();
  }

  void reach() {
    used_.assign(feed_.size() + 1, false);  // the last element stands for "not fed"
    for (const Output& fetch : signature_.fetches) reach(fetch.node, feed_.size());
    for (const NodeId target : signature_.targets) reach(target, feed_of_control(target));
    reach_all();
  }
  void reach_all() {
    while (!stack_.empty()) {
      const Node& node = graph_.node(stack_.back());
      stack_.pop_back();
      for (const Output& input : node.inputs) reach(input.node, feed_of(input));
      for (const NodeId control : node.control_inputs) reach(control, feed_of_control(control));
    }
  }
  void reach(NodeId node, size_t feed) {
    used_[feed] = true;
    if (feed != feed_.size() || reached_[node]) return;
    reached_[node] = true;
    stack_.push_back(node);
  }

  NodeSpec argument(size_t i) const {
    const Output feed = signature_.feeds[i];
    NodeSpec spec;
    spec.op = signature_.partial ? "_HostRecv" : "_Arg";
    if (signature_.partial)
      spec.attrs = client_end(feed_edge(i), "tensor_type", graph_.dtype(feed));
    else
      spec.attrs = {
          {"T", graph_.dtype(feed)}, {"index", static_cast<int64_t>(i)}, {"_feed", graph_.name_of(feed)}};
    return spec;
  }
  NodeSpec result(size_t j) const {
    const DType dtype = graph_.dtype(signature_.fetches[j]);
    NodeSpec spec;
    spec.op = signature_.partial ? "_HostSend" : "_Retval";
    if (signature_.partial)
      spec.attrs = client_end(fetch_edge(j), "T", dtype);
    else
      spec.attrs = {{"T", dtype}, {"index", static_cast<int64_t>(j)}};
    return spec;
  }
  static Attributes client_end(std::string edge, const char* type, DType dtype) {
    return {{type, dtype},
            {"tensor_name", std::move(edge)},
            {"send_device", std::string(client_device)},
            {"send_device_incarnation", int64_t{0}},
            {"recv_device", std::string(client_device)},
            {"client_terminated", true}};
  }

  Status add_arguments(Graph& graph) {
    for (size_t i = 0; i < feed_.size(); ++i) {
      if (!used_[i]) continue;
      const Output feed = signature_.feeds[i];
      NodeSpec spec = argument(i);
      spec.name = graph_.unique_name("_arg_" + std::to_string(i) + '_' + graph_.node(feed.node).name);
      TROUPE_ASSIGN(argument_[i], graph.add(std::move(spec)));
      TROUPE_RETURN_IF_FAILED(graph.refine_shape({argument_[i], 0}, graph_.shape(feed)));
    }
    return {};
  }

  Status copy_nodes(Subgraph& result) {
    auto next = static_cast<NodeId>(result.graph.size());
    for (NodeId id = 0; id < graph_.size(); ++id)
      if (reached_[id]) new_id_[id] = next++;
    result.graph.reserve(next + signature_.fetches.size());
    for (NodeId id = 0; id < graph_.size(); ++id) {
      if (!reached_[id]) continue;
      TROUPE_ASSIGN(Node node, translate(graph_.node(id)));
      result.graph.append(std::move(node));
      result.origin.push_back(id);
    }
    return {};
  }

  Result<Node> translate(Node node) {
    node.attrs.erase(segment_attr);  // only gradients() needs it, and otherwise equal nodes would differ
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      Output& input = node.inputs[i];
      const size_t feed = feed_of(input);
      if (node.expects_ref[i] && (feed != feed_.size() || yields_value_[input.node]))
        TROUPE_RETURN_IF_FAILED(take_value(node, i));
      input = feed != feed_.size() ? Output{argument_[feed], 0} : Output{new_id_[input.node], input.index};
    }
    for (NodeId& control : node.control_inputs) control = control_source(control);
    std::sort(node.control_inputs.begin(), node.control_inputs.end());
    node.control_inputs.erase(std::unique(node.control_inputs.begin(), node.control_inputs.end()),
                              node.control_inputs.end());
    return node;
  }
  /// Makes a node forward a value, because a value is fed in place of the reference that the node would forward.
  Status take_value(Node& node, size_t input) {
    const std::string& op = node.type();
    const OpDef* const value_form = op.starts_with("Ref") ? graph_.ops()->find(op.substr(3)) : nullptr;
    if (!value_form)
      return invalid_argument("input " + std::to_string(input) +
                              " must be a reference to a variable, but a value is fed for " +
                              graph_.name_of(node.inputs[input]))
          .at_node(op, node.name);
    node.op = value_form;
    node.attrs.erase("_initialized");
    node.expects_ref.assign(node.expects_ref.size(), false);
    for (EdgeType& type : node.output_types) type.is_ref = false;
    yields_value_[node.id] = true;
    return {};
  }
  NodeId control_source(NodeId node) const {
    const size_t feed = feed_of_control(node);
    return feed != feed_.size() ? argument_[feed] : new_id_[node];
  }

  Status add_results(Subgraph& subgraph) const {
    for (size_t j = 0; j < signature_.fetches.size(); ++j) {
      const Output fetch = signature_.fetches[j];
      NodeSpec spec = result(j);
      spec.name = graph_.unique_name("_retval_" + std::to_string(j) + '_' + graph_.node(fetch.node).name);
      spec.inputs = {{new_id_[fetch.node], fetch.index}};
      TROUPE_ASSIGN(const NodeId id, subgraph.graph.add(std::move(spec)));
      subgraph.roots.push_back(id);
    }
    return {};
  }

  const Graph& graph_;
  const RunSignature& signature_;
  std::unordered_map<Output, size_t, OutputHash> feed_;
  std::vector<bool> fed_node_, reached_, used_;
  std::vector<NodeId> stack_, argument_, new_id_;
  /// For each node: true if it forwards a fed value in place of a reference.
  std::vector<bool> yields_value_;
};

}  // namespace

Result<RunSignature> resolve_signature(const Graph& graph, std::span<const std::string> feeds,
                                       std::span<const std::string> fetches,
                                       std::span<const std::string> targets) {
  RunSignature signature;
  for (const std::string& name : feeds) {
    TROUPE_ASSIGN(const Output feed, graph.find_output(name));
    signature.feeds.push_back(feed);
  }
  for (const std::string& name : fetches) {
    TROUPE_ASSIGN(const Output fetch, graph.find_output(name));
    signature.fetches.push_back(fetch);
  }
  for (const std::string& name : targets) {
    if (name.find(':') != std::string::npos)
      return invalid_argument("target '" + name + "' is an output; a target must be a node");
    TROUPE_ASSIGN(const Output target, graph.find_target(name));
    signature.targets.push_back(target.node);
  }
  return signature;
}

Result<Subgraph> cut_subgraph(const Graph& graph, const RunSignature& signature) {
  return Cut(graph, signature).run();
}

Result<std::vector<bool>> feeds_needed(const Graph& graph, const RunSignature& signature,
                                       std::span<const uint32_t> fetches) {
  return Cut(graph, signature).feeds_needed(fetches);
}

std::string feed_edge(size_t feed) { return "feed_" + std::to_string(feed); }
std::string fetch_edge(size_t fetch) { return "fetch_" + std::to_string(fetch); }

}  // namespace troupe
