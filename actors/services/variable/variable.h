// The variable role: the one writer of a group of cells. Updates of disjoint cells may compute side by side; those that share a
// cell happen in the order they came, each as a whole. Readers take published snapshots and send nothing, unless a value is being
// changed in place at that moment. Spawned by VariableGroups. Schema: messages/schemas/variable.capnp.
#pragma once

#include "actors/services/variable/variable_groups.h"

namespace troupe {

/// `rules`, which Update messages name, and `groups` belong to the site.
ActorRef spawn_variable(std::shared_ptr<DeviceSite> site, RuleTable& rules, VariableGroups& groups,
                        std::shared_ptr<VariableGroup> group);

}  // namespace troupe
