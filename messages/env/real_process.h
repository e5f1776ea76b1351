// RealProcess: the threads of this process. Any thread may use it. Its signals wait by the steady clock, as ControlThread does.
#pragma once

#include "messages/env/process.h"

namespace troupe {

class RealProcess final : public Process {
 public:
  std::unique_ptr<Signal> signal() override;
  std::unique_ptr<BlockingThread> start_thread(std::function<void()> body) override;
  uint64_t processor_time() const override;
  uint64_t random_id() override;
};

}  // namespace troupe
