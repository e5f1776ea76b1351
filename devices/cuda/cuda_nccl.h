// CudaNccl: the functions of NCCL with which GPUs exchange tensors. NCCL is loaded at run time, so that a program built with CUDA
// starts without it. Only devices/cuda includes this header. Immutable; any thread.
#pragma once

#include <nccl.h>

namespace troupe {

struct CudaNccl {
  decltype(&ncclGetErrorString) error_string = nullptr;
  decltype(&ncclGetLastError) last_error = nullptr;
  decltype(&ncclGetUniqueId) unique_id = nullptr;
  decltype(&ncclCommInitRankConfig) init = nullptr;
  decltype(&ncclCommGetAsyncError) async_error = nullptr;
  decltype(&ncclCommAbort) abort = nullptr;
  decltype(&ncclRedOpCreatePreMulSum) weighted_sum_create = nullptr;
  decltype(&ncclRedOpDestroy) reduction_destroy = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  decltype(&ncclReduce) reduce = nullptr;
  int version = 0;
};

}  // namespace troupe
