// HistogramFixedWidth(values, value_range, nbins): how many values fall into each of nbins bins of equal width between the two
// elements of value_range. Values below the range count in the first bin, those above it in the last. Fails with InvalidArgument
// unless nbins is positive and value_range[0] < value_range[1], and for a NaN among the values.
#include <algorithm>
#include <cmath>

#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/strided_copy.h"

namespace troupe {
namespace {

using ValueTypes = TypeList<int32_t, int64_t, float, double>;

Status check_bins(int64_t bins) {
  if (bins > 0) return {};
  return invalid_argument("nbins is " + std::to_string(bins) + "; it must be positive");
}

Status histogram_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto range, context.with_rank(1, 1));
  TROUPE_RETURN_IF_FAILED(merge(range, PartialShape{2}).status());
  TROUPE_RETURN_IF_FAILED(context.with_rank(2, 0).status());
  const auto bins = constant_integer(context, 2);
  if (bins) TROUPE_RETURN_IF_FAILED(check_bins(*bins));
  context.set_output(0, PartialShape{bins.value_or(unknown_dim)});
  return {};
}

struct HistogramArguments {
  const Tensor &values, &range;
  Tensor& bins;
};

Result<HistogramArguments> check_histogram(KernelContext& context) {
  const Tensor &range = context.input(1), &count = context.input(2);
  if (!(range.shape() == Shape::vector(2)))
    return invalid_argument("value_range has shape " + range.shape().text() + "; it must have shape [2]");
  if (!count.shape().is_scalar())
    return invalid_argument("nbins has shape " + count.shape().text() + "; it must be a scalar");
  TROUPE_ASSIGN(const int64_t bins, integer_scalar(count, "nbins"));
  TROUPE_RETURN_IF_FAILED(check_bins(bins));
  TROUPE_ASSIGN(const Shape shape, Shape::make(Dims{bins}, context.node().output_types[0].dtype));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return HistogramArguments{context.input(0), range, *output};
}

template <class T, class Count>
Status count_values(const HistogramArguments& arguments) {
  const auto bins = arguments.bins.write<Count>();
  const auto low = static_cast<double>(arguments.range.as<T>()[0]);
  const auto high = static_cast<double>(arguments.range.as<T>()[1]);
  if (!(low < high) || !std::isfinite(high - low))
    return invalid_argument("value_range is [" + std::to_string(low) + ", " + std::to_string(high) +
                            "]; the first element must be less than the second, by a finite difference");
  const double step = (high - low) / static_cast<double>(bins.size());
  const auto last = static_cast<double>(bins.size() - 1);
  const auto values = arguments.values.as<T>();
  for (size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<double>(values[i]);
    if (std::isnan(value))
      return invalid_argument(element_name("values", arguments.values.shape(), static_cast<int64_t>(i)) +
                              " is NaN");
    ++bins[static_cast<size_t>(std::min((std::max(value, low) - low) / step, last))];
  }
  return {};
}

Status compute_histogram(const HistogramArguments& arguments, DeviceContext& device) {
  fill(device.pool(), arguments.bins);
  Status status;
  with_type(ValueTypes{}, arguments.values.dtype(), [&]<class T>(std::type_identity<T>) {
    status = arguments.bins.dtype() == DType::Int32 ? count_values<T, int32_t>(arguments)
                                                    : count_values<T, int64_t>(arguments);
  });
  return status;
}

}  // namespace

void add_histogram(OpLibrary& library) {
  library.op(OpDefBuilder("HistogramFixedWidth")
                 .input("values: T")
                 .input("value_range: T")
                 .host_input("nbins: int32")
                 .output("out: dtype")
                 .attr("T: {int32, int64, float, double}")
                 .attr("dtype: {int32, int64} = int32")
                 .constructor("histogram_fixed_width(values, value_range, nbins, dtype)")
                 .shape(histogram_shape));
  library.kernel(cpu_kernel("HistogramFixedWidth", check_histogram, compute_histogram));
}

}  // namespace troupe
