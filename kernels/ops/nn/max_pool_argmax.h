// MaxPoolWithArgmax and its gradients: the checks on the host, and the arguments that they return to the compute functions of each
// type of device (kernels/core/checked_kernel.h). Any thread may call the functions.
#pragma once

#include "kernels/core/checked_kernel.h"
#include "kernels/gpu/any.h"
#include "kernels/ops/nn/pooling.h"

namespace troupe {

/// How elements of a batch of images are numbered in argmax: within their image, or within the whole batch. A plain value.
class ImageIndices {
 public:
  ImageIndices(const Pooling& pooling, bool whole)
      : size_(static_cast<int64_t>(pooling.inputs()) * pooling.channels), whole_(whole) {}

  /// The number of elements of an image.
  TROUPE_ANY size_t size() const { return static_cast<size_t>(size_); }
  /// Returns the place in the whole tensor of the element with this index, or -1 if the image has no such element.
  TROUPE_ANY int64_t place(int64_t index, size_t image) const {
    const int64_t first = static_cast<int64_t>(image) * size_, least = whole_ ? first : 0;
    return index < least || index - least >= size_ ? -1 : first + (index - least);
  }
  /// The inverse.
  TROUPE_ANY int64_t index(int64_t place, size_t image) const {
    return whole_ ? place : place - static_cast<int64_t>(image) * size_;
  }

 private:
  int64_t size_;
  bool whole_;
};

struct ArgmaxArguments {
  const Tensor& input;
  Tensor &output, &argmax;
  Pooling pooling;
  ImageIndices indices;
};
/// Fails with InvalidArgument if an index does not fit the type of argmax.
Result<ArgmaxArguments> check_argmax(KernelContext& context);

/// The indices are not checked yet: the compute functions fail with InvalidArgument for one that its image does not have.
struct ArgmaxGradArguments {
  const Tensor &gradient, &argmax;
  Tensor& output;
  Pooling pooling;
  ImageIndices indices;
};
/// The output has the input's shape and grad the pooled one.
Result<ArgmaxGradArguments> check_argmax_grad(KernelContext& context);
/// The other way round.
Result<ArgmaxGradArguments> check_argmax_grad_grad(KernelContext& context);

}  // namespace troupe
