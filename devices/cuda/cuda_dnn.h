// CudaDnn: the functions of cuDNN that kernels use, and the handle of one device. cuDNN is loaded at run time, so that a program
// built with CUDA starts without it. A handle serves one thread at a time: lock `mutex`, then choose the stream.
// Only *.cu files and devices/cuda include this header.
#pragma once

#include <cudnn.h>

#include <mutex>

#include "devices/recent_plans.h"
#include "messages/values/status.h"

namespace troupe {

struct CudaDnn {
  decltype(&cudnnGetErrorString) error_string = nullptr;
  decltype(&cudnnCreateTensorDescriptor) tensor_create = nullptr;
  decltype(&cudnnSetTensorNdDescriptor) tensor_set = nullptr;
  decltype(&cudnnDestroyTensorDescriptor) tensor_destroy = nullptr;
  decltype(&cudnnCreateFilterDescriptor) filter_create = nullptr;
  decltype(&cudnnSetFilterNdDescriptor) filter_set = nullptr;
  decltype(&cudnnDestroyFilterDescriptor) filter_destroy = nullptr;
  decltype(&cudnnCreateConvolutionDescriptor) convolution_create = nullptr;
  decltype(&cudnnSetConvolutionNdDescriptor) convolution_set = nullptr;
  decltype(&cudnnSetConvolutionMathType) convolution_set_math = nullptr;
  decltype(&cudnnSetConvolutionGroupCount) convolution_set_groups = nullptr;
  decltype(&cudnnDestroyConvolutionDescriptor) convolution_destroy = nullptr;
  decltype(&cudnnGetConvolutionForwardAlgorithm_v7) forward_algorithms = nullptr;
  decltype(&cudnnConvolutionForward) forward = nullptr;
  decltype(&cudnnGetConvolutionBackwardDataAlgorithm_v7) data_algorithms = nullptr;
  decltype(&cudnnConvolutionBackwardData) backward_data = nullptr;
  decltype(&cudnnGetConvolutionBackwardFilterAlgorithm_v7) filter_algorithms = nullptr;
  decltype(&cudnnConvolutionBackwardFilter) backward_filter = nullptr;
  decltype(&cudnnSetStream) set_stream = nullptr;
  cudnnHandle_t handle = nullptr;
  bool times_algorithms = false;  ///< whether convolutions choose their algorithms by running each of them
  /// What kernels have prepared for convolutions, by all sizes that it depends on.
  RecentPlans plans;
  std::mutex mutex;
};

}  // namespace troupe
