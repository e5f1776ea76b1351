// StepTimes: the profiles of the parts of a step, as the workers send them to the master. Owned by the step; one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "messages/schemas/session.capnp.h"
#include "messages/schemas/worker.capnp.h"
#include "messages/wire/message.h"

namespace troupe {

class StepTimes {
 public:
  /// The workers are asked for their parts.
  void begin();
  /// A worker has answered.
  void add(const Message<wire::PartitionDone>& part);
  const std::vector<Message<wire::PartitionDone>>& parts() const { return parts_; }
  /// Writes the profiles of all parts, with the times at which the master asked and got an answer.
  void write(wire::StepDone::Builder done) const;

 private:
  int64_t asked_ = 0;
  std::vector<Message<wire::PartitionDone>> parts_;
  std::vector<int64_t> answered_;  ///< for each part
};

}  // namespace troupe
