#include "actors/services/variable/prepared_rule.h"

namespace troupe {

uint64_t RuleTable::add(std::shared_ptr<const UpdateRule> rule) {
  const std::lock_guard lock(mutex_);
  rules_.emplace(++last_, std::move(rule));
  return last_;
}

void RuleTable::remove(uint64_t number) {
  const std::lock_guard lock(mutex_);
  rules_.erase(number);
}

std::shared_ptr<const UpdateRule> RuleTable::find(uint64_t number) const {
  const std::lock_guard lock(mutex_);
  const auto at = rules_.find(number);
  return at == rules_.end() ? nullptr : at->second;
}

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
