// The variable role: the one writer of the cells on a device. Updates of disjoint cells may compute side by side; those that
// share a cell happen in the order they came, each as a whole. Readers take published snapshots and send nothing, unless a value
// is being changed in place at that moment. Schema: messages/schemas/variable.capnp.
#pragma once

#include "actors/services/variable/prepared_rule.h"
#include "actors/site/device_site.h"

namespace troupe {

/// `rules`, which Update messages name, belong to the site.
ActorRef spawn_variable(std::shared_ptr<DeviceSite> site, RuleTable& rules);

}  // namespace troupe
