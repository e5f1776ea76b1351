// The trainer role of a node, and the thread that carries out what it is asked, one request at a time: a replica's rounds take long, so
// they run as in any client of a session. Schema: messages/schemas/trainer.capnp. Owned by the node's program; ends before the runtime.
#pragma once

#include <memory>
#include <thread>

#include "actors/runtime.h"
#include "messages/values/address.h"

namespace troupe::train {

class TrainerService {
 public:
  explicit TrainerService(Runtime& runtime);
  ~TrainerService();

  struct Work;  ///< shared by the role and the thread

 private:
  Runtime& runtime_;
  std::shared_ptr<Work> work_;
  std::thread thread_;
};

/// The trainer of a task, given the address of its worker.
Address trainer_address(const Address& worker);

}  // namespace troupe::train
