// DelayedDevice: behaves as an accelerator does, so that the seams a GPU needs are proven without one. Its
// memory is its own (MemoryKind::Device), work and copies are executed later, in the order of issue, by
// another thread or when the test says so. Its memory is the host's in truth, so CPU kernels can run on it.
// What code does wrong shows: memory not yet written and memory released hold 0xA5, released memory is kept
// aside for a while, and writes into it or past the end of a buffer are found. A guarded device has memory that only its own work
// reaches: any other access ends the process, as a dereferenced device pointer would. Any thread; `advance` one.
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
    Thread,  ///< a thread of the device executes what was issued
    Manual,  ///< advance() and wait() do, on their caller: deterministic
  };
  struct Options {
    Drive drive = Drive::Thread;
    std::string kernel_type = "CPU";  ///< type(): whose kernels run here
    uint16_t ordinal = 1;             ///< tells apart the memories of several such devices
    size_t memory_cap = size_t{1} << 30;
    uint64_t incarnation = 1;
    bool guarded = false;  ///< for Drive::Manual: memory is reached only by what advance() and wait() execute
  };
  static constexpr std::byte poison{0xA5};

  DelayedDevice(DeviceName name, Pool& pool, Options options);
  /// Executes what was issued; what waits for a tensor that never came is Cancelled.
  ~DelayedDevice() override;

  const DeviceName& name() const override { return name_; }
  std::string_view type() const override { return options_.kernel_type; }
  uint64_t incarnation() const override { return options_.incarnation; }
  MemoryKind memory_kind() const override { return MemoryKind::Device; }
  uint16_t ordinal() const override { return options_.ordinal; }
  MemoryStatistics memory_statistics() const override;
  DeviceContext& context() override { return context_; }
  bool synchronous() const override { return false; }
  Completion run(std::function<Status(DeviceContext&)> work) override;
  Completion copy(const Tensor& from, Tensor& to) override;

  /// Drive::Manual: executes up to `most` pieces of work on the caller, as far as the tensors they wait for
  /// are ready; returns how many.
  size_t advance(size_t most = SIZE_MAX);
  /// Executes (or lets execute) what was issued until `completion` is ready; its status. FailedPrecondition
  /// when a manual device has nothing left to execute and it still is not.
  Status wait(const Completion& completion);

  /// Internal, saying where, when memory of this device was written after its release or past its end.
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
