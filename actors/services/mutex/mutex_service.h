// The mutex service: carries out ops on mutexes; each mutex is an actor. One per device; may be used from any thread.
#pragma once

#include "actors/services/mutex/mutex.h"
#include "actors/site/device_site.h"
#include "actors/site/state_actors.h"

namespace troupe {

class MutexService final : public Service {
 public:
  static constexpr std::string_view name = "mutex";

  explicit MutexService(DeviceSite& site) : site_(site) {}
  static std::unique_ptr<Service> make(DeviceSite& site) { return std::make_unique<MutexService>(site); }

  Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                    const Node& node) override;
  Status open(const Node& handle, const std::shared_ptr<StateCell>& cell) override;
  void drop(StateCell& cell) override { mutexes_.end(cell); }

 private:
  DeviceSite& site_;
  StateActors<MutexSpec> mutexes_{site_, "mutex"};
};

}  // namespace troupe
