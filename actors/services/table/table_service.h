// The table service: carries out ops on lookup tables; each table is an actor. One per device; may be used from any thread.
#pragma once

#include "actors/site/state_service.h"
#include "kernels/tables/table_spec.h"

namespace troupe {

class TableService final : public StateService<TableSpec> {
 public:
  static constexpr std::string_view name = "table";

  explicit TableService(DeviceSite& site) : StateService(site, "table") {}

  Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                    const Node& node) override;
  Status open(const Node& handle, const std::shared_ptr<StateCell>& cell) override;
};

}  // namespace troupe
