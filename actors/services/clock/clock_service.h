// The clock service: carries out Timestamp, without an actor. One per device; may be used from any thread.
#pragma once

#include "actors/site/device_site.h"

namespace troupe {

class ClockService final : public Service {
 public:
  static constexpr std::string_view name = "clock";

  explicit ClockService(DeviceSite&) {}
  Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                    const Node& node) override;
};

}  // namespace troupe
