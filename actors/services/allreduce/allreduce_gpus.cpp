// What the allreduce role does where the members of a collective are GPUs.
#include <algorithm>

#include "actors/services/allreduce/allreduce_role.h"
#include "actors/services/allreduce/lane_wire.h"
#include "messages/wire/wire.h"

namespace troupe {

GpuGroup& AllreduceRole::group_of(const Collective& collective) {
  auto& group = groups_[collective.sites];
  if (!group)
    group = std::make_unique<GpuGroup>(
        *site_->device->context().queue(), static_cast<int>(collective.site),
        static_cast<int>(collective.sites.size()),
        [site = site_](std::unique_ptr<GpuCommunicator> communicator) {
          // The site has the device, which the communicator uses.
          compute_soon(site->node.scheduler,
                       make_job([site, owned = std::shared_ptr<GpuCommunicator>(
                                           std::move(communicator))]() mutable { owned.reset(); }));
        });
  return *group;
}

Status AllreduceRole::give_turn(Instance& instance) {
  GpuGroup& group = group_of(instance.what());
  instance.gpu_members[instance.own.front().rank] = {self_.incarnation, group.broken()};
  TROUPE_ASSIGN(instance.turn, group.next_turn(instance.gpu_members, self_.incarnation + instance.serial));
  return {};
}

/// Makes all exchanges fail in which this device takes part.
void AllreduceRole::abort_groups_of(const std::string& device, const Status& reason) {
  for (auto& [sites, group] : groups_)
    if (std::ranges::count(sites, device) != 0) group->abort(reason);
}

Status AllreduceRole::take_turn(Instance& instance, const AnyMessage& answer) {
  const auto turn = (*Message<wire::Contributed>(answer)).getTurn();
  if (turn.getCommunicator() == 0 || turn.getPlace() == 0 ||
      turn.getSamples().size() != instance.samples.size())
    return invalid_argument("the first member of '" + instance.what().name() + "' has given no turn");
  instance.turn = {turn.getCommunicator(), std::string(view(turn.getId())), turn.getPlace()};
  instance.samples = vector_of<int64_t>(turn.getSamples());
  return {};
}

void AllreduceRole::exchange(Lane& lane) {
  Instance& instance = *lane.running;
  instance.exchanges = true;
  ++instance.unfinished;
  auto exchange = instance.exchange(site_->device->context().memory());
  if (!exchange) return fail(lane, exchange.status());
  group_of(instance.what())
      .run(instance.turn, std::move(*exchange),
           [name = instance.lane, serial = instance.serial, site = site_,
            self = self()](const Status& status) {
             Draft<wire::BlockReady> draft;
             draft->setName(as_text(name));
             draft->setSerial(serial);
             draft->setReceived(true);
             if (!status.ok()) write(status, draft->initFailure());
             site->node.engine.send(self, draft.finish());
           });
}

}  // namespace troupe
