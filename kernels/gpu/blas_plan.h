// BlasPlan: how cuBLASLt computes products of certain sizes. Kept in CudaBlas::plans; use it while CudaBlas::mutex is locked.
#pragma once

#include <memory>

#include "devices/cuda/cuda_blas.h"
#include "kernels/gpu/gemm.h"

namespace troupe::gpu {

class BlasPlan {
 public:
  /// Chooses an algorithm. If there is none, works() is false afterwards.
  static Result<std::shared_ptr<BlasPlan>> make(const CudaBlas& blas, const Product& product, bool tf32);
  explicit BlasPlan(const CudaBlas& blas) : blas_(blas) {}
  BlasPlan(const BlasPlan&) = delete;
  BlasPlan& operator=(const BlasPlan&) = delete;
  ~BlasPlan();

  bool works() const { return works_; }
  /// Issues a product of these sizes.
  Status run(const CudaBlas& blas, DeviceContext& device, const Product& product) const;

 private:
  Status describe(const Product& product, bool tf32);
  Status choose(const Product& product);

  const CudaBlas& blas_;
  cublasLtMatmulDesc_t desc_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
  cublasLtMatmulAlgo_t algorithm_{};
  size_t workspace_ = 0;  ///< in bytes
  bool works_ = false;
};

/// Returns the plan for a product, made if need be. `blas.mutex` is locked.
Result<const BlasPlan*> plan_of(CudaBlas& blas, const Product& product, bool tf32);

}  // namespace troupe::gpu
