// StepObject: state that nodes of one step share by a handle: a stack, a TensorArray. A handle is a scalar variant on an edge of
// dtype resource; the object ends with its last handle. The op that makes an object and those that use it have Effect::Step and
// kernels; edges of the graph order them. Kernels of one step may run on several threads, so objects lock what they change.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/core/kernel.h"

namespace troupe {

class StepObject {
 public:
  virtual ~StepObject() = default;
};

/// The value of a handle.
struct StepHandle final : VariantValue {
  explicit StepHandle(std::shared_ptr<StepObject> named) : object(std::move(named)) {}
  std::shared_ptr<StepObject> object;
};

/// Makes a handle of the object output i of the kernel.
inline Status output_handle(KernelContext& context, size_t i, std::shared_ptr<StepObject> object) {
  TROUPE_ASSIGN(Tensor* const handle, context.output(i, DType::Variant, Shape{}));
  handle->write<Variant>()[0] = std::make_unique<StepHandle>(std::move(object));
  return {};
}

/// Returns the object of input i. Fails with InvalidArgument if the input is no handle of an Object; `kind` is its name in the
/// error.
template <class Object>
Result<std::shared_ptr<Object>> object_of(const KernelContext& context, size_t i, std::string_view kind) {
  const Tensor& tensor = context.input(i);
  if (tensor.valid() && tensor.dtype() == DType::Variant && tensor.elements() == 1)
    if (const auto* handle = dynamic_cast<const StepHandle*>(tensor.as<Variant>()[0].get()))
      if (auto object = std::dynamic_pointer_cast<Object>(handle->object)) return object;
  return invalid_argument("input " + std::to_string(i) + " is not the handle of a " + std::string(kind) +
                          " of this step");
}

}  // namespace troupe
