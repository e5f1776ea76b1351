#include "graph/build/absent_nodes.h"

namespace troupe {
namespace {

Status no_such_ops(const std::set<std::string_view>& ops) {
  std::string names;
  for (const std::string_view op : ops) names.append(names.empty() ? "" : ", ").append(op);
  return unimplemented((ops.size() == 1 ? "there is no such op: " : "there are no such ops: ") + names);
}

}  // namespace

void AbsentNodes::collect(std::string_view name, std::set<std::string_view>& seen,
                          std::set<std::string_view>& ops) const {
  std::vector<std::string_view> waiting = {name};
  while (!waiting.empty()) {
    const std::string_view next = waiting.back();
    waiting.pop_back();
    if (!seen.insert(next).second) continue;
    const Node& node = nodes_.find(next)->second;
    ops.insert(node.unknown_ops.begin(), node.unknown_ops.end());
    waiting.insert(waiting.end(), node.needs.begin(), node.needs.end());
  }
}

Status AbsentNodes::why(std::string_view name) const {
  std::set<std::string_view> seen, ops;
  collect(name, seen, ops);
  return no_such_ops(ops).at_node(nodes_.find(name)->second.op, std::string(name));
}

Status AbsentNodes::why() const {
  std::set<std::string_view> ops;
  const auto* first = nodes_.empty() ? nullptr : &*nodes_.begin();
  for (const auto& entry : nodes_) {
    const auto& unknown = entry.second.unknown_ops;
    ops.insert(unknown.begin(), unknown.end());
    if (first->second.unknown_ops.empty()) first = &entry;
  }
  return first ? no_such_ops(ops).at_node(first->second.op, first->first) : Status{};
}

}  // namespace troupe
