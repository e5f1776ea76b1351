// The temporary variable service: makes and destroys the variables of single steps, without an actor of its own. One per device;
// may be used from any thread.
#pragma once

#include "actors/services/temporary_variable/temporary_variables.h"

namespace troupe {

class TemporaryVariableService final : public Service {
 public:
  static constexpr std::string_view name = "temporary_variable";

  explicit TemporaryVariableService(DeviceSite& site) : site_(site), variables_(site) {}

  Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                    const Node& node) override;

 private:
  DeviceSite& site_;
  TemporaryVariables variables_;
};

}  // namespace troupe
