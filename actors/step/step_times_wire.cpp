#include "actors/step/step_times_wire.h"

#include "actors/step/executor/profile_wire.h"
#include "messages/wire/wire.h"

namespace troupe {

void StepTimes::begin() { asked_ = StepProfile::now(); }

void StepTimes::add(const Message<wire::PartitionDone>& part) {
  parts_.push_back(part);
  answered_.push_back(StepProfile::now());
}

void StepTimes::write(wire::StepDone::Builder done) const {
  gather_profiles(parts_, done);
  uint32_t next = 0;
  for (size_t i = 0; i < parts_.size(); ++i)
    for (uint32_t k = 0; k < parts_[i]->getProfile().size(); ++k, ++next) {
      done.getProfile()[next].setAsked(static_cast<uint64_t>(asked_));
      done.getProfile()[next].setAnswered(static_cast<uint64_t>(answered_[i]));
    }
}

}  // namespace troupe
