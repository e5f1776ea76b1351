// The variable role: the only actor that changes the cells of a group. Updates of disjoint cells may be computed at the same time;
// updates that share a cell happen in the order of arrival, each as a whole. Readers in the process take published snapshots and
// send a message only if a value is being changed in place. Spawned by VariableGroups. Schema: messages/schemas/variable.capnp.
#pragma once

#include "actors/services/variable/variable_groups.h"

namespace troupe {

/// Spawns the actor of a group. `rules`, whose numbers Update messages contain, and `groups` belong to the site's VariableService.
ActorRef spawn_variable(std::shared_ptr<DeviceSite> site, RuleTable& rules, VariableGroups& groups,
                        std::shared_ptr<VariableGroup> group);

}  // namespace troupe
