#include "apps/data/column_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/data/numbers.h"
#include "kernels/core/type_dispatch.h"

namespace troupe::data {
namespace {

using StoredTypes = Joined<WideRealTypes, TypeList<bool, Half>>;
using InputTypes = TypeList<float, double, int32_t, int64_t>;

/// Returns whether the type To can represent the value, which a floating type may round.
template <class To, class From>
bool fits(From value) {
  if constexpr (std::is_same_v<To, float> && std::is_same_v<From, double>)
    return rounded_number<float>(value).has_value();
  else if constexpr (!std::is_integral_v<To> || std::is_same_v<From, To> || std::is_same_v<From, bool>)
    return true;
  else if constexpr (std::is_floating_point_v<From>)
    return whole_number<To>(value).has_value();
  else
    return std::in_range<To>(value);
}

/// Casts the elements of a batch. `first` is the index of the first element in the whole column, for errors.
template <class From, class To>
Status cast(const Tensor& from_tensor, Tensor& to_tensor, const std::string& input, int64_t first) {
  const auto from = from_tensor.as<From>();
  const auto to = to_tensor.write<To>();
  for (size_t i = 0; i < from.size(); ++i) {
    const auto value = static_cast<ComputeType<From>>(from[i]);
    if (!fits<To>(value))
      return data_loss("input " + input + ": element " + std::to_string(first + static_cast<int64_t>(i)) +
                       " is " + fmt::format("{}", value) + ", which cannot be cast to " +
                       std::string(name(dtype_of<To>)) +
                       (std::is_integral_v<To> && !std::is_integral_v<From>
                            ? "; write cast = \"float\" in [data.inputs." + input + "]"
                            : ""));
    to[i] = static_cast<To>(value);  // NOLINT(bugprone-signed-char-misuse): a number, not a character
  }
  return {};
}

Result<Tensor> cast_to(DType dtype, const Tensor& values, const std::string& input, int64_t first) {
  if (values.dtype() == dtype) return values;
  TROUPE_ASSIGN(Tensor out, Tensor::allocate(dtype, values.shape()));
  Status status = invalid_argument("input " + input + ": " + std::string(name(values.dtype())) +
                                   " cannot be cast to " + std::string(name(dtype)));
  with_type(StoredTypes{}, values.dtype(), [&]<class From>(std::type_identity<From>) {
    with_type(InputTypes{}, dtype,
              [&]<class To>(std::type_identity<To>) { status = cast<From, To>(values, out, input, first); });
  });
  TROUPE_RETURN_IF_FAILED(status);
  return out;
}

/// Multiplies numbers, which are floats or doubles, in their own precision.
Result<Tensor> scaled(const Tensor& values, double scale) {
  TROUPE_ASSIGN(Tensor out, Tensor::allocate(values.dtype(), values.shape()));
  with_type(TypeList<float, double>{}, values.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto factor = static_cast<T>(scale);
    std::ranges::transform(values.as<T>(), out.write<T>().begin(), [factor](T x) { return x * factor; });
  });
  return out;
}

}  // namespace

Result<ColumnBuilder> ColumnBuilder::make(const Input& input, const Field& field, double scale,
                                          std::optional<int64_t> samples) {
  int64_t elements = 1, wanted = 1;
  for (const int64_t dim : field.shape) elements *= dim;
  ColumnBuilder builder;
  builder.input_ = input;
  builder.feature_ = field.name == feature_column;
  builder.scale_ = scale;
  builder.shape_ = builder.feature_ && field.dtype != DType::String ? std::vector{elements} : field.shape;
  if (input.shape) builder.shape_ = *input.shape;
  for (const int64_t dim : builder.shape_) wanted = dim == 0 || wanted > INT64_MAX / dim ? -1 : wanted * dim;
  if (wanted != elements)
    return invalid_argument("input " + input.name + ": shape " + text_of(builder.shape_) +
                            " does not hold the " + std::to_string(elements) + " values of a sample");
  if (samples) {
    TROUPE_ASSIGN(builder.whole_, builder.allocate(*samples));
  }
  return builder;
}

Result<Tensor> ColumnBuilder::allocate(int64_t samples) const {
  std::vector<int64_t> dims = {samples};
  dims.insert(dims.end(), shape_.begin(), shape_.end());
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, input_.cast));
  return Tensor::allocate(input_.cast, shape);
}

/// Casts numbers without a detour through another type, in which they would be rounded. Only those to be scaled take one.
Result<Tensor> ColumnBuilder::converted(const Tensor& values) const {
  const int64_t first = values.shape()[0] == 0 ? 0 : samples_ * (values.elements() / values.shape()[0]);
  if (scale_ == 1 || values.dtype() == DType::String) return cast_to(input_.cast, values, input_.name, first);
  TROUPE_ASSIGN(Tensor numbers, cast_to(scaled_type(input_.cast), values, input_.name, first));
  TROUPE_ASSIGN(numbers, scaled(numbers, scale_));
  return cast_to(input_.cast, numbers, input_.name, first);
}

Status ColumnBuilder::add(const Dataset& batch) {
  TROUPE_ASSIGN(Tensor values, converted(*batch.find(input_.from)));
  if (!whole_.valid()) {
    batches_.push_back(std::move(values));
  } else {
    copy_rows(values, whole_, samples_);
  }
  samples_ += batch.samples();
  return {};
}

Result<Tensor> ColumnBuilder::finish() {
  if (whole_.valid()) return std::move(whole_);
  TROUPE_ASSIGN(Tensor all, allocate(samples_));
  int64_t row = 0;
  for (Tensor& batch : batches_) {  // each batch is released as soon as it has been copied
    copy_rows(batch, all, row);
    row += batch.shape()[0];
    batch.reset();
  }
  return all;
}

}  // namespace troupe::data
