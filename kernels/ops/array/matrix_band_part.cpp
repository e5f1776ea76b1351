// MatrixBandPart(input, num_lower, num_upper): each matrix that the last two dimensions hold, with zeros outside of a band:
// element (m, n) stays where m - n <= num_lower and n - m <= num_upper. A negative number keeps that whole triangle.
#include "kernels/ops/array/matrix_band_part.h"

#include <algorithm>

#include "graph/build/gradients.h"
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"

namespace troupe {
namespace {

Status check_matrices(std::span<const int64_t> dims) {
  if (dims.size() >= 2) return {};
  return invalid_argument("input of shape " + partial(dims).text() + " holds no matrices");
}

/// How many diagonals of a triangle the band has. InvalidArgument when the matrices have not so many rows, or columns.
Result<int64_t> read_width(const Tensor& tensor, std::string_view argument, int64_t most) {
  TROUPE_ASSIGN(const int64_t width, integer_scalar(tensor, argument));
  if (width <= most) return width < 0 ? most : width;
  return invalid_argument(std::string(argument) + " is " + std::to_string(width) + ", the most is " +
                          std::to_string(most));
}

Status band_shape(ShapeContext& context) {
  for (size_t i = 1; i < 3; ++i) TROUPE_RETURN_IF_FAILED(context.with_rank(i, 0).status());
  const PartialShape& input = context.input(0);
  if (input.known_rank()) TROUPE_RETURN_IF_FAILED(check_matrices(input.dims()));
  return unchanged_shape(context);
}

/// Copies elements [begin, end) of a row, if `from` is not null, and sets the others to zero.
template <class T>
void band_row(const T* from, T* to, int64_t columns, int64_t begin, int64_t end) {
  begin = std::clamp<int64_t>(begin, 0, columns);
  end = std::clamp(end, begin, columns);
  std::fill(to, to + begin, T{});
  if (from) std::copy(from + begin, from + end, to + begin);
  std::fill(to + end, to + columns, T{});
}

void compute_band(const BandArguments& arguments, DeviceContext& device) {
  Tensor* const output = arguments.output;
  if (!output || output->elements() == 0) return;
  const auto dims = output->shape().dims();
  const int64_t columns = dims[dims.size() - 1], rows = dims[dims.size() - 2];
  with_storage(output->dtype(), [&]<class T>(std::type_identity<T>) {
    const T* const from = arguments.input ? reinterpret_cast<const T*>(arguments.input->data()) : nullptr;
    T* const to = reinterpret_cast<T*>(output->mutable_data());
    parallel_rows(device.pool(), static_cast<size_t>(output->elements() / columns),
                  2 * sizeof(T) * static_cast<size_t>(columns), [&](size_t begin, size_t end) {
                    for (size_t i = begin; i < end; ++i) {
                      const int64_t row = static_cast<int64_t>(i) % rows,
                                    at = static_cast<int64_t>(i) * columns;
                      band_row(from ? from + at : nullptr, to + at, columns, row - arguments.lower,
                               row + arguments.upper + 1);
                    }
                  });
  });
}

void band_gradient(GradientContext& context) {
  context.set(
      0, context.scope().add_one("MatrixBandPart", {context.gradient(), context.input(1), context.input(2)}));
}

}  // namespace

Result<BandArguments> check_band(KernelContext& context) {
  const Shape shape = context.input(0).shape();  // a copy: the input may become the output
  TROUPE_RETURN_IF_FAILED(check_matrices(shape.dims()));
  const int64_t rows = shape[shape.rank() - 2], columns = shape[shape.rank() - 1];
  TROUPE_ASSIGN(const int64_t lower, read_width(context.input(1), "num_lower", rows));
  TROUPE_ASSIGN(const int64_t upper, read_width(context.input(2), "num_upper", columns));
  if (lower >= rows - 1 && upper >= columns - 1) {
    context.set_output(0, context.input(0));
    return BandArguments{};
  }
  TROUPE_ASSIGN(Tensor* const output, context.forward(0, 0, shape));
  const Tensor& input = context.input(0);
  return BandArguments{input.valid() ? &input : nullptr, output, lower, upper};
}

void add_matrix_band_part(OpLibrary& library) {
  library.op(OpDefBuilder("MatrixBandPart")
                 .former_name("BatchMatrixBandPart")
                 .input("input: T")
                 .host_input("num_lower: Tindex")
                 .host_input("num_upper: Tindex")
                 .output("band: T")
                 .attr("T: type")
                 .attr("Tindex: {int32, int64} = int64")
                 .constructor("matrix_band_part(input, num_lower, num_upper)")
                 .shape(band_shape)
                 .gradient(band_gradient));
  library.kernel(cpu_kernel("MatrixBandPart", check_band, compute_band));
}

}  // namespace troupe
