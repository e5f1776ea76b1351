#include "apps/observe/costs_json.h"

#include <nlohmann/json.hpp>

namespace troupe::observe {

nlohmann::ordered_json costs_json(const DeviceCosts& costs) {
  nlohmann::ordered_json ops = nlohmann::ordered_json::array();
  for (const OpCosts& op : costs.ops)
    ops.push_back(
        {{"op", op.op}, {"runs", op.runs}, {"us", op.microseconds}, {"share", op.microseconds / costs.step}});
  return {{"device", costs.device},      {"step_us", costs.step},
          {"ops", std::move(ops)},       {"between_nodes_us", costs.between},
          {"waiting_us", costs.waiting}, {"outside_us", costs.outside}};
}

}  // namespace troupe::observe
