#include "graph/passes/place/colocation.h"

namespace troupe {

std::string text_of_types(const std::vector<std::string>& names, uint64_t types) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    if (types >> i & 1) text += (text.empty() ? "" : ", ") + names[i];
  return text;
}

void Colocation::add(Group group) {
  parent_.push_back(static_cast<NodeId>(parent_.size()));
  size_.push_back(1);
  groups_.push_back(std::move(group));
}

NodeId Colocation::root(NodeId node) {
  while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
  return node;
}

Status Colocation::unite(NodeId a, NodeId b, const char* reason) {
  const NodeId a_root = root(a), b_root = root(b);
  if (a_root == b_root) return {};
  const bool a_is_bigger = size_[a_root] >= size_[b_root];
  const NodeId to = a_is_bigger ? a_root : b_root, from = a_is_bigger ? b_root : a_root;
  const Group &x = groups_[a_root], &y = groups_[b_root];
  const auto conflict = [&](const std::string& details) {
    return invalid_argument("must be on the same device as " + graph_.node(a).name + " (" + reason +
                            "), but " + details)
        .at_node(graph_.node(b).type(), graph_.node(b).name);
  };
  auto request = merged_request(x, y);
  if (!request)
    return conflict(graph_.node(x.requester).name + " requests '" + x.request.text() + "' and " +
                    graph_.node(y.requester).name + " requests '" + y.request.text() + '\'');
  if ((x.types & y.types) == 0)
    return conflict("it has kernels for " + text_of_types(type_names_, y.types) + ", and " +
                    graph_.node(a).name + " for " + text_of_types(type_names_, x.types));
  Group& merged = groups_[to];
  if (merged.request.any() || (groups_[from].fixed && !merged.fixed))
    merged.requester = groups_[from].requester;
  merged.request = std::move(*request);
  merged.types &= groups_[from].types;
  merged.fixed = x.fixed || y.fixed;
  parent_[from] = to;
  size_[to] += size_[from];
  return {};
}

Result<DeviceName> Colocation::merged_request(const Group& a, const Group& b) const {
  auto strict = merge(a.request, b.request);
  if (strict.ok() || conflicts_ == Placement::Strict || (a.fixed && b.fixed)) return strict;
  if (a.fixed) return a.request;
  if (b.fixed) return b.request;
  return merge(a.request, b.request, Placement::Soft);
}

std::vector<Colocation::Group> Colocation::groups() && {
  std::vector<Group> result;
  std::vector<uint32_t> position(parent_.size(), UINT32_MAX);
  for (NodeId id = 0; id < parent_.size(); ++id) {
    const NodeId top = root(id);
    if (position[top] == UINT32_MAX) {
      position[top] = static_cast<uint32_t>(result.size());
      result.push_back(std::move(groups_[top]));
    }
    result[position[top]].members.push_back(id);
  }
  return result;
}

}  // namespace troupe
