// EmulatedCommunicator: connects emulated GPUs of one machine, in one process or several: each member lays its tensors into a file
// that all have mapped, and reduces what it finds there in the order of the members. Any thread.
#pragma once

#include <atomic>
#include <string>

#include "devices/exchange_thread.h"
#include "devices/gpu_communicator.h"
#include "devices/gpu_queue.h"

namespace troupe {

class EmulatedCommunicator final : public GpuCommunicator {
 public:
  /// `id` is of new_id(). Reports of kernels before an exchange let it fail.
  EmulatedCommunicator(std::string id, int rank, int members, GpuFaults& faults);
  ~EmulatedCommunicator() override = default;
  EmulatedCommunicator(const EmulatedCommunicator&) = delete;
  EmulatedCommunicator& operator=(const EmulatedCommunicator&) = delete;

  Completion run(GpuExchange exchange) override;
  void abort(const Status& reason) override { thread_.abort(reason); }

  static std::string new_id();

 private:
  /// The beginning of the file; the places of the members follow.
  struct Header {
    std::atomic<uint64_t> arrived;  ///< how often members have come to a point where all wait for each other
  };

  class File {
   public:
    ~File();
    Status open(const std::string& name, int members);
    Header& header() const { return *reinterpret_cast<Header*>(begin_); }
    std::byte* place(int member) const;

   private:
    std::string name_;
    std::byte* begin_ = nullptr;
    size_t bytes_ = 0;
  };

  Status open();
  Status exchange(const GpuExchange& what);
  Status lay_down(const GpuExchange& what, const Tensor& from);
  Status reduce(const GpuExchange& what, size_t index);
  Status await_all();

  const std::string id_;
  const int rank_, members_;
  GpuFaults& faults_;
  File file_;
  uint64_t meetings_ = 0;  ///< how often this member has waited for all
  ExchangeThread thread_;  // ends before the members above do
};

}  // namespace troupe
