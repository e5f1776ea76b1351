// What the steps of one executor share: how each node that is not a kernel's is carried out, made once when its partition is
// registered. Immutable afterwards; any thread.
#pragma once

#include <vector>

#include "actors/executor.h"
#include "actors/queue_requests.h"

namespace troupe {

struct ExecutorShared {
  explicit ExecutorShared(ExecutorOptions given);
  ~ExecutorShared();

  enum class Kind : uint8_t { None, Send, RefSend, Recv, Update, IsInitialized, Queue, Push };
  struct Request {
    Kind kind = Kind::None;
    uint64_t edge = 0;              ///< Send, Recv
    const Address* peer = nullptr;  ///< Send, Recv: the executor at the other end, one of options.executors
    uint64_t rule = 0;              ///< Update, Push: its number at the device
    int32_t gradient = -1;          ///< Push: which value is averaged
    QueueOp queue_op = QueueOp::Size;  ///< Queue
  };

  ExecutorOptions options;
  std::vector<Request> requests;  ///< per node of the plan
  Status status;                  ///< why it cannot run, when it cannot

 private:
  Status prepare(const Node& node, Request& how);
  Status prepare_push(const Node& node, Request& how);
  Status open_queue(const Node& handle);
};

}  // namespace troupe
