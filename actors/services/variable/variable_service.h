// The variable service: updates of variables, and whether they have a value. One per device; any thread.
#pragma once

#include "actors/services/variable/prepared_rule.h"
#include "actors/site/device_site.h"

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
  ActorRef owner(const StateCell& cell) const override;
  std::vector<ChildSpec> actors(const TaskSites& task) override;

  RuleTable& rules() { return rules_; }

 private:
  DeviceSite& site_;
  RuleTable rules_;
  ActorPlace actor_;
};

}  // namespace troupe
