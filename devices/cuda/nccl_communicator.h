// NcclCommunicator: the GpuCommunicator of NCCL. A thread of its own waits until what an exchange reads has been computed, issues
// the exchange to a stream of its own, and waits for its end. Only that thread calls NCCL, and never blocks in it. Only
// devices/cuda includes this header.
#pragma once

#include <cuda_runtime.h>

#include <span>

#include "devices/cuda/cuda_nccl.h"
#include "devices/exchange_thread.h"
#include "devices/gpu_communicator.h"
#include "devices/gpu_queue.h"

namespace troupe {

class NcclCommunicator final : public GpuCommunicator {
 public:
  /// What a communicator uses of the device with this index. `computing` is the stream of its kernels.
  struct Place {
    const CudaNccl& nccl;
    int index;
    cudaStream_t computing;
    GpuFaults& faults;
  };
  /// `id` is of new_nccl_id(); `rank` is less than `members`. The place must outlive the communicator.
  NcclCommunicator(Place place, ncclUniqueId id, int rank, int members);
  ~NcclCommunicator() override = default;
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  Completion run(GpuExchange exchange) override;
  void abort(const Status& reason) override { thread_.abort(reason); }

 private:
  /// The stream and the handle of NCCL, which only the thread uses.
  class Connection {
   public:
    Connection(const NcclCommunicator& owner, Place place) : owner_(owner), place_(place) {}
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    Status open(const ncclUniqueId& id, int rank, int members);
    /// `computed` is an event after what the exchange reads.
    Status exchange(const GpuExchange& what, cudaEvent_t computed);

   private:
    Status run(const GpuExchange& what, cudaEvent_t computed);
    Result<ncclRedOp_t> weighted_sum(const GpuExchange& what) const;
    Status clear(std::span<const Tensor> tensors) const;
    Status issue(const GpuExchange& what, ncclRedOp_t reduction);
    Status settled(ncclResult_t result, const char* what) const;
    Status reached(cudaEvent_t event) const;
    Status status_of(ncclResult_t result, const char* what) const;
    void close();

    const NcclCommunicator& owner_;
    const Place place_;
    ncclComm_t handle_ = nullptr;
    cudaStream_t stream_ = nullptr;
    cudaEvent_t exchanged_ = nullptr;
  };

  const Place place_;
  Connection connection_;
  ExchangeThread thread_;  // ends before the connection does
};

/// Returns what names a new communicator. Fails with Unavailable.
Result<ncclUniqueId> new_nccl_id(const CudaNccl& nccl);

}  // namespace troupe
