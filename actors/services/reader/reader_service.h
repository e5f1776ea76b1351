// The reader service: carries out ops on readers; each reader is an actor. One per device; may be used from any thread.
#pragma once

#include "actors/services/reader/reader_spec.h"
#include "actors/site/state_service.h"

namespace troupe {

class ReaderService final : public StateService<ReaderSpec> {
 public:
  static constexpr std::string_view name = "reader";

  explicit ReaderService(DeviceSite& site) : StateService(site, "reader") {}

  Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                    const Node& node) override;
  Status open(const Node& handle, const std::shared_ptr<StateCell>& cell) override;
};

}  // namespace troupe
