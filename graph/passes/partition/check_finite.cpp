#include "graph/passes/partition/check_finite.h"

#include <algorithm>
#include <map>
#include <string>

#include "graph/build/host_integers.h"
#include "messages/values/dtype.h"

namespace troupe {
namespace {

bool is_feed(const Node& node) {
  return node.type() == "_Arg" || (node.type() == "_HostRecv" && node.inputs.empty());
}

/// Returns whether the node may compute numbers. The outputs of TensorArrays and stacks are what was put in, or order their ops.
bool computes(const Node& node) {
  if (is_feed(node)) return true;
  const std::string& op = node.type();
  return node.op->served_by != ServedBy::Step && op != "Const" && op != check_finite_op &&
         !op.starts_with("TensorArray") && !op.starts_with("Stack") && !passes_on(node);
}

class Checking {
 public:
  Checking(Graph& graph, std::vector<DeviceId>& device) : graph_(graph), device_(device) {}

  Status run() {
    const auto count = static_cast<NodeId>(graph_.size());
    for (NodeId id = 0; id < count; ++id)
      for (size_t i = 0; i < graph_.node(id).inputs.size(); ++i) TROUPE_RETURN_IF_FAILED(redirect(id, i));
    return {};
  }

 private:
  /// Makes the input of a node come from a check of the output that it reads, if that is to be checked.
  Status redirect(NodeId reader, size_t input) {
    const Output source = graph_.node(reader).inputs[input];
    const EdgeType type = graph_.type(source);
    if (type.is_ref || !is_floating(type.dtype) || !computes(graph_.node(source.node))) return {};
    const auto [check, is_new] = checks_.try_emplace(source);
    if (is_new) {
      TROUPE_ASSIGN(check->second, add_check(source));
    }
    return graph_.replace_input(reader, input, Output{check->second, 0});
  }

  Result<NodeId> add_check(Output source) {
    const Node& node = graph_.node(source.node);
    NodeSpec spec;
    spec.op = check_finite_op;
    spec.name = graph_.unique_name(node.name + "/check_finite");
    spec.attrs = {{"op", is_feed(node) ? std::string(checked_feed) : node.type()},
                  {"node", name_of(node)},
                  {"index", static_cast<int64_t>(source.index)}};
    spec.inputs = {source};
    std::string variables;
    for (const Output& input : node.inputs) {
      const EdgeType type = graph_.type(input);
      if (!is_floating(type.dtype)) continue;
      if (type.is_ref)
        variables.append(variables.empty() ? "" : ", ").append(graph_.node(input.node).name);
      else
        spec.inputs.push_back(input);
    }
    spec.attrs.set("variables", variables);
    device_.push_back(device_[source.node]);
    return graph_.add(std::move(spec));
  }

  static std::string name_of(const Node& node) {
    const AttrValue* const feed = node.attrs.find("_feed");
    return feed ? std::get<std::string>(*feed) : node.name;
  }

  Graph& graph_;
  std::vector<DeviceId>& device_;
  std::map<Output, NodeId> checks_;  ///< for each output that is checked, the node that does so
};

}  // namespace

bool is_not_finite(const Status& failure) {
  return failure.code() == Code::InvalidArgument &&
         failure.text().find(first_not_finite_note) != std::string::npos;
}

Status check_finite(Graph& graph, std::vector<DeviceId>& device) { return Checking(graph, device).run(); }

}  // namespace troupe
