// Mirror expiry: the time for which a mirror outlives its client or its primary. Used by the two roles of mirrors.
#pragma once

#include "actors/site/device_site.h"

namespace troupe {

/// Sends MirrorExpired to `actor` when this time has passed, in nanoseconds.
void expire_mirror(DeviceSite& site, ActorRef actor, uint64_t mirror, int64_t patience);

}  // namespace troupe
