#include "actors/services/mirror/mirror_expiry.h"

#include "actors/engine/engine.h"
#include "messages/env/env.h"
#include "messages/schemas/mirror.capnp.h"
#include "messages/wire/message_reader.h"

namespace troupe {

void expire_mirror(DeviceSite& site, ActorRef actor, uint64_t mirror, int64_t patience) {
  Clock& clock = site.node.env.clock;
  clock.call_at(clock.now() + patience, [&engine = site.node.engine, actor = std::move(actor), mirror] {
    Draft<wire::MirrorExpired> expired;
    expired->setMirror(mirror);
    engine.send(actor, expired.finish());
  });
}

}  // namespace troupe
