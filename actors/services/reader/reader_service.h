// The reader service: carries out ops on readers; each reader is an actor. One per device; may be used from any thread.
#pragma once

#include "actors/services/reader/reader_spec.h"
#include "actors/site/device_site.h"
#include "actors/site/state_actors.h"

namespace troupe {

class ReaderService final : public Service {
 public:
  static constexpr std::string_view name = "reader";

  explicit ReaderService(DeviceSite& site) : site_(site) {}
  static std::unique_ptr<Service> make(DeviceSite& site) { return std::make_unique<ReaderService>(site); }

  Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                    const Node& node) override;
  Status open(const Node& handle, const std::shared_ptr<StateCell>& cell) override;
  void drop(StateCell& cell) override { readers_.end(cell); }

 private:
  DeviceSite& site_;
  StateActors<ReaderSpec> readers_{site_, "reader"};
};

}  // namespace troupe
