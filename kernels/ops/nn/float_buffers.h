// Inputs and outputs of an op as floats: those of half and bfloat16 are computed in floats and stored narrow. One thread
// makes it for one computation.
#pragma once

#include <vector>

#include "kernels/core/kernel.h"
#include "kernels/loops/cast.h"

namespace troupe {

class FloatBuffers {
 public:
  static Result<FloatBuffers> make(DeviceContext& device, std::span<const Slot> inputs,
                                   std::span<Tensor> outputs) {
    FloatBuffers buffers(outputs);
    for (const Slot& input : inputs) {
      TROUPE_ASSIGN(Tensor floats, converted(device, input.tensor, DType::Float));
      buffers.inputs_.push_back(std::move(floats));
    }
    for (const Tensor& output : outputs) {
      TROUPE_ASSIGN(Tensor floats, output.dtype() == DType::Float
                                       ? Result<Tensor>(output)
                                       : Tensor::allocate(DType::Float, output.shape(), device.memory()));
      buffers.outputs_.push_back(std::move(floats));
    }
    return buffers;
  }

  std::span<const float> in(size_t i) const { return inputs_[i].as<float>(); }
  std::span<float> out(size_t i) {
    return {reinterpret_cast<float*>(outputs_[i].mutable_data()),
            static_cast<size_t>(outputs_[i].elements())};
  }
  /// Writes the outputs that are no floats.
  void store(Pool& pool) {
    for (size_t i = 0; i < outputs_.size(); ++i)
      if (given_[i].dtype() != DType::Float) convert(pool, outputs_[i], given_[i]);
  }

 private:
  explicit FloatBuffers(std::span<Tensor> outputs) : given_(outputs) {}

  std::vector<Tensor> inputs_, outputs_;
  std::span<Tensor> given_;
};

}  // namespace troupe
