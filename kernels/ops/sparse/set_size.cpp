// SetSize(set_indices, set_values, set_shape): how many distinct values each row of a sparse tensor of rank 2 or more has, a row
// being what the last dimension holds. int32, of the dimensions but the last. Integers of up to 16 bits, int32, int64 and strings.
// InvalidArgument for positions that are outside of the shape, repeated or not in row-major order, whatever validate_indices says,
// as in TensorFlow.
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops/sparse/sets.h"

namespace troupe {
namespace {

Result<Dims> without_last(std::span<const int64_t> dims, std::string_view name) {
  TROUPE_RETURN_IF_FAILED(check_set_rank(dims.size(), name));
  return Dims(dims.first(dims.size() - 1));
}

Status set_size_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const PartialShape indices, sparse_shape(context, SparseInputs::from(0)));
  if (indices[1] != unknown_dim)
    TROUPE_RETURN_IF_FAILED(check_set_rank(static_cast<size_t>(indices[1]), "set_shape"));
  const auto dims = context.constant_integers(2);
  if (!dims) return {};
  TROUPE_RETURN_IF_FAILED(check_dense_shape(*dims, "set_shape"));
  TROUPE_ASSIGN(const Dims sizes, without_last(*dims, "set_shape"));
  context.set_output(0, partial(sizes));
  return {};
}

struct SetSizeArguments {
  Sets sets;
  Tensor& sizes;
};

Result<SetSizeArguments> check_set_size(KernelContext& context) {
  TROUPE_ASSIGN(Sets sets, sparse_sets(context, 0));
  TROUPE_ASSIGN(const Dims dims, without_last(sets.dims, "set_shape"));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, DType::Int32));
  TROUPE_ASSIGN(Tensor* const sizes, context.output(0, shape));
  return SetSizeArguments{std::move(sets), *sizes};
}

Status compute_set_size(const SetSizeArguments& arguments, DeviceContext& device) {
  Sets sets = arguments.sets;
  TROUPE_RETURN_IF_FAILED(number_values(sets, device));
  fill(device.pool(), arguments.sizes);
  const auto sizes = arguments.sizes.write<int32_t>();
  with_type(SetTypes{}, sets.values.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto values = sets.values.as<T>();
    Members members;
    for (size_t i = 0, end = 0; i < sets.count(); i = end) {
      const int64_t set = sets.set_of(i);
      end = sets.end_of_set(i, set);
      sort_members(
          i, end, [&](size_t a, size_t b) { return values[a] < values[b]; }, members);
      sizes[static_cast<size_t>(set)] = static_cast<int32_t>(members.size());
    }
  });
  return {};
}

}  // namespace

void add_set_size(OpLibrary& library) {
  library.op(OpDefBuilder("SetSize")
                 .input("set_indices: int64")
                 .input("set_values: T")
                 .host_input("set_shape: int64")
                 .output("size: int32")
                 .attr("validate_indices: bool = true")
                 .attr("T: {int8, int16, int32, int64, uint8, uint16, string}")
                 .shape(set_size_shape)
                 .not_differentiable());
  library.kernel(cpu_kernel("SetSize", check_set_size, compute_set_size));
}

}  // namespace troupe
