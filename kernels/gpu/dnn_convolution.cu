// A convolution by cuDNN. Its algorithm is the fastest one if CudaDnn::times_algorithms is set; else that of transform_for() where
// cuDNN has it, and the one that cuDNN's heuristics put first elsewhere. All are deterministic and need little memory.
#if defined(__CUDACC__)
#include "kernels/gpu/dnn_convolution.h"

#include "devices/cuda/cuda_dnn.h"
#include "devices/gpu_queue.h"
#include "kernels/gpu/launch.h"

namespace troupe::gpu {
namespace {

constexpr size_t convolution_workspace = size_t{1} << 30;

Status convolution_status(const CudaDnn& dnn, cudnnStatus_t status, const char* what) {
  if (status == CUDNN_STATUS_SUCCESS) return {};
  return internal(std::string("cuDNN: ") + what + " failed: " + dnn.error_string(status));
}

cudnnDataType_t convolution_type(DType dtype) {
  switch (dtype) {
    case DType::Double: return CUDNN_DATA_DOUBLE;
    case DType::Half: return CUDNN_DATA_HALF;
    case DType::BFloat16: return CUDNN_DATA_BFLOAT16;
    default: return CUDNN_DATA_FLOAT;
  }
}

cudnnMathType_t math_of(DType dtype, bool tf32) {
  if (dtype == DType::Half || dtype == DType::BFloat16) return CUDNN_TENSOR_OP_MATH;
  return dtype == DType::Float && !tf32 ? CUDNN_FMA_MATH : CUDNN_DEFAULT_MATH;
}

/// Everything that a plan depends on.
std::vector<int64_t> convolution_key(const ConvolutionWork& work, bool tf32) {
  const ConvolutionSizes& sizes = work.sizes;
  std::vector<int64_t> key{static_cast<int64_t>(work.pass),
                           static_cast<int64_t>(work.dtype),
                           work.channels_last,
                           tf32,
                           sizes.batch,
                           sizes.groups,
                           sizes.in_channels,
                           sizes.out_channels};
  for (const ConvolutionAxis& axis : sizes.axes)
    key.insert(key.end(),
               {axis.input, axis.window, axis.output, axis.stride, axis.dilation, axis.pad_before});
  return key;
}

/// A descriptor of cuDNN, destroyed with its owner.
template <class Descriptor>
class Described {
 public:
  Described() = default;
  Described(const Described&) = delete;
  Described& operator=(const Described&) = delete;
  ~Described() {
    if (descriptor_) destroy_(descriptor_);
  }
  cudnnStatus_t make(cudnnStatus_t (*create)(Descriptor*), cudnnStatus_t (*destroy)(Descriptor)) {
    destroy_ = destroy;
    return create(&descriptor_);
  }
  Descriptor get() const { return descriptor_; }

 private:
  Descriptor descriptor_ = nullptr;
  cudnnStatus_t (*destroy_)(Descriptor) = nullptr;
};

/// How the products of a window may be computed for many positions at once.
enum class Transform : uint8_t { None, Winograd, Fourier };

/// Returns the transform by which cuDNN computes the pass fastest, and which its heuristics often leave out (bench/README.md): for
/// floats without tensor cores, many channels, and windows that move by single positions. But for gradients of filters, the time of
/// Winograd's transform is that of sixteen images where there are fewer.
Transform transform_for(const ConvolutionWork& work, bool tf32) {
  constexpr int64_t least_images = 4, least_channels = 48, least_positions = 1024;
  const ConvolutionSizes& sizes = work.sizes;
  if (work.pass != ConvolutionPass::FilterGradient && sizes.batch < least_images) return Transform::None;
  if (work.dtype != DType::Float || tf32 || work.channels_last || sizes.groups != 1 ||
      sizes.axes.size() != 2 || std::min(sizes.in_channels, sizes.out_channels) < least_channels ||
      sizes.batch * sizes.output_elements() / sizes.out_channels < least_positions ||
      std::ranges::any_of(sizes.axes,
                          [](const ConvolutionAxis& axis) { return axis.stride != 1 || axis.dilation != 1; }))
    return Transform::None;
  const auto [least, most] = std::minmax(sizes.axes[0].window, sizes.axes[1].window);
  if (least >= 3 && most <= 5) return Transform::Winograd;
  return most >= 5 && work.pass != ConvolutionPass::FilterGradient ? Transform::Fourier : Transform::None;
}

/// Returns the number of cuDNN's algorithm for a transform; for gradients of filters that of Winograd.
int algorithm_of(Transform transform, ConvolutionPass pass) {
  const bool winograd = transform == Transform::Winograd;
  switch (pass) {
    case ConvolutionPass::Forward:
      return winograd ? CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED : CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING;
    case ConvolutionPass::ImageGradient:
      return winograd ? CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED
                      : CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT_TILING;
    default: return CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED;
  }
}

/// Returns the work for one of several equal parts of the images. The gradient of the filter is the sum over the parts.
ConvolutionWork part_of(const ConvolutionWork& work, int64_t parts, int64_t part) {
  ConvolutionWork result = work;
  result.sizes.batch /= parts;
  const auto bytes = [&](int64_t elements) {
    return static_cast<ptrdiff_t>(static_cast<size_t>(part * result.sizes.batch * elements) *
                                  size_of(work.dtype));
  };
  const ptrdiff_t images = bytes(work.sizes.image_elements()), outputs = bytes(work.sizes.output_elements());
  const bool forward = work.pass == ConvolutionPass::Forward;
  result.a += work.pass == ConvolutionPass::ImageGradient ? outputs : images;
  if (work.pass == ConvolutionPass::FilterGradient)
    result.b += outputs;
  else
    result.out += forward ? outputs : images;
  return result;
}

/// An algorithm of any pass.
struct Candidate {
  int algorithm;
  cudnnMathType_t math;
  size_t workspace;
};

/// The descriptors of a convolution and the algorithms that may compute it, the best ones first.
class DnnPlan {
 public:
  static Result<std::shared_ptr<DnnPlan>> make(CudaDnn& dnn, const ConvolutionWork& work, bool tf32) {
    TROUPE_ASSIGN(const std::shared_ptr<DnnPlan> whole, make_for_parts(dnn, work, tf32, 1));
    const Transform transform = transform_for(work, tf32);
    if (transform == Transform::None) return whole;
    for (int64_t parts = 1; parts <= 16 && work.sizes.batch % parts == 0; parts *= 2) {
      TROUPE_ASSIGN(std::shared_ptr<DnnPlan> plan, make_for_parts(dnn, work, tf32, parts));
      if (plan->prefer(algorithm_of(transform, work.pass))) return plan;
    }
    return whole;
  }

  bool may_run() const { return next_ < candidates_.size(); }
  /// Issues the convolution by the first algorithm that can compute it; false if there is none.
  Result<bool> run(CudaDnn& dnn, DeviceContext& device, const ConvolutionWork& work) {
    if (dnn.times_algorithms && !timed_) TROUPE_RETURN_IF_FAILED(order_by_time(dnn, device, work));
    for (; next_ < candidates_.size(); ++next_) {
      const Candidate& candidate = candidates_[next_];
      TROUPE_ASSIGN(const BufferRef workspace, scratch(device, candidate.workspace));
      cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
      for (int64_t part = 0; part < parts_ && status == CUDNN_STATUS_SUCCESS; ++part)
        status = call(dnn, candidate, part_of(work, parts_, part), part > 0, workspace->data);
      if (status == CUDNN_STATUS_SUCCESS) return true;
      if (!is_unsupported(status)) return convolution_status(dnn, status, "a convolution");
    }
    return false;
  }

 private:
  /// CUDNN_STATUS_NOT_SUPPORTED and its details.
  static bool is_unsupported(cudnnStatus_t status) { return static_cast<int>(status) / 1000 == 3; }

  static Result<std::shared_ptr<DnnPlan>> make_for_parts(CudaDnn& dnn, const ConvolutionWork& work, bool tf32,
                                                         int64_t parts) {
    auto plan = std::make_shared<DnnPlan>();
    plan->parts_ = parts;
    const ConvolutionWork part = part_of(work, parts, 0);
    TROUPE_ASSIGN(const bool described, plan->describe(dnn, part, math_of(work.dtype, tf32)));
    if (described) plan->find(dnn, work.pass);
    return plan;
  }

  Result<bool> describe(CudaDnn& dnn, const ConvolutionWork& work, cudnnMathType_t math);
  cudnnStatus_t describe_images(CudaDnn& dnn, const ConvolutionWork& work, bool outputs,
                                Described<cudnnTensorDescriptor_t>& images);
  cudnnStatus_t describe_filter(CudaDnn& dnn, const ConvolutionWork& work);
  cudnnStatus_t describe_convolution(CudaDnn& dnn, const ConvolutionWork& work, cudnnMathType_t math);
  void find(CudaDnn& dnn, ConvolutionPass pass);
  template <class Performance, class Query>
  void find_with(const Query& query);
  bool prefer(int algorithm);
  Status order_by_time(CudaDnn& dnn, DeviceContext& device, const ConvolutionWork& work);
  cudnnStatus_t call(CudaDnn& dnn, const Candidate& candidate, const ConvolutionWork& part, bool adds,
                     void* workspace);

  Described<cudnnTensorDescriptor_t> in_, out_;
  Described<cudnnFilterDescriptor_t> filter_;
  Described<cudnnConvolutionDescriptor_t> convolution_;
  std::vector<Candidate> candidates_;
  int64_t parts_ = 1;  ///< of the images, which are convolved one after the other in the same workspace
  size_t next_ = 0;
  bool timed_ = false;
};

/// At least two spatial dimensions, as cuDNN wants them.
std::vector<ConvolutionAxis> axes_of(const ConvolutionSizes& sizes) {
  std::vector<ConvolutionAxis> axes(sizes.axes.begin(), sizes.axes.end());
  if (axes.size() == 1) axes.insert(axes.begin(), ConvolutionAxis());
  return axes;
}

cudnnStatus_t DnnPlan::describe_images(CudaDnn& dnn, const ConvolutionWork& work, bool outputs,
                                       Described<cudnnTensorDescriptor_t>& images) {
  const auto channels = static_cast<int>(outputs ? work.sizes.out_channels : work.sizes.in_channels);
  std::vector<int> dims{static_cast<int>(work.sizes.batch), channels};
  for (const ConvolutionAxis& axis : axes_of(work.sizes))
    dims.push_back(static_cast<int>(outputs ? axis.output : axis.input));
  std::vector<int> strides(dims.size());
  int step = work.channels_last ? channels : 1;
  for (size_t i = dims.size(); i-- > 2; step *= dims[i]) strides[i] = step;
  strides[1] = work.channels_last ? 1 : step;
  strides[0] = work.channels_last ? step : step * channels;
  if (const cudnnStatus_t made = images.make(dnn.tensor_create, dnn.tensor_destroy)) return made;
  return dnn.tensor_set(images.get(), convolution_type(work.dtype), static_cast<int>(dims.size()),
                        dims.data(), strides.data());
}

cudnnStatus_t DnnPlan::describe_filter(CudaDnn& dnn, const ConvolutionWork& work) {
  std::vector<int> dims{static_cast<int>(work.sizes.out_channels),
                        static_cast<int>(work.sizes.in_channels / work.sizes.groups)};
  for (const ConvolutionAxis& axis : axes_of(work.sizes)) dims.push_back(static_cast<int>(axis.window));
  if (const cudnnStatus_t made = filter_.make(dnn.filter_create, dnn.filter_destroy)) return made;
  return dnn.filter_set(filter_.get(), convolution_type(work.dtype),
                        work.channels_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW,
                        static_cast<int>(dims.size()), dims.data());
}

cudnnStatus_t DnnPlan::describe_convolution(CudaDnn& dnn, const ConvolutionWork& work, cudnnMathType_t math) {
  std::vector<int> pads, strides, dilations;
  for (const ConvolutionAxis& axis : axes_of(work.sizes)) {
    pads.push_back(static_cast<int>(axis.pad_before));
    strides.push_back(static_cast<int>(axis.stride));
    dilations.push_back(static_cast<int>(axis.dilation));
  }
  const cudnnDataType_t compute = work.dtype == DType::Double ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  if (const cudnnStatus_t made = convolution_.make(dnn.convolution_create, dnn.convolution_destroy))
    return made;
  if (const cudnnStatus_t set =
          dnn.convolution_set(convolution_.get(), static_cast<int>(pads.size()), pads.data(), strides.data(),
                              dilations.data(), CUDNN_CROSS_CORRELATION, compute))
    return set;
  if (const cudnnStatus_t set =
          dnn.convolution_set_groups(convolution_.get(), static_cast<int>(work.sizes.groups)))
    return set;
  return dnn.convolution_set_math(convolution_.get(), math);
}

Result<bool> DnnPlan::describe(CudaDnn& dnn, const ConvolutionWork& work, cudnnMathType_t math) {
  for (const cudnnStatus_t status :
       {describe_images(dnn, work, false, in_), describe_images(dnn, work, true, out_),
        describe_filter(dnn, work), describe_convolution(dnn, work, math)}) {
    if (is_unsupported(status)) return false;
    TROUPE_RETURN_IF_FAILED(convolution_status(dnn, status, "describing a convolution"));
  }
  return true;
}

template <class Performance, class Query>
void DnnPlan::find_with(const Query& query) {
  constexpr int most = 32;
  Performance found[most];
  int count = 0;
  if (query(most, &count, found) != CUDNN_STATUS_SUCCESS) return;
  for (int i = 0; i < count; ++i)
    if (found[i].status == CUDNN_STATUS_SUCCESS && found[i].determinism == CUDNN_DETERMINISTIC &&
        found[i].memory <= convolution_workspace)
      candidates_.push_back({static_cast<int>(found[i].algo), found[i].mathType, found[i].memory});
}

void DnnPlan::find(CudaDnn& dnn, ConvolutionPass pass) {
  switch (pass) {
    case ConvolutionPass::Forward:
      return find_with<cudnnConvolutionFwdAlgoPerf_t>([&](int most, int* count, auto* found) {
        return dnn.forward_algorithms(dnn.handle, in_.get(), filter_.get(), convolution_.get(), out_.get(),
                                      most, count, found);
      });
    case ConvolutionPass::ImageGradient:
      return find_with<cudnnConvolutionBwdDataAlgoPerf_t>([&](int most, int* count, auto* found) {
        return dnn.data_algorithms(dnn.handle, filter_.get(), out_.get(), convolution_.get(), in_.get(), most,
                                   count, found);
      });
    case ConvolutionPass::FilterGradient:
      return find_with<cudnnConvolutionBwdFilterAlgoPerf_t>([&](int most, int* count, auto* found) {
        return dnn.filter_algorithms(dnn.handle, in_.get(), out_.get(), convolution_.get(), filter_.get(),
                                     most, count, found);
      });
  }
}

/// Puts an algorithm first; returns false if it is not among the candidates.
bool DnnPlan::prefer(int algorithm) {
  const auto found = std::ranges::find(candidates_, algorithm, &Candidate::algorithm);
  if (found == candidates_.end()) return false;
  std::rotate(candidates_.begin(), found, found + 1);
  return true;
}

/// Runs each algorithm for which there is memory some times, and puts the fastest first. Does nothing while the stream is captured.
Status DnnPlan::order_by_time(CudaDnn& dnn, DeviceContext& device, const ConvolutionWork& work) {
  constexpr int rounds = 3;
  GpuQueue& queue = *device.queue();
  cudaStreamCaptureStatus capture{};
  if (cudaStreamIsCapturing(static_cast<cudaStream_t>(queue.stream()), &capture) != cudaSuccess ||
      capture != cudaStreamCaptureStatusNone)
    return {};
  timed_ = true;
  std::vector<std::pair<int64_t, Candidate>> timed;
  for (const Candidate& candidate : candidates_) {
    const auto workspace = scratch(device, candidate.workspace);
    if (!workspace) continue;
    int64_t least = INT64_MAX;
    for (int round = 0; round < rounds; ++round) {
      void* const begin = queue.mark();
      const cudnnStatus_t status = call(dnn, candidate, part_of(work, parts_, 0), false, (*workspace)->data);
      const int64_t time = queue.elapsed(begin, queue.mark());
      if (status != CUDNN_STATUS_SUCCESS) break;
      least = std::min(least, time);
    }
    if (least != INT64_MAX) timed.emplace_back(least, candidate);
  }
  std::ranges::stable_sort(timed, {}, [](const auto& entry) { return entry.first; });
  if (timed.empty()) return {};
  candidates_.clear();
  for (const auto& [time, candidate] : timed) candidates_.push_back(candidate);
  return {};
}

/// Issues the convolution of a part. If `adds`, a gradient of the filter is added to what `part.out` holds.
cudnnStatus_t DnnPlan::call(CudaDnn& dnn, const Candidate& candidate, const ConvolutionWork& part, bool adds,
                            void* workspace) {
  const double factors[] = {0, 1};
  const float float_factors[] = {0, 1};
  const bool is_double = part.dtype == DType::Double;
  const void* const zero = is_double ? static_cast<const void*>(factors) : float_factors;
  const void* const one = is_double ? static_cast<const void*>(factors + 1) : float_factors + 1;
  if (const cudnnStatus_t set = dnn.convolution_set_math(convolution_.get(), candidate.math)) return set;
  switch (part.pass) {
    case ConvolutionPass::Forward:
      return dnn.forward(dnn.handle, one, in_.get(), part.a, filter_.get(), part.b, convolution_.get(),
                         static_cast<cudnnConvolutionFwdAlgo_t>(candidate.algorithm), workspace,
                         candidate.workspace, zero, out_.get(), part.out);
    case ConvolutionPass::ImageGradient:
      return dnn.backward_data(dnn.handle, one, filter_.get(), part.b, out_.get(), part.a, convolution_.get(),
                               static_cast<cudnnConvolutionBwdDataAlgo_t>(candidate.algorithm), workspace,
                               candidate.workspace, zero, in_.get(), part.out);
    default:
      return dnn.backward_filter(dnn.handle, one, in_.get(), part.a, out_.get(), part.b, convolution_.get(),
                                 static_cast<cudnnConvolutionBwdFilterAlgo_t>(candidate.algorithm), workspace,
                                 candidate.workspace, adds ? one : zero, filter_.get(), part.out);
  }
}

/// Returns the plan for these sizes, made if need be. `dnn.mutex` is locked.
Result<DnnPlan*> convolution_plan(CudaDnn& dnn, const ConvolutionWork& work, bool tf32) {
  std::shared_ptr<void>& kept = dnn.plans[convolution_key(work, tf32)];
  if (!kept) {
    TROUPE_ASSIGN(kept, DnnPlan::make(dnn, work, tf32));
  }
  return static_cast<DnnPlan*>(kept.get());
}

}  // namespace

Result<bool> dnn_may_convolve(DeviceContext& device, const ConvolutionWork& work) {
  TROUPE_ASSIGN(void* const library, device.queue()->dnn());
  CudaDnn& dnn = *static_cast<CudaDnn*>(library);
  const std::lock_guard lock(dnn.mutex);
  TROUPE_ASSIGN(const DnnPlan* const plan, convolution_plan(dnn, work, device.queue()->tf32()));
  return plan->may_run();
}

Result<bool> convolve_by_dnn(DeviceContext& device, const ConvolutionWork& work) {
  TROUPE_ASSIGN(void* const library, device.queue()->dnn());
  CudaDnn& dnn = *static_cast<CudaDnn*>(library);
  const std::lock_guard lock(dnn.mutex);
  TROUPE_ASSIGN(DnnPlan* const plan, convolution_plan(dnn, work, device.queue()->tf32()));
  TROUPE_RETURN_IF_FAILED(
      convolution_status(dnn, dnn.set_stream(dnn.handle, static_cast<cudaStream_t>(device.queue()->stream())),
                         "choosing a stream"));
  return plan->run(dnn, device, work);
}

}  // namespace troupe::gpu
#endif
