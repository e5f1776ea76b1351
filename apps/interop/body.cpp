#include "apps/interop/body.h"

namespace troupe::interop {

Body::Body(const Nodes& nodes, std::vector<std::string_view> arguments)
    : nodes_(&nodes), arguments_(std::move(arguments)) {}

Result<Body> Body::make(const Nodes& nodes, std::vector<std::string_view> arguments) {
  Body body(nodes, std::move(arguments));
  TROUPE_RETURN_IF_FAILED(body.name_nodes());
  TROUPE_RETURN_IF_FAILED(body.read_inputs());
  TROUPE_RETURN_IF_FAILED(body.sort());
  return body;
}

Status Body::fail(uint32_t i, Status status) const {
  return std::move(status).at_node(node(i).op(), node(i).name());
}

Status Body::name_nodes() {
  index_.reserve(size() + arguments_.size());
  for (uint32_t i = 0; i < size(); ++i)
    if (!index_.emplace(node(i).name(), i).second)
      return fail(i, invalid_argument("another node has the same name"));
  for (uint32_t i = 0; i < arguments_.size(); ++i)
    if (!index_.emplace(arguments_[i], size() + i).second)
      return invalid_argument("argument '" + std::string(arguments_[i]) +
                              "' has the same name as a node or another argument");
  return {};
}

Result<Body::Input> Body::find(std::string_view reference) const {
  const size_t colon = reference.find(':');
  const auto at = index_.find(reference.substr(0, colon));
  if (at == index_.end())
    return not_found("there is no node '" + std::string(reference.substr(0, colon)) + "'");
  return Input{at->second, colon == std::string_view::npos ? "" : reference.substr(colon + 1)};
}

Status Body::read_inputs() {
  first_input_.reserve(size() + 1);
  first_control_.reserve(size() + 1);
  for (uint32_t i = 0; i < size(); ++i) {
    first_input_.push_back(static_cast<uint32_t>(inputs_.size()));
    first_control_.push_back(static_cast<uint32_t>(controls_.size()));
    for (const std::string& text : node(i).input()) {
      const bool is_control = text.starts_with('^');
      const auto wrong = [&](const std::string& what) {
        return fail(i, invalid_argument(("input '" + text).append("': ").append(what)));
      };
      const auto source = find(std::string_view(text).substr(is_control ? 1 : 0));
      if (!source) return wrong(source.status().text());
      if (is_control && !source->output.empty())
        return wrong("a control input names a node, without the number of an output");
      if (!is_control && controls_.size() != first_control_.back())
        return wrong("it follows a control input; control inputs must come last");
      if (is_control)
        controls_.push_back(source->source);
      else
        inputs_.push_back(*source);
    }
  }
  first_input_.push_back(static_cast<uint32_t>(inputs_.size()));
  first_control_.push_back(static_cast<uint32_t>(controls_.size()));
  return {};
}

bool Body::closes_loop(uint32_t from, uint32_t to) const {
  const std::string &source = node(from).op(), &target = node(to).op();
  return (target == "Merge" || target == "RefMerge") &&
         (source == "NextIteration" || source == "RefNextIteration");
}

Status Body::sort() {
  enum class State : uint8_t { New, Open, Done };
  std::vector<State> states(size(), State::New);
  struct Visit {
    uint32_t node;
    size_t next_edge;
  };
  std::vector<Visit> visits;  // the stack of a depth-first search without recursion
  order_.reserve(size());
  for (uint32_t root = 0; root < size(); ++root) {
    if (states[root] == State::New) visits.push_back({root, 0});
    while (!visits.empty()) {
      auto& [id, next] = visits.back();
      states[id] = State::Open;
      const auto data = inputs(id);
      const auto control = controls(id);
      if (next == data.size() + control.size()) {
        states[id] = State::Done;
        order_.push_back(id);
        visits.pop_back();
        continue;
      }
      const uint32_t source = next < data.size() ? data[next].source : control[next - data.size()];
      ++next;
      if (source >= size() || states[source] == State::Done || closes_loop(source, id)) continue;
      if (states[source] == State::Open)
        return fail(id, invalid_argument("the node is part of a cycle that no NextIteration closes"));
      visits.push_back({source, 0});
    }
  }
  return {};
}

}  // namespace troupe::interop
