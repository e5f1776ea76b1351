#include "graph/passes/place/placement_units.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace troupe {
namespace {

class UnitBuilder {
 public:
  explicit UnitBuilder(const StepModel& model)
      : model_(model), parent_(model.groups().members.size()), seconds_(parent_.size(), 0),
        decides_(parent_.size(), false) {
    std::iota(parent_.begin(), parent_.end(), uint32_t{0});
    find_groups();
    join_loops();
  }

  /// Joins units along the edges with the most bytes. A unit may not take longer than a share of the whole step, which grows until
  /// the units are few enough.
  void join(size_t max_units) {
    const auto edges = edges_by_bytes();
    const double all = std::accumulate(seconds_.begin(), seconds_.end(), 0.0);
    for (double share = 1.0 / 16; units_ > max_units && share <= 1; share *= 2)
      for (const Edge& edge : edges)
        if (units_ > max_units) unite(edge.from, edge.to, share * all);
  }

  std::vector<PlacementUnit> result(size_t max_units) {
    std::map<uint32_t, PlacementUnit> by_root;
    for (uint32_t group = 0; group < parent_.size(); ++group)
      if (decides_[group]) by_root[root(group)].groups.push_back(group);
    std::vector<PlacementUnit> units;
    for (auto& [root, unit] : by_root) {
      unit.seconds = seconds_[root];
      units.push_back(std::move(unit));
    }
    std::ranges::stable_sort(units, std::ranges::greater(), &PlacementUnit::seconds);
    if (units.size() > max_units) units.resize(max_units);
    return units;
  }

 private:
  struct Edge {
    uint32_t from, to;
    double bytes;
  };

  void find_groups() {
    const PlacementGroups& groups = model_.groups();
    for (const Node& node : model_.graph().nodes()) {
      const uint32_t group = groups.group_of[node.id];
      if (groups.devices(group).size() == 1 || !model_.computes(node.id)) continue;
      if (!decides_[group]) ++units_;
      decides_[group] = true;
      seconds_[group] += model_.seconds(node.id, groups.devices(group)[0]);
    }
  }

  void join_loops() {
    std::unordered_map<FrameId, uint32_t> group_of_loop;
    for (const Node& node : model_.graph().nodes()) {
      const uint32_t group = model_.groups().group_of[node.id];
      if (!decides_[group] || model_.loop_of(node.id) == root_frame) continue;
      const auto [known, fresh] = group_of_loop.try_emplace(model_.loop_of(node.id), group);
      if (!fresh) unite(known->second, group, std::numeric_limits<double>::infinity());
    }
  }

  std::vector<Edge> edges_by_bytes() const {
    std::map<std::pair<uint32_t, uint32_t>, double> bytes;
    for (const Node& node : model_.graph().nodes())
      for (const Output& input : node.inputs) {
        const auto [from, to] =
            std::minmax(model_.groups().group_of[input.node], model_.groups().group_of[node.id]);
        if (from != to && decides_[from] && decides_[to]) bytes[{from, to}] += model_.bytes(input);
      }
    std::vector<Edge> edges;
    for (const auto& [ends, sum] : bytes) edges.push_back({ends.first, ends.second, sum});
    std::ranges::stable_sort(edges, std::ranges::greater(), &Edge::bytes);
    return edges;
  }

  uint32_t root(uint32_t group) {
    while (parent_[group] != group) group = parent_[group] = parent_[parent_[group]];
    return group;
  }

  void unite(uint32_t a, uint32_t b, double max_seconds) {
    a = root(a);
    b = root(b);
    if (a == b || seconds_[a] + seconds_[b] > max_seconds) return;
    if (model_.groups().candidates_of[a] != model_.groups().candidates_of[b]) return;
    parent_[b] = a;
    seconds_[a] += std::exchange(seconds_[b], 0);
    --units_;
  }

  const StepModel& model_;
  std::vector<uint32_t> parent_;  ///< by group; a root stands for its unit
  std::vector<double> seconds_;   ///< by group: of the unit, if it is a root
  std::vector<bool> decides_;     ///< by group: whether it computes and has several candidates
  size_t units_ = 0;
};

}  // namespace

std::vector<PlacementUnit> placement_units(const StepModel& model, size_t max_units) {
  UnitBuilder builder(model);
  builder.join(max_units);
  return builder.result(max_units);
}

}  // namespace troupe
