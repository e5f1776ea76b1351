// CudaDevice: one GPU of this machine as a Device. All kernels, and copies to the GPU, are issued to one stream, in the order in
// which the host issues them; copies to the host run on a stream of their own as soon as what they copy is computed. The host
// waits for nothing but memory that it copies from. Owned by the runtime; any thread may call every function. Buffers may
// outlive the device.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "devices/cuda/cuda_libraries.h"
#include "devices/cuda/event_waiter.h"
#include "devices/cuda/gpu_memory.h"
#include "devices/cuda/pinned_memory.h"
#include "devices/device.h"
#include "devices/gpu_queue.h"
#include "devices/gpus.h"

namespace troupe {

class CudaDevice final : public Device, private GpuQueue {
 public:
  static Result<std::shared_ptr<CudaDevice>> make(DeviceName name, uint64_t incarnation, Pool& pool,
                                                  const GpuOptions& options);
  ~CudaDevice() override;

  const DeviceName& name() const override { return name_; }
  std::string_view type() const override { return "GPU"; }
  uint64_t incarnation() const override { return incarnation_; }
  MemoryKind memory_kind() const override { return MemoryKind::Device; }
  uint16_t ordinal() const override { return ordinal_; }
  MemoryStatistics memory_statistics() const override { return memory_->statistics(); }
  DeviceContext& context() override { return context_; }
  bool in_order() const override { return true; }
  Completion run(std::function<Status(DeviceContext&)> work) override;
  Completion copy(const Tensor& from, Tensor& to) override;
  void poll() override { waiter_->poll(); }

 private:
  CudaDevice(DeviceName name, uint64_t incarnation, Pool& pool, const GpuOptions& options,
             std::unique_ptr<GpuMemory> memory);
  Status start();

  void* stream() const override;
  GpuFaults& faults() override { return *faults_; }
  size_t max_blocks() const override { return max_blocks_; }
  Status launched() override;
  Result<void*> blas() override;
  Result<void*> dnn() override;
  Result<void*> compiled(const std::string& source) override;
  void* mark() override;
  int64_t elapsed(void* from, void* to) override;
  bool tf32() const override { return options_.tf32; }
  void begin_range(const char* name) override;
  void end_range() override;
  std::unique_ptr<GpuRecorder> make_recorder() override;
  Result<std::string> exchange_name() override;
  Result<std::string> new_communicator_id() override;
  Result<std::unique_ptr<GpuCommunicator>> make_communicator(const std::string& id, int rank,
                                                             int members) override;

  /// Returns NCCL, which is loaded when it is needed first.
  Result<const CudaNccl*> nccl();
  Result<cudaKernel_t> load_kernel(const std::string& source);

  Completion copy_now(const Tensor& from, Tensor& to);
  Completion copy_to_device(const Tensor& from, Tensor& to);
  Completion copy_from_peer(const Tensor& from, Tensor& to);
  Completion copy_to_host(const Tensor& from, Tensor& to);
  Result<Tensor> staged(const Tensor& from);

  const DeviceName name_;
  const uint64_t incarnation_;
  const GpuOptions options_;
  const uint16_t ordinal_;
  std::unique_ptr<GpuMemory> memory_;
  PinnedMemory host_memory_;
  DeviceContext context_;
  size_t max_blocks_ = 1;
  const bool waits_for_kernels_;
  cudaStream_t stream_ = nullptr, to_host_ = nullptr;
  cudaEvent_t computed_ = nullptr;  ///< orders copies to the host after kernels; guarded by copying_
  std::mutex copying_;
  void* fault_places_ = nullptr;     ///< pinned memory
  std::optional<GpuFaults> faults_;  ///< in this memory; set by start()
  std::mutex loading_;               ///< guards the libraries and the compiled kernels
  std::unique_ptr<CudaBlas> blas_;
  std::unique_ptr<CudaDnn> dnn_;
  std::optional<Result<CudaCompiler>> compiler_;  ///< set when it has been looked for
  std::optional<Result<CudaNccl>> nccl_;          ///< set when it has been looked for
  std::vector<cudaLibrary_t> compiled_;
  std::unordered_map<std::string, cudaKernel_t> kernels_;  ///< by their source
  std::unique_ptr<EventWaiter> waiter_;
};

}  // namespace troupe
