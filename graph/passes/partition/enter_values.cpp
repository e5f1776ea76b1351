#include "graph/passes/partition/enter_values.h"

#include <map>
#include <set>
#include <utility>

#include "graph/passes/partition/after_writes.h"

namespace troupe {
namespace {

class EnterValues {
 public:
  EnterValues(Graph& graph, std::vector<DeviceId>& device) : graph_(graph), device_(device) {}

  Status run() {
    const auto reads = reads_elsewhere();
    if (reads.empty()) return {};
    TROUPE_RETURN_IF_FAILED(find_writes());
    for (const auto& [reader, input] : reads) {
      const Output reference = graph_.node(reader).inputs[input];
      if (after_write_[reader] || changed_.contains(variable_of(reference))) continue;
      TROUPE_ASSIGN(const NodeId enter, entered(reference.node));
      TROUPE_RETURN_IF_FAILED(graph_.replace_input(reader, input, {enter, 0}));
    }
    return {};
  }

 private:
  static bool enters(const Node& node) {
    return node.type() == "RefEnter" && node.attrs.get<bool>("is_constant");
  }

  /// Returns the nodes and inputs that are the value of a variable that a loop has entered, and that lies on another device.
  std::vector<std::pair<NodeId, size_t>> reads_elsewhere() const {
    std::vector<std::pair<NodeId, size_t>> reads;
    for (const Node& node : graph_.nodes())
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        const NodeId source = node.inputs[i].node;
        if (enters(graph_.node(source)) && !node.expects_ref[i] && device_[source] != device_[node.id])
          reads.emplace_back(node.id, i);
      }
    return reads;
  }

  /// Returns the reference that the outermost loop enters.
  Output variable_of(Output reference) const {
    while (enters(graph_.node(reference.node))) reference = graph_.node(reference.node).inputs[0];
    return reference;
  }

  /// Finds the nodes that a change of some variable precedes, and the variables that are changed inside loops.
  Status find_writes() {
    TROUPE_ASSIGN(after_write_, after_writes(graph_));
    for (const Node& node : graph_.nodes())
      for (size_t i = 0; i < node.inputs.size(); ++i)
        if (node.expects_ref[i] && enters(graph_.node(node.inputs[i].node)) && !enters(node))
          changed_.insert(variable_of(node.inputs[i]));
    return {};
  }

  /// Returns the node that enters the value where the RefEnter enters the reference.
  Result<NodeId> entered(NodeId reference) {
    const auto [known, is_new] = values_.try_emplace(reference);
    if (!is_new) return known->second;
    Output source = graph_.node(reference).inputs[0];
    if (enters(graph_.node(source.node))) {
      TROUPE_ASSIGN(source.node, entered(source.node));
      source.index = 0;
    }
    const Node& node = graph_.node(reference);
    NodeSpec spec;
    spec.op = "Enter";
    spec.name = graph_.unique_name(node.name + "/value");
    spec.inputs = {source};
    spec.attrs = {{"frame_name", node.attrs.get<std::string>("frame_name")},
                  {"parallel_iterations", node.attrs.get<int64_t>("parallel_iterations")},
                  {"is_constant", true}};
    spec.control_inputs = node.control_inputs;
    const DeviceId device = device_[reference];
    TROUPE_ASSIGN(known->second, graph_.add(std::move(spec)));
    device_.push_back(device);
    return known->second;
  }

  Graph& graph_;
  std::vector<DeviceId>& device_;
  std::vector<bool> after_write_;    ///< for each node
  std::set<Output> changed_;         ///< references of variables
  std::map<NodeId, NodeId> values_;  ///< by the RefEnter
};

}  // namespace

Status enter_values(Graph& graph, std::vector<DeviceId>& device) { return EnterValues(graph, device).run(); }

}  // namespace troupe
