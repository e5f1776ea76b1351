// EventWaiter: a thread that waits until a stream has done what was issued before, and then calls functions, in the order in
// which they were given. Owned by a CudaDevice. Any thread may call after(). Only devices/cuda includes this header.
#pragma once

#include <cuda_runtime.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "messages/values/status.h"

namespace troupe {

class EventWaiter {
 public:
  explicit EventWaiter(int index) : index_(index), thread_([this] { serve(); }) {}
  /// Waits for everything that was issued.
  ~EventWaiter();

  /// Calls `done` on the thread of the waiter once the stream has done what was issued to it so far, with the failure of the
  /// device if it has failed.
  void after(cudaStream_t stream, std::function<void(Status)> done);

 private:
  struct Waiting {
    cudaEvent_t event;
    std::function<void(Status)> done;
  };
  void serve();

  const int index_;
  std::mutex mutex_;  ///< guards the members below
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;
  std::vector<cudaEvent_t> idle_;
  bool ending_ = false;
  std::thread thread_;  ///< the last member: it uses the others
};

}  // namespace troupe
