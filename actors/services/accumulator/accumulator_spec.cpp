#include "actors/services/accumulator/accumulator_spec.h"

#include "kernels/core/state.h"

namespace troupe {

std::string AccumulatorSpec::text() const {
  return (sparse ? "sparse " : "") + std::string(troupe::name(dtype)) + shape.text() +
         (mean ? ", mean" : ", sum");
}

Result<AccumulatorSpec> accumulator_spec(const Node& handle) {
  AccumulatorSpec spec;
  spec.name = state_name(handle);
  spec.dtype = handle.attrs.get<DType>("dtype");
  spec.shape = handle.attrs.get<PartialShape>("shape");
  spec.sparse = handle.type() == "SparseConditionalAccumulator";
  // A scalar has no rows. As in TensorFlow, this shape lets rows of any shape in.
  if (spec.sparse && spec.shape.has_rank(0)) spec.shape = PartialShape();
  spec.mean = handle.attrs.get<std::string>("reduction_type") == "MEAN";
  const bool adds = spec.dtype == DType::Half || spec.dtype == DType::BFloat16 ||
                    spec.dtype == DType::Float || spec.dtype == DType::Double;
  if (adds) return spec;
  return invalid_argument("dtype is " + std::string(name(spec.dtype)) +
                          ", but gradients are half, bfloat16, float or double");
}

}  // namespace troupe
