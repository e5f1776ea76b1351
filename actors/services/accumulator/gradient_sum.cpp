#include "actors/services/accumulator/gradient_sum.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "kernels/core/dims.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/combine.h"

namespace troupe {
namespace {

using GradientTypes = TypeList<Half, BFloat16, float, double>;

template <class T>
void divide(std::span<const T> values, int64_t count, std::span<T> to) {
  const auto divisor = static_cast<ComputeType<T>>(count);
  for (size_t i = 0; i < values.size(); ++i) to[i] = T(static_cast<ComputeType<T>>(values[i]) / divisor);
}

class DenseSum final : public GradientSum {
 public:
  explicit DenseSum(const AccumulatorSpec& spec) : spec_(spec) {}

  Status add(const std::vector<Tensor>& gradient, DeviceContext& device) override {
    const Tensor& values = gradient.at(0);
    if (values.dtype() != spec_.dtype || !spec_.shape.compatible_with(values.shape()))
      return invalid_argument("the gradient is " + values.signature() + ", accumulator '" + spec_.name +
                              "' takes " + spec_.text());
    if (count_ != 0 && sum_.shape() != values.shape())
      return invalid_argument("the gradient is " + values.signature() + ", those in accumulator '" +
                              spec_.name + "' are " + sum_.signature());
    if (count_ == 0) {
      sum_ = values;  // it belongs to somebody else, too, until there is a second one
    } else {
      Tensor sum = sum_;
      if (count_ == 1) {
        TROUPE_ASSIGN(sum, Tensor::allocate(spec_.dtype, values.shape(), device.memory()));
      }
      with_type(GradientTypes{}, spec_.dtype, [&]<class T>(std::type_identity<T>) {
        const auto before = sum_.as<T>(), more = values.as<T>();
        const auto after = sum.write<T>();
        parallel_items(device.pool(), after.size(), 3 * sizeof(T),
                       [&](size_t begin, size_t end) { combine<Add, T>(before, more, after, begin, end); });
      });
      sum_ = std::move(sum);
    }
    ++count_;
    return {};
  }

  size_t bytes() const override { return sum_.bytes(); }

  Result<std::vector<Tensor>> finish(DeviceContext& device) override {
    if (!spec_.mean || count_ == 1) return std::vector{std::move(sum_)};
    with_type(GradientTypes{}, spec_.dtype, [&]<class T>(std::type_identity<T>) {
      const auto values = sum_.write<T>();
      parallel_items(device.pool(), values.size(), 2 * sizeof(T), [&](size_t begin, size_t end) {
        const auto part = values.subspan(begin, end - begin);
        divide<T>(part, count_, part);
      });
    });
    return std::vector{std::move(sum_)};
  }

 private:
  const AccumulatorSpec spec_;
  Tensor sum_;
  int64_t count_ = 0;
};

/// Rows of any number, in the order in which they occurred first. The memory grows with the number of different rows.
class SparseSum final : public GradientSum {
 public:
  explicit SparseSum(const AccumulatorSpec& spec) : spec_(spec) {}

  Status add(const std::vector<Tensor>& gradient, DeviceContext& device) override {
    const Tensor &numbers = gradient.at(0), &rows = gradient.at(1);
    const Tensor* const shape = gradient.size() > 2 ? &gradient[2] : nullptr;
    TROUPE_RETURN_IF_FAILED(check(numbers, rows, shape));
    if (gradients_ == 0) row_dims_ = Dims(rows.shape().dims().subspan(1));
    TROUPE_RETURN_IF_FAILED(make_room(numbers.as<int64_t>(), device));
    ++gradients_;
    const size_t row = row_elements();
    with_type(GradientTypes{}, spec_.dtype, [&]<class T>(std::type_identity<T>) {
      const auto from = rows.as<T>();
      const auto sums = rows_.write<T>();
      size_t i = 0;
      for (const int64_t number : numbers.as<int64_t>()) {
        Place& place = places_.at(number);
        const auto to = sums.subspan(place.row * row, row);
        if (place.gradients == 0)
          std::ranges::copy(from.subspan(i * row, row), to.begin());
        else
          combine_into<Add, T>(to, from.subspan(i * row, row));
        place.gradients += place.last != gradients_;
        place.last = gradients_;
        ++i;
      }
    });
    return {};
  }

  size_t bytes() const override { return rows_.bytes(); }

  Result<std::vector<Tensor>> finish(DeviceContext& device) override {
    std::vector<std::pair<int64_t, Place>> places(places_.begin(), places_.end());
    std::ranges::sort(places, {}, [](const auto& place) { return place.first; });
    Dims dims = row_dims_.with(0, static_cast<int64_t>(places.size()));
    TROUPE_ASSIGN(const Shape shape, Shape::make(dims, spec_.dtype));
    TROUPE_ASSIGN(Tensor rows, Tensor::allocate(spec_.dtype, shape, device.memory()));
    const size_t row = row_elements();
    with_type(GradientTypes{}, spec_.dtype, [&]<class T>(std::type_identity<T>) {
      const auto to = rows.write<T>();
      const auto from = std::as_const(rows_).template as<T>();
      parallel_rows(device.pool(), places.size(), 2 * row * sizeof(T), [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
          const Place& place = places[i].second;
          divide<T>(from.subspan(place.row * row, row), spec_.mean ? place.gradients : 1,
                    to.subspan(i * row, row));
        }
      });
    });
    std::vector<int64_t> numbers;
    for (const auto& [number, place] : places) numbers.push_back(number);
    dims[0] = spec_.shape.known_rank() ? spec_.shape[0] : unknown_dim;
    return std::vector{Tensor::vector<int64_t>(std::span<const int64_t>(numbers)), std::move(rows),
                       Tensor::vector<int64_t>(std::span<const int64_t>(dims.data(), dims.size()))};
  }

 private:
  struct Place {
    size_t row = 0;         ///< in rows_
    int64_t gradients = 0;  ///< how many have this row
    int64_t last = 0;       ///< the last of them, counted from 1
  };

  size_t row_elements() const {
    return static_cast<size_t>(
        std::accumulate(row_dims_.begin(), row_dims_.end(), int64_t{1}, std::multiplies<>()));
  }

  Status check(const Tensor& numbers, const Tensor& rows, const Tensor* shape) const {
    if (numbers.shape().rank() != 1 || rows.shape().rank() == 0 || numbers.shape()[0] != rows.shape()[0])
      return invalid_argument("the indices are " + numbers.signature() + " and the rows " + rows.signature() +
                              ", but there must be one index for each row");
    TROUPE_ASSIGN(const PartialShape whole, whole_shape(rows, shape));
    if (rows.dtype() != spec_.dtype || !spec_.shape.compatible_with(whole))
      return invalid_argument("the gradient is rows " + rows.signature() + " of a tensor of shape " +
                              whole.text() + ", accumulator '" + spec_.name + "' takes " + spec_.text());
    if (gradients_ != 0 && !std::ranges::equal(rows.shape().dims().subspan(1), row_dims_))
      return invalid_argument("the rows are " + rows.signature() + ", those in accumulator '" + spec_.name +
                              "' have shape " +
                              PartialShape(std::vector(row_dims_.begin(), row_dims_.end())).text());
    return check_numbers(numbers.as<int64_t>(), whole);
  }

  static Result<PartialShape> whole_shape(const Tensor& rows, const Tensor* shape) {
    std::vector<int64_t> dims(rows.shape().dims().begin(), rows.shape().dims().end());
    dims[0] = unknown_dim;
    if (!shape) return PartialShape(std::move(dims));
    const auto given = shape->as<int64_t>();
    TROUPE_ASSIGN(PartialShape whole, PartialShape::make({given.begin(), given.end()}));
    if (shape->shape().rank() == 1 && PartialShape(std::move(dims)).compatible_with(whole)) return whole;
    return invalid_argument("the rows are " + rows.signature() + ", but gradient_shape says " + whole.text());
  }

  Status check_numbers(std::span<const int64_t> numbers, const PartialShape& whole) const {
    const int64_t own = spec_.shape.known_rank() ? spec_.shape[0] : unknown_dim;
    const int64_t limit = own != unknown_dim ? own : whole[0];
    const auto wrong = std::ranges::find_if(
        numbers, [&](int64_t number) { return number < 0 || (limit != unknown_dim && number >= limit); });
    if (wrong == numbers.end()) return {};
    return invalid_argument("gradient_indices[" + std::to_string(wrong - numbers.begin()) + "] is " +
                            std::to_string(*wrong) + ", but must be at least 0" +
                            (limit == unknown_dim ? "" : " and less than " + std::to_string(limit)));
  }

  /// Gives each number a row.
  Status make_room(std::span<const int64_t> numbers, DeviceContext& device) {
    size_t rows = places_.size();
    std::vector<int64_t> added;
    for (const int64_t number : numbers)
      if (places_.try_emplace(number, Place{rows}).second) {
        added.push_back(number);
        ++rows;
      }
    if (Status status = grow(rows, device); !status.ok()) {
      for (const int64_t number : added) places_.erase(number);
      return status;
    }
    return {};
  }

  Status grow(size_t rows, DeviceContext& device) {
    const size_t has = rows_.valid() ? static_cast<size_t>(rows_.shape()[0]) : 0;
    if (rows_.valid() && rows <= has) return {};
    TROUPE_ASSIGN(const Shape shape,
                  Shape::make(row_dims_.with(0, static_cast<int64_t>(std::max(rows, 2 * has))), spec_.dtype));
    TROUPE_ASSIGN(Tensor larger, Tensor::allocate(spec_.dtype, shape, device.memory()));
    if (rows_.valid()) std::copy_n(rows_.data(), rows_.bytes(), larger.mutable_data());
    rows_ = std::move(larger);
    return {};
  }

  const AccumulatorSpec spec_;
  Dims row_dims_;
  Tensor rows_;  ///< with room for more rows
  std::unordered_map<int64_t, Place> places_;
  int64_t gradients_ = 0;
};

}  // namespace

std::unique_ptr<GradientSum> make_gradient_sum(const AccumulatorSpec& spec) {
  if (spec.sparse) return std::make_unique<SparseSum>(spec);
  return std::make_unique<DenseSum>(spec);
}

}  // namespace troupe
