#include "actors/services/allreduce/gpu_group.h"

#include <algorithm>
#include <utility>

namespace troupe {

GpuGroup::~GpuGroup() { abort(cancelled("the site of a GPU has ended")); }

Result<GpuTurn> GpuGroup::next_turn(std::span<const GpuMember> members, uint64_t fresh) {
  if (!connects(members)) {
    TROUPE_ASSIGN(const std::string id, queue_.new_communicator_id());
    TROUPE_RETURN_IF_FAILED(replace(fresh, id));
    incarnations_.clear();
    for (const GpuMember& member : members) incarnations_.push_back(member.incarnation);
    turns_ = 0;
  }
  return GpuTurn{number_, id_, ++turns_};
}

bool GpuGroup::connects(std::span<const GpuMember> members) const {
  return communicator_ && number_ != broken_ &&
         std::ranges::equal(members, incarnations_, {}, &GpuMember::incarnation) &&
         std::ranges::count(members, number_, &GpuMember::broken) == 0;
}

void GpuGroup::run(const GpuTurn& turn, GpuExchange exchange, Done done) {
  if (turn.communicator == broken_) return done(failure_);
  if (turn.communicator != number_)
    if (Status made = replace(turn.communicator, turn.id); !made.ok()) return done(std::move(made));
  if (turn.place <= begun_ || waiting_.contains(turn.place))
    return done(invalid_argument("turn " + std::to_string(turn.place) + " of the GPUs was given twice"));
  waiting_.emplace(turn.place, Waiting{std::move(exchange), std::move(done)});
  for (auto next = waiting_.find(begun_ + 1); next != waiting_.end(); next = waiting_.find(begun_ + 1)) {
    ++begun_;
    const Waiting begins = std::move(waiting_.extract(next).mapped());
    communicator_->run(begins.exchange).then(begins.done);
  }
}

void GpuGroup::abort(const Status& reason) {
  if (!communicator_ || number_ == broken_) return;
  communicator_->abort(reason);
  broken_ = number_;
  failure_ = reason;
  for (auto& [place, waiting] : std::exchange(waiting_, {})) waiting.done(reason);
}

Status GpuGroup::replace(uint64_t number, const std::string& id) {
  abort(aborted("the members use another communicator now"));
  if (communicator_) dispose_(std::move(communicator_));
  number_ = number;
  id_ = id;
  begun_ = 0;
  auto made = queue_.make_communicator(id, rank_, members_);
  if (made) {
    communicator_ = std::move(*made);
    return {};
  }
  broken_ = number;
  failure_ = made.status();
  return failure_;
}

}  // namespace troupe
