#include "apps/draw/scope_drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <vector>

#include "apps/draw/colours.h"
#include "apps/draw/edge_text.h"
#include "apps/report/html.h"
#include "apps/text/escaped.h"

namespace troupe::draw {
namespace {

using Kind = GraphView::Kind;

constexpr size_t most_boxes = 30;

std::string markup(const std::string& text) { return report::html(escaped(text)); }

Path first_parts(const Path& path, size_t parts) {
  return {path.begin(), path.begin() + static_cast<std::ptrdiff_t>(std::min(parts, path.size()))};
}

/// What is drawn as one box: a node, or all nodes of a folded scope.
struct Box {
  Path scope;  ///< in which it is drawn, relative to the focus; of a folded scope its own path, too
  bool is_folded = false, is_outside = false;
  std::vector<const GraphView::Seen*> nodes;
};

/// Returns the names and numbers of the ops in a box, the most frequent first: "3 MatMul, Relu".
std::string ops_text(const Graph& graph, const Box& box) {
  constexpr size_t most_named = 5;
  std::vector<std::pair<std::string, size_t>> ops;
  for (const auto* const seen : box.nodes) {
    if (seen->kind == Kind::Variable || seen->kind == Kind::Input) continue;
    const std::string& op = graph.node(seen->node).type();
    const auto found = std::ranges::find(ops, op, &std::pair<std::string, size_t>::first);
    if (found == ops.end())
      ops.emplace_back(op, 1);
    else
      ++found->second;
  }
  std::string text;
  size_t left = ops.size();
  for (const auto& [op, count] : ops) {
    if (ops.size() - left == most_named) break;
    text += (text.empty() ? "" : ", ") + (count > 1 ? std::to_string(count) + " " : std::string()) + op;
    --left;
  }
  return left == 0 ? text : text + fmt::format(", {} more", left);
}

const PartialShape& shape_of_variable(const Node& node) {
  const AttrValue* const shape = node.attrs.find("shape");
  const auto* const declared = shape ? std::get_if<PartialShape>(shape) : nullptr;
  return declared ? *declared : node.output_shapes[0];
}

/// Returns the number of elements of a variable; 0 if it is unknown.
double elements_of(const Node& node) {
  const PartialShape& shape = shape_of_variable(node);
  double elements = shape.fully_known() ? 1 : 0;
  for (const int64_t dim : shape.dims()) elements *= static_cast<double>(dim);
  return elements;
}

/// Returns a whole number with commas between groups of three digits.
std::string grouped(double number) {
  std::string digits = fmt::format("{:.0f}", number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

class Drawing {
 public:
  Drawing(const GraphView& view, Path focus, size_t depth, ScopeNumbers& numbers)
      : view_(view), graph_(view.graph()), focus_(std::move(focus)), depth_(depth), numbers_(numbers) {
    for (const auto& seen : view.nodes()) by_node_[seen.node] = &seen;
  }

  ScopeDrawing run() && {
    gather_boxes();
    text_ =
        "digraph {\n  rankdir=TB; ranksep=0.35; nodesep=0.3; bgcolor=transparent; fontname=\"sans-serif\";\n"
        "  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\", fontsize=11, "
        "color=\"#667085\", margin=\"0.12,0.06\"];\n"
        "  edge [fontname=\"sans-serif\", fontsize=8, color=\"#667085\", fontcolor=\"#475467\", "
        "arrowsize=0.6];\n";
    draw_clusters({});
    draw_edges();
    draw_legend();
    result_.dot = text_ + "}\n";
    result_.boxes = boxes_.size();
    return std::move(result_);
  }

 private:
  /// Returns the box of a node by its name in the drawing.
  std::pair<std::string, Box> box_of(const GraphView::Seen& seen) const {
    const size_t common =
        static_cast<size_t>(std::ranges::mismatch(seen.scope, focus_).in1 - seen.scope.begin());
    const bool is_outside = common < focus_.size();
    const size_t open = is_outside ? common : focus_.size() + depth_;
    if (seen.scope.size() > open) {
      Path scope = first_parts(seen.scope, open + 1);
      std::string id = "scope";
      for (const std::string& part : scope) id += '/' + part;
      return std::pair(std::move(id), Box{std::move(scope), true, is_outside, {}});
    }
    return {graph_.node(seen.node).name, {seen.scope, false, is_outside, {}}};
  }

  void gather_boxes() {
    std::set<NodeId> linked;  // nodes outside the focus that are linked to one inside
    for (const auto& seen : view_.nodes())
      for (const Output& input : seen.inputs) {
        const auto* const source = by_node_.at(input.node);
        const bool to = is_within(seen.scope, focus_), from = is_within(source->scope, focus_);
        if (to && !from) linked.insert(source->node);
        if (from && !to) linked.insert(seen.node);
      }
    for (const auto& seen : view_.nodes()) {
      if (!is_within(seen.scope, focus_) && !linked.contains(seen.node)) continue;
      auto [id, box] = box_of(seen);
      id_of_[seen.node] = id;
      boxes_.try_emplace(std::move(id), std::move(box)).first->second.nodes.push_back(&seen);
    }
    for (const auto& seen : view_.nodes())
      if (!graph_.node(seen.node).device.empty()) colours_.of(graph_.node(seen.node).device);
  }

  /// Draws the boxes in a scope, and the scopes in it.
  void draw_clusters(const Path& scope) {
    std::set<std::string> inside;
    for (const auto& [id, box] : boxes_) {
      if (box.is_outside) {
        if (scope.empty()) draw_box(id, box);
        continue;
      }
      const Path place(box.scope.begin() + static_cast<std::ptrdiff_t>(focus_.size()),
                       box.scope.end() - (box.is_folded ? 1 : 0));
      if (place == scope) draw_box(id, box);
      if (place.size() > scope.size() && is_within(place, scope)) inside.insert(place[scope.size()]);
    }
    for (const std::string& name : inside) {
      Path inner = scope;
      inner.push_back(name);
      text_ += fmt::format(
          "  subgraph cluster_{} {{ label=<<b>{}</b>>; style=rounded; color=\"#98a2b3\"; fontsize=11; "
          "class=scope;\n",
          clusters_++, markup(name));
      draw_clusters(inner);
      text_ += "  }\n";
    }
  }

  void draw_box(const std::string& id, const Box& box) {
    std::string classes, label, shape;
    const char* fill = "#ffffff";
    if (box.is_folded) {
      const size_t number = numbers_.try_emplace(box.scope, numbers_.size()).first->second;
      classes = fmt::format("folded scope-{}", number);
      result_.folded[box.scope] = fmt::format("scope-{}", number);
      label = folded_label(box);
      fill = "#f2f4f7";
    } else {
      const auto& seen = *box.nodes.front();
      const Node& node = graph_.node(seen.node);
      static constexpr std::array names = {"op", "input", "variable", "result", "gradient"};
      static constexpr std::array fills = {"#ffffff", "#d6e6ff", "#fff1c9", "#d5f3df", "#f0e4fb"};
      classes = names[static_cast<size_t>(seen.kind)];
      fill = fills[static_cast<size_t>(seen.kind)];
      label = node_label(seen, node);
      if (seen.kind == Kind::Variable) shape = ", shape=cylinder, style=filled";
    }
    if (box.is_outside) {
      classes += " outside";
      shape += ", style=\"rounded,dashed\"";
    }
    const std::string device = device_of(box);
    if (!device.empty()) fill = colours_.of(device);
    if (!device.empty()) classes += " placed";
    text_ += fmt::format("  {} [label=<{}>, fillcolor=\"{}\", class=\"{}\"{}];\n", quoted(id), label, fill,
                         classes, shape);
  }

  static std::string small(const std::string& text) {
    return fmt::format("<br/><font point-size=\"9\">{}</font>", text);
  }

  std::string node_label(const GraphView::Seen& seen, const Node& node) const {
    std::string label = "<b>" + markup(seen.label) + "</b>";
    if (seen.kind == Kind::Variable)
      return label + small(std::string(name(node.attrs.get<DType>("dtype"))) + ' ' +
                           markup(shape_of_variable(node).text()));
    return seen.label == node.type() ? label : label + small(markup(node.type()));
  }

  std::string folded_label(const Box& box) const {
    std::string label = "<b>" + markup(box.scope.back()) + "</b>";
    if (const std::string ops = ops_text(graph_, box); !ops.empty()) label += small(markup(ops));
    double parameters = 0;
    size_t variables = 0;
    constexpr size_t most_variables = 4;
    for (const auto* const seen : box.nodes) {
      if (seen->kind != Kind::Variable) continue;
      const Node& node = graph_.node(seen->node);
      parameters += elements_of(node);
      if (++variables <= most_variables)
        label += small(markup(seen->label) + ' ' + markup(shape_of_variable(node).text()));
    }
    if (variables > most_variables)
      label += small(fmt::format("{} more variables", variables - most_variables));
    if (parameters > 0) label += small(grouped(parameters) + " elements of variables");
    return label;
  }

  /// Returns the device that all nodes of the box request; empty: there is none.
  std::string device_of(const Box& box) const {
    const std::string& first = graph_.node(box.nodes.front()->node).device;
    const bool same = std::ranges::all_of(
        box.nodes, [&](const auto* seen) { return graph_.node(seen->node).device == first; });
    return same ? first : std::string();
  }

  void draw_edges() {
    std::map<std::pair<std::string, std::string>, std::vector<Output>> edges;
    for (const auto& seen : view_.nodes()) {
      const auto to = id_of_.find(seen.node);
      if (to == id_of_.end()) continue;
      for (const Output& input : seen.inputs) {
        const auto from = id_of_.find(input.node);
        if (from == id_of_.end() || from->second == to->second) continue;
        if (boxes_.at(from->second).is_outside && boxes_.at(to->second).is_outside) continue;
        auto& outputs = edges[{from->second, to->second}];
        if (std::ranges::find(outputs, input) == outputs.end()) outputs.push_back(input);
      }
    }
    for (const auto& [ends, outputs] : edges)
      text_ += fmt::format("  {} -> {} [label={}];\n", quoted(ends.first), quoted(ends.second),
                           quoted(label_of(outputs)));
  }

  std::string label_of(const std::vector<Output>& outputs) const {
    // A variable says itself what it is.
    if (outputs.size() == 1 && by_node_.at(outputs[0].node)->kind == Kind::Variable &&
        boxes_.at(id_of_.at(outputs[0].node)).nodes.size() == 1)
      return {};
    std::string text = edge_text(graph_, outputs[0]);
    return outputs.size() == 1 ? text : text + fmt::format("\nand {} more", outputs.size() - 1);
  }

  void draw_legend() {
    if (colours_.devices().empty()) return;
    text_ +=
        "  subgraph cluster_legend { label=<<b>devices</b>>; style=rounded; color=\"#98a2b3\"; "
        "fontsize=11;\n";
    for (const auto& [device, colour] : colours_.devices())
      text_ += fmt::format("  {} [label=<{}>, fillcolor=\"{}\", class=\"placed\"];\n",
                           quoted("device " + device), markup(device), colour);
    text_ += "  }\n";
  }

  const GraphView& view_;
  const Graph& graph_;
  const Path focus_;
  const size_t depth_;
  ScopeNumbers& numbers_;
  std::map<NodeId, const GraphView::Seen*> by_node_;
  std::map<std::string, Box> boxes_;     ///< by their names in the drawing
  std::map<NodeId, std::string> id_of_;  ///< the box of each node that is shown
  Colours colours_;
  size_t clusters_ = 0;
  std::string text_;
  ScopeDrawing result_;
};

}  // namespace

ScopeDrawing draw_scope(const GraphView& view, const Path& focus, size_t depth, ScopeNumbers& numbers) {
  return Drawing(view, focus, depth, numbers).run();
}

size_t default_depth(const GraphView& view) {
  ScopeNumbers numbers;
  return draw_scope(view, {}, 1, numbers).boxes <= most_boxes ? 1 : 0;
}

}  // namespace troupe::draw
