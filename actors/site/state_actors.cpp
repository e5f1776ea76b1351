#include "actors/site/state_actors.h"

#include "actors/site/actor_place.h"
#include "actors/site/device_site.h"

namespace troupe {

StateActor::StateActor(DeviceSite& site, const std::string& role, const StateCell& cell,
                       std::unique_ptr<Role> actor)
    : site_(site), address_(site.address(role, cell)), place_(std::make_shared<ActorPlace>()) {
  const ActorRef spawned = site.node.engine.spawn(std::move(actor));
  place_->put(spawned);
  ChildSpec child{address_};
  child.placed = [place = place_](const ActorRef& placed, ChildSpec::Standing) { place->put(placed); };
  child.recoverable = [what = role + " '" + cell.name() + "'"] {
    return data_loss("the contents of " + what + " are lost");
  };
  site.supervisor->add(std::move(child), spawned);
}

ActorRef StateActor::get() const { return place_->get(); }

void StateActor::end() {
  site_.supervisor->drop(address_);
  site_.node.engine.stop(get());
}

}  // namespace troupe
