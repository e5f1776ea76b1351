#include "apps/draw/dot.h"

#include <map>

#include "apps/draw/colours.h"

namespace troupe::draw {
namespace {

constexpr const char* no_device_colour = "#eeeeee";

class Drawing {
 public:
  Drawing()
      : text_(
            "digraph {\n  rankdir=BT; node [shape=box, style=filled, fontname=sans]; edge [fontname=sans, "
            "fontsize=9];\n") {}

  std::string finish() && { return std::move(text_) + "}\n"; }

  void begin_box(size_t number, const std::string& label) {
    text_ += "  subgraph cluster_" + std::to_string(number) + " { label=" + quoted(label) + ";\n";
  }
  void end_box() { text_ += "  }\n"; }

  /// `prefix` distinguishes nodes of equal names in different partitions. If `device` is empty, each node has the device it
  /// requests.
  void add_nodes(const Graph& graph, const std::string& prefix, const std::string& device) {
    for (const Node& node : graph.nodes()) {
      const std::string& where = device.empty() ? node.device : device;
      text_ += "  " + quoted(prefix + node.name) + " [label=" + quoted(node.name + "\n" + node.type()) +
               ", fillcolor=" + quoted(colour(where)) + "];\n";
    }
  }
  void add_edges(const Graph& graph, const std::string& prefix) {
    for (const Node& node : graph.nodes()) {
      for (const Output& input : node.inputs)
        edge(prefix + graph.node(input.node).name, prefix + node.name, "label=" + quoted(what(graph, input)));
      for (const NodeId control : node.control_inputs)
        edge(prefix + graph.node(control).name, prefix + node.name, "style=dashed");
    }
  }
  void edge(const std::string& from, const std::string& to, const std::string& attributes) {
    text_ += "  " + quoted(from) + " -> " + quoted(to) + " [" + attributes + "];\n";
  }

 private:
  static std::string what(const Graph& graph, Output output) {
    const EdgeType type = graph.type(output);
    return (type.is_ref ? "ref " : "") + std::string(name(type.dtype)) + graph.shape(output).text();
  }
  const char* colour(const std::string& device) {
    return device.empty() ? no_device_colour : colours_.of(device);
  }

  std::string text_;
  Colours colours_;
};

/// Returns a name that is equal for a Send and its Recv.
std::string edge_name(const Node& node) {
  return node.attrs.get<std::string>("tensor_name") + ' ' + node.attrs.get<std::string>("recv_device");
}

bool is_transfer(const Node& node) { return node.attrs.find("tensor_name") != nullptr; }

}  // namespace

std::string dot(const Graph& graph) {
  Drawing drawing;
  drawing.add_nodes(graph, {}, {});
  drawing.add_edges(graph, {});
  return std::move(drawing).finish();
}

std::string dot(const PlacedStep& step) {
  Drawing drawing;
  std::map<std::string, std::pair<std::string, std::string>> transfers;  // by edge: its Send and its Recv
  for (size_t i = 0; i < step.partitions.size(); ++i) {
    const Partition& part = step.partitions[i];
    const std::string device = step.devices[part.device].name.text(), prefix = std::to_string(i) + " ";
    drawing.begin_box(i, device);
    drawing.add_nodes(part.graph, prefix, device);
    drawing.end_box();
    drawing.add_edges(part.graph, prefix);
    for (const Node& node : part.graph.nodes())
      if (is_transfer(node))
        (node.output_types.empty() ? transfers[edge_name(node)].first : transfers[edge_name(node)].second) =
            prefix + node.name;
  }
  for (const auto& [name, ends] : transfers)
    if (!ends.first.empty() && !ends.second.empty())
      drawing.edge(ends.first, ends.second, "style=bold, color=red, constraint=false");
  return std::move(drawing).finish();
}

}  // namespace troupe::draw
