// CudaBlas: the functions of cuBLASLt that kernels use, and the handle of one device. cuBLASLt is loaded at run time, so that a
// program built with CUDA starts without it. Any thread may use it. Only *.cu files and devices/cuda include this header.
#pragma once

#include <cublasLt.h>

#include <mutex>

#include "devices/recent_plans.h"
#include "messages/values/status.h"

namespace troupe {

struct CudaBlas {
  decltype(&cublasLtMatmul) matmul = nullptr;
  decltype(&cublasLtMatmulDescCreate) desc_create = nullptr;
  decltype(&cublasLtMatmulDescDestroy) desc_destroy = nullptr;
  decltype(&cublasLtMatmulDescSetAttribute) desc_set = nullptr;
  decltype(&cublasLtMatrixLayoutCreate) layout_create = nullptr;
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy = nullptr;
  decltype(&cublasLtMatrixLayoutSetAttribute) layout_set = nullptr;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create = nullptr;
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy = nullptr;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set = nullptr;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic = nullptr;
  cublasLtHandle_t handle = nullptr;
  /// What kernels have prepared for products, by all sizes that it depends on. Lock `mutex` while they use it.
  RecentPlans plans;
  std::mutex mutex;
};

}  // namespace troupe
