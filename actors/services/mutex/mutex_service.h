// The mutex service: carries out ops on mutexes; each mutex is an actor. One per device; may be used from any thread.
#pragma once

#include "actors/services/mutex/mutex.h"
#include "actors/site/state_service.h"

namespace troupe {

class MutexService final : public StateService<MutexSpec> {
 public:
  static constexpr std::string_view name = "mutex";

  explicit MutexService(DeviceSite& site) : StateService(site, "mutex") {}

  Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                    const Node& node) override;
  Status open(const Node& handle, const std::shared_ptr<StateCell>& cell) override;
};

}  // namespace troupe
