#include "actors/services/variable/prepared_rule.h"

namespace troupe {

Result<std::shared_ptr<const UpdateRule>> prepare_rule(std::shared_ptr<const Graph> graph, const Node& node,
                                                       const KernelTable& kernels, Device& device) {
  TROUPE_ASSIGN(const KernelDef* def, kernels.find(node, device.type()));
  auto rule = std::make_shared<UpdateRule>();
  TROUPE_ASSIGN(rule->kernel, def->prepare({*graph, node, device.context()}));
  rule->graph = std::move(graph);
  rule->node = &node;
  return std::shared_ptr<const UpdateRule>(std::move(rule));
}

}  // namespace troupe
