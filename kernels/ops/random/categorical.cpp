// Multinomial(logits, num_samples): output[row, i] is a class of logits[row], drawn with the probabilities softmax(logits[row]).
// Each sample takes two words (generator.h).
#include "kernels/ops/random/categorical.h"

#include <cmath>

#include "kernels/core/arguments.h"
#include "kernels/core/type_dispatch.h"

namespace troupe {
Result<DrawnCategories<SessionFractions>> check_multinomial(KernelContext& context) {
  TROUPE_ASSIGN(const CategoricalArguments categorical, check_categorical(context));
  return DrawnCategories<SessionFractions>{categorical, {generator_of(context)}};
}

Result<CategoricalArguments> check_categorical(KernelContext& context) {
  const Tensor &logits = context.input(0), &count = context.input(1);
  if (logits.shape().rank() != 2)
    return invalid_argument("logits of shape " + logits.shape().text() + " is no matrix");
  if (!count.shape().is_scalar())
    return invalid_argument("num_samples has shape " + count.shape().text() + "; it must be a scalar");
  TROUPE_ASSIGN(const int64_t samples, integer_scalar(count, "num_samples"));
  if (samples < 0) return invalid_argument("num_samples is " + std::to_string(samples) + ", below 0");
  const int64_t rows = logits.shape()[0], classes = logits.shape()[1];
  if (classes == 0 && rows > 0 && samples > 0)
    return invalid_argument("logits of shape " + logits.shape().text() + " has no classes to draw from");
  const DType dtype = context.node().output_types[0].dtype;
  const int64_t dims[] = {rows, samples};
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, dtype));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return CategoricalArguments{logits, *output, static_cast<size_t>(rows), static_cast<size_t>(classes),
                              static_cast<size_t>(samples)};
}

Status categorical_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const PartialShape logits, context.with_rank(0, 2));
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 0).status());
  const auto samples = constant_integer(context, 1);
  if (samples && *samples < 0)
    return invalid_argument("num_samples is " + std::to_string(*samples) + ", below 0");
  context.set_output(0, PartialShape{logits[0], samples.value_or(unknown_dim)});
  return {};
}

std::vector<double> cumulative_weights(const CategoricalArguments& arguments, size_t row) {
  std::vector<double> sums(arguments.classes);
  with_type(RealTypes{}, arguments.logits.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto logits = arguments.logits.as<T>().subspan(row * arguments.classes, arguments.classes);
    const auto value = [](T logit) {
      if constexpr (std::is_arithmetic_v<T>)
        return static_cast<double>(logit);
      else
        return double{static_cast<float>(logit)};
    };
    double most = -HUGE_VAL, sum = 0;
    for (const T logit : logits)
      if (std::isfinite(value(logit))) most = std::max(most, value(logit));
    for (size_t i = 0; i < sums.size(); ++i) {
      if (std::isfinite(value(logits[i]))) sum += std::exp(value(logits[i]) - most);
      sums[i] = sum;
    }
  });
  return sums;
}

void set_category(const CategoricalArguments& arguments, size_t row, size_t sample, int64_t category) {
  const size_t at = row * arguments.samples + sample;
  if (arguments.output.dtype() == DType::Int32)
    arguments.output.write<int32_t>()[at] = static_cast<int32_t>(category);
  else
    arguments.output.write<int64_t>()[at] = category;
}

void add_multinomial(OpLibrary& library) {
  library.op(random_op("Multinomial")
                 .input("logits: T")
                 .host_input("num_samples: int32")
                 .output("output: output_dtype")
                 .attr("T: realnumbertype")
                 .attr("output_dtype: {int32, int64} = int64")
                 .constructor("multinomial(logits, num_samples, output_dtype, seed, seed2)")
                 .shape(categorical_shape)
                 .not_differentiable());
  library.kernel(cpu_kernel("Multinomial", check_multinomial, draw_categories<SessionFractions>)
                     .on("T", dtypes(RealTypes{})));
}

}  // namespace troupe
