// The variable service: updates of variables, each group of them an actor of its own, and whether they have a value. One per
// device; any thread.
#pragma once

#include "actors/services/variable/variable_groups.h"

namespace troupe {

class VariableService final : public Service {
 public:
  static constexpr std::string_view name = variable_service;

  explicit VariableService(DeviceSite& site) : site_(site) {}
  static std::unique_ptr<Service> make(DeviceSite& site) { return std::make_unique<VariableService>(site); }
  /// That of a device.
  static VariableService& of(const DeviceSite& site);

  Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                    const Node& node) override;
  void drop(StateCell& cell) override { groups_.drop(cell); }
  Result<ActorRef> owner(StateCell& cell) override;

  RuleTable& rules() { return rules_; }
  VariableGroups& groups() { return groups_; }

 private:
  DeviceSite& site_;
  RuleTable rules_;
  VariableGroups groups_{site_, rules_};
};

}  // namespace troupe
