#include "apps/services/monitor.h"
#include "apps/services/node_service.h"
#include "apps/services/trainer.h"

namespace troupe::services {

std::vector<std::unique_ptr<NodeService>> start_node_services(Runtime& runtime) {
  std::vector<std::unique_ptr<NodeService>> services;
  services.push_back(start_trainer(runtime));
  services.push_back(start_monitor(runtime));
  return services;
}

}  // namespace troupe::services
