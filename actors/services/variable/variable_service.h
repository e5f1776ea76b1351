// The variable service: carries out the ops that update variables, and those that tell whether a variable is initialized. Each
// group of variables has an actor. One per device; may be used from any thread.
#pragma once

#include "actors/services/variable/mirrored_variables.h"
#include "actors/services/variable/variable_groups.h"

namespace troupe {

class VariableService final : public Service {
 public:
  static constexpr std::string_view name = variable_service;

  explicit VariableService(DeviceSite& site) : site_(site) {}
  /// Returns the variable service of a device.
  static VariableService& of(const DeviceSite& site);

  Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                    const Node& node) override;
  void drop(StateCell& cell) override { groups_.drop(cell); }
  Result<ActorRef> owner(StateCell& cell) override;

  RuleTable& rules() { return rules_; }
  VariableGroups& groups() { return groups_; }
  MirroredVariables& mirrored() { return mirrored_; }
  Device& device() const { return *site_.device; }

 private:
  DeviceSite& site_;
  RuleTable rules_;
  VariableGroups groups_{site_, rules_};
  MirroredVariables mirrored_{site_};
};

}  // namespace troupe
