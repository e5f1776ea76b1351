// EventWaiter: calls functions once a stream has done what was issued before, in the order in which they were given. A thread of
// its own waits for that; poll() does the same at once, for callers that have nothing else to do. Owned by a CudaDevice. Any
// thread may call every function. Only devices/cuda includes this header.
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

  /// Calls `done`, on the thread of the waiter or on one that polls, once the stream has done what was issued to it so far. It
  /// gets the failure of the device if that has failed.
  void after(cudaStream_t stream, std::function<void(Status)> done);
  /// Calls the functions whose streams are done already.
  void poll();

 private:
  struct Waiting {
    cudaEvent_t event;
    std::function<void(Status)> done;
  };
  void serve();
  cudaError_t await_front(std::unique_lock<std::mutex>& lock);
  void finish_front(std::unique_lock<std::mutex>& lock, cudaError_t error);

  const int index_;
  std::mutex mutex_;  ///< guards the members below
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;
  uint64_t finished_ = 0;  ///< how many were taken out of waiting_
  std::vector<cudaEvent_t> idle_;
  bool sleeping_ = false, ending_ = false;
  std::thread thread_;  ///< the last member: it uses the others
};

}  // namespace troupe
