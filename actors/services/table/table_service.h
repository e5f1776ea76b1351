// The table service: carries out ops on lookup tables; each table is an actor. One per device; may be used from any thread.
#pragma once

#include "actors/services/table/table_spec.h"
#include "actors/site/device_site.h"
#include "actors/site/state_actors.h"

namespace troupe {

class TableService final : public Service {
 public:
  static constexpr std::string_view name = "table";

  explicit TableService(DeviceSite& site) : site_(site) {}
  static std::unique_ptr<Service> make(DeviceSite& site) { return std::make_unique<TableService>(site); }

  Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                    const Node& node) override;
  Status open(const Node& handle, const std::shared_ptr<StateCell>& cell) override;
  void drop(StateCell& cell) override { tables_.end(cell); }

 private:
  DeviceSite& site_;
  StateActors<TableSpec> tables_{site_, "table"};
};

}  // namespace troupe
