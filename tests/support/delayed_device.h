// DelayedDevice: behaves like an accelerator, so that code for GPUs is tested without one. It has memory of its own
// (MemoryKind::Device). Work and copies are executed later, in the order of issue, by another thread or when the test
// asks for it. The memory is really host memory, so kernels for CPUs can run on it. Mistakes become visible: unwritten
// memory and released memory contain 0xA5, released memory is not reused for a while, and writes to it or past the end
// of a buffer are detected. On a guarded device only the device's own work reaches the memory; any other access ends
// the process, as dereferencing a device pointer would. Any thread may call it; one thread may call advance().
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "devices/device.h"

namespace troupe {

class DelayedDevice final : public Device {
 public:
  enum class Drive : bool {
    Thread,  ///< a thread of the device executes the work
    Manual,  ///< advance() and wait() execute the work on their caller, which is deterministic
  };
  struct Options {
    Drive drive = Drive::Thread;
    std::string kernel_type = "CPU";  ///< the result of type(): the device type whose kernels run here
    uint16_t ordinal = 1;             ///< distinguishes the memories of several such devices
    size_t memory_cap = size_t{1} << 30;
    uint64_t incarnation = 1;
    /// For Drive::Manual: only work executed by advance() and wait() reaches the memory.
    bool guarded = false;
  };
  static constexpr std::byte poison{0xA5};

  DelayedDevice(DeviceName name, Pool& pool, Options options);
  /// Executes all issued work. Work that waits for a tensor that was never completed ends as Cancelled.
  ~DelayedDevice() override;

  const DeviceName& name() const override { return name_; }
  std::string_view type() const override { return options_.kernel_type; }
  uint64_t incarnation() const override { return options_.incarnation; }
  MemoryKind memory_kind() const override { return MemoryKind::Device; }
  uint16_t ordinal() const override { return options_.ordinal; }
  MemoryStatistics memory_statistics() const override;
  DeviceContext& context() override { return context_; }
  bool in_order() const override { return false; }
  Completion run(std::function<Status(DeviceContext&)> work) override;
  Completion copy(const Tensor& from, Tensor& to) override;

  /// For Drive::Manual: executes up to `max_items` pieces of work on the caller, until
  /// one of them waits for a tensor that is not ready. Returns how many were executed.
  size_t advance(size_t max_items = SIZE_MAX);
  /// Executes work, or lets the thread do so, until `completion` is ready, and returns its status. Fails
  /// with FailedPrecondition if a manual device has no more work and the completion is still not ready.
  Status wait(const Completion& completion);

  /// Fails with Internal, saying where, if memory of this device was written after its release or past its end.
  Status check_memory() const;

 private:
  class Memory;
  struct Stream;

  Completion issue(Completion after, std::function<Status(DeviceContext&)> work);
  bool execute_front(std::unique_lock<std::mutex>& lock);
  void serve();

  DeviceName name_;
  Options options_;
  std::shared_ptr<Memory> memory_;  // shared with its buffers, which may outlive the device
  std::shared_ptr<Stream> stream_;  // shared with callbacks of completions
  DeviceContext context_;
  std::thread thread_;
};

}  // namespace troupe
