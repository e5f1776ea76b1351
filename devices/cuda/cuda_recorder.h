// CudaRecorder: records the work of kernels by capturing a stream of its own, and issues groups of them as graphs of CUDA. Made by
// a CudaDevice, which must outlive it. Only devices/cuda includes this header.
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <span>
#include <vector>

#include "devices/gpu_recorder.h"
#include "messages/values/buffer.h"

namespace troupe {

class CudaRecorder final : public GpuRecorder, private GpuQueue {
 public:
  /// `device` is the queue of the device, `index` its number in CUDA's order.
  static Result<std::unique_ptr<CudaRecorder>> make(GpuQueue& device, int index, Allocator& pinned);
  ~CudaRecorder() override;

  GpuQueue& queue() override { return *this; }
  Status begin() override;
  Result<std::unique_ptr<RecordedPiece>> end() override;
  Result<std::unique_ptr<RecordedGroup>> join(std::span<const RecordedPiece* const> pieces) override;
  Status issue(RecordedGroup& group) override;

 private:
  CudaRecorder(GpuQueue& device, int index, Allocator& pinned, cudaStream_t stream)
      : device_(device), index_(index), pinned_(pinned), stream_(stream) {}

  void* stream() const override;
  GpuFaults& faults() override { return device_.faults(); }
  size_t max_blocks() const override { return device_.max_blocks(); }
  Status launched() override;
  Result<void*> blas() override { return device_.blas(); }
  Result<void*> dnn() override { return device_.dnn(); }
  Result<void*> compiled(const std::string& source) override { return device_.compiled(source); }
  void* mark() override { return nullptr; }
  int64_t elapsed(void*, void*) override { return 0; }
  void poll() override {}
  bool tf32() const override { return device_.tf32(); }
  const void* kept(const void* bytes, size_t count) override;

  GpuQueue& device_;
  const int index_;
  Allocator& pinned_;
  const cudaStream_t stream_;
  std::vector<BufferRef> kept_;  ///< what the piece that is being recorded copies from
};

}  // namespace troupe
