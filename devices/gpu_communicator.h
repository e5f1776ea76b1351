// GpuCommunicator: connects a GPU of this process with GPUs of other processes, so that they exchange tensors without the memory of
// the hosts: NCCL (devices/cuda/nccl_communicator.h), or for emulated GPUs memory that the processes share
// (tests/support/gpu/emulated_communicator.h). All members make it with one id, and run the same exchanges in the same order. Made
// by GpuQueue::make_communicator(), and owned by the caller; any thread may use it.
#pragma once

#include <cstdint>
#include <vector>

#include "devices/gpu_faults.h"
#include "messages/values/completion.h"
#include "messages/values/tensor.h"

namespace troupe {

enum class GpuReduction : uint8_t {
  Sum,
  WeightedSum,  ///< of the tensors multiplied by GpuExchange::weight of their member; of float and double only
  Mean,
  Max,
  Min,
  Product,
};

/// One exchange, as one member takes part in it: an all-reduce or, with a root, a reduction that only the root gets.
struct GpuExchange {
  static constexpr int no_root = -1;

  GpuReduction reduction = GpuReduction::Sum;
  double weight = 1;
  bool adds_nothing = false;  ///< `from` is set to 0 first; it may be `to`
  int root = no_root;
  StepId step = {};  ///< whose kernels compute `from`; the exchange fails with what they have reported
  std::vector<Tensor> from = {};  ///< the tensors of this member
  /// The results, of the same dtypes and shapes; empty for members that get none.
  std::vector<Tensor> to = {};
};

class GpuCommunicator {
 public:
  /// Waits until the GPU uses no tensor of an exchange any more. What has not ended fails with Cancelled.
  virtual ~GpuCommunicator() = default;
  /// Runs an exchange after the work that has been issued to the queue of the GPU, and after earlier exchanges. The Completion
  /// fails with Unavailable if the members cannot be reached, and with the reason if the exchange was aborted.
  virtual Completion run(GpuExchange exchange) = 0;
  /// Makes the exchanges that have not ended fail, and all later ones. Does not wait.
  virtual void abort(const Status& reason) = 0;
};

}  // namespace troupe
