// Mirror expiry: the time for which a mirror outlives its client or its primary. Used by the two roles of mirrors.
#pragma once

#include "actors/engine/engine.h"
#include "actors/site/device_site.h"
#include "messages/env/env.h"
#include "messages/schemas/mirror.capnp.h"
#include "messages/wire/message_reader.h"

namespace troupe {

/// Sends MirrorExpired to `actor` when this time has passed, in nanoseconds.
inline void expire_mirror(DeviceSite& site, ActorRef actor, uint64_t mirror, int64_t patience) {
  Clock& clock = site.node.env.clock;
  clock.call_at(clock.now() + patience, [&engine = site.node.engine, actor = std::move(actor), mirror] {
    Draft<wire::MirrorExpired> expired;
    expired->setMirror(mirror);
    engine.send(actor, expired.finish());
  });
}

}  // namespace troupe
