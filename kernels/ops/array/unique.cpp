// Distinct values of vectors, in the order in which they first come.
//   Unique(x)             y: each value once; idx: where each element of x stands in y
//   UniqueWithCounts(x)   and how often it comes
//   ListDiff(x, y)        out: the elements of x that are not in y, repeats too; idx: where they stand in x
// Zeros of either sign are equal, a NaN equals nothing.
#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>

#include "graph/build/shape_context.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/ops/all_ops.h"

namespace troupe {
namespace {

using ComparableTypes = Joined<RealTypes, TypeList<bool, std::string>>;

/// Numbers distinct values as they come: open addressing over the positions of the first ones.
template <class T>
class Numbering {
 public:
  explicit Numbering(size_t most) : slots_(std::bit_ceil(2 * most + 2), none) { values_.reserve(most); }

  /// The number of the value, a new one when it has not come yet.
  size_t add(const T& value) {
    if (equals_nothing(value)) return append(value);
    uint32_t& slot = slot_of(value);
    if (slot == none) slot = append(value);
    return slot;
  }
  bool contains(const T& value) { return !equals_nothing(value) && slot_of(value) != none; }
  /// Each value where it came first.
  const std::vector<const T*>& values() const { return values_; }

 private:
  static constexpr uint32_t none = UINT32_MAX;

  static auto key(const T& value) {
    if constexpr (std::is_same_v<T, std::string>)
      return std::string_view(value);
    else
      return static_cast<ComputeType<T>>(value);
  }

  static bool equals_nothing(const T& value) {
    if constexpr (std::is_floating_point_v<ComputeType<T>>)
      return std::isnan(key(value));
    else
      return false;
  }

  uint32_t append(const T& value) {
    values_.push_back(&value);
    return static_cast<uint32_t>(values_.size() - 1);
  }

  /// Where the value is, or belongs.
  uint32_t& slot_of(const T& value) {
    const auto wanted = key(value);
    const uint64_t hash = std::hash<std::remove_const_t<decltype(wanted)>>{}(wanted);
    size_t at = (hash * 0x9E3779B97F4A7C15u) >> 32;
    for (;; ++at) {
      uint32_t& slot = slots_[at & (slots_.size() - 1)];
      if (slot == none || key(*values_[slot]) == wanted) return slot;
    }
  }

  std::vector<uint32_t> slots_;
  std::vector<const T*> values_;
};

/// Calls f with the type of a tensor's elements.
template <class F>
void with_elements_of(const Tensor& tensor, F&& f) {
  with_type(ComparableTypes{}, tensor.dtype(), std::forward<F>(f));
}

Status check_vector(const Tensor& tensor, std::string_view name) {
  if (tensor.shape().rank() != 1)
    return invalid_argument(std::string(name) + " of shape " + tensor.shape().text() + " is not a vector");
  if (tensor.elements() > INT32_MAX)
    return invalid_argument(std::string(name) + " has " + std::to_string(tensor.elements()) +
                            " elements, too many to be told apart");
  return {};
}

/// Output i becomes these positions, as out_idx has it.
Status output_positions(KernelContext& context, size_t i, const std::vector<size_t>& positions) {
  TROUPE_ASSIGN(Tensor* const output,
                context.output(i, Shape::vector(static_cast<int64_t>(positions.size()))));
  with_type(TypeList<int32_t, int64_t>{}, output->dtype(), [&]<class T>(std::type_identity<T>) {
    std::ranges::transform(positions, output->write<T>().begin(),
                           [](size_t position) { return static_cast<T>(position); });
  });
  return {};
}

template <class T>
Status output_values(KernelContext& context, const std::vector<const T*>& values) {
  TROUPE_ASSIGN(Tensor* const output, context.output(0, Shape::vector(static_cast<int64_t>(values.size()))));
  std::ranges::transform(values, output->write<T>().begin(), [](const T* value) { return *value; });
  return {};
}

// ---- Unique

template <class T>
std::vector<size_t> numbers_of(std::span<const T> x, Numbering<T>& numbering) {
  std::vector<size_t> numbers;
  numbers.reserve(x.size());
  for (const T& value : x) numbers.push_back(numbering.add(value));
  return numbers;
}

Status unique_shape(ShapeContext& context) {
  TROUPE_ASSIGN(auto shape, context.with_rank(0, 1));
  int64_t count = unknown_dim;
  if (const Tensor* const x = context.constant(0))
    with_elements_of(*x, [&]<class T>(std::type_identity<T>) {
      Numbering<T> numbering(x->as<T>().size());
      numbers_of(x->as<T>(), numbering);
      count = static_cast<int64_t>(numbering.values().size());
    });
  context.set_output(0, PartialShape::vector(count));
  context.set_output(1, std::move(shape));
  if (context.node().output_types.size() == 3) context.set_output(2, PartialShape::vector(count));
  return {};
}

template <class T>
Status unique(KernelContext& context, std::span<const T> x) {
  Numbering<T> numbering(x.size());
  const std::vector<size_t> numbers = numbers_of(x, numbering);
  TROUPE_RETURN_IF_FAILED(output_values(context, numbering.values()));
  TROUPE_RETURN_IF_FAILED(output_positions(context, 1, numbers));
  if (context.node().output_types.size() < 3) return {};
  std::vector<size_t> counts(numbering.values().size());
  for (const size_t number : numbers) ++counts[number];
  return output_positions(context, 2, counts);
}

Status run_unique(KernelContext& context) {
  const Tensor& x = context.input(0);
  TROUPE_RETURN_IF_FAILED(check_vector(x, "x"));
  Status status;
  with_elements_of(x, [&]<class T>(std::type_identity<T>) { status = unique<T>(context, x.as<T>()); });
  return status;
}

// ---- ListDiff

/// The positions of the elements of x that are not in y.
template <class T>
std::vector<size_t> positions_without(std::span<const T> x, std::span<const T> y) {
  Numbering<T> without(y.size());
  for (const T& value : y) without.add(value);
  std::vector<size_t> positions;
  for (size_t i = 0; i < x.size(); ++i)
    if (!without.contains(x[i])) positions.push_back(i);
  return positions;
}

Status list_diff_shape(ShapeContext& context) {
  for (size_t i = 0; i < 2; ++i) TROUPE_RETURN_IF_FAILED(context.with_rank(i, 1).status());
  const Tensor *const x = context.constant(0), *const y = context.constant(1);
  int64_t count = unknown_dim;
  if (x && y)
    with_elements_of(*x, [&]<class T>(std::type_identity<T>) {
      count = static_cast<int64_t>(positions_without(x->as<T>(), y->as<T>()).size());
    });
  for (size_t i = 0; i < 2; ++i) context.set_output(i, PartialShape::vector(count));
  return {};
}

template <class T>
Status list_diff(KernelContext& context, std::span<const T> x, std::span<const T> y) {
  const std::vector<size_t> positions = positions_without(x, y);
  std::vector<const T*> values;
  for (const size_t position : positions) values.push_back(&x[position]);
  TROUPE_RETURN_IF_FAILED(output_values(context, values));
  return output_positions(context, 1, positions);
}

Status run_list_diff(KernelContext& context) {
  const Tensor &x = context.input(0), &y = context.input(1);
  TROUPE_RETURN_IF_FAILED(check_vector(x, "x"));
  TROUPE_RETURN_IF_FAILED(check_vector(y, "y"));
  Status status;
  with_elements_of(
      x, [&]<class T>(std::type_identity<T>) { status = list_diff<T>(context, x.as<T>(), y.as<T>()); });
  return status;
}

}  // namespace

void add_unique(OpLibrary& library) {
  const auto types = dtypes(ComparableTypes{});
  const auto unique_op = [](const char* name) {
    return OpDefBuilder(name)
        .input("x: T")
        .output("y: T")
        .output("idx: out_idx")
        .attr("T: type")
        .attr("out_idx: {int32, int64} = int32")
        .shape(unique_shape);
  };
  library.op(unique_op("Unique").constructor("unique(x, out_idx) -> y"));
  library.op(unique_op("UniqueWithCounts").output("count: out_idx"));
  for (const char* name : {"Unique", "UniqueWithCounts"})
    library.kernel(cpu_kernel(name, run_unique).on("T", types));
  library.op(OpDefBuilder("ListDiff")
                 .input("x: T")
                 .input("y: T")
                 .output("out: T")
                 .output("idx: out_idx")
                 .attr("T: type")
                 .attr("out_idx: {int32, int64} = int32")
                 .shape(list_diff_shape));
  library.kernel(cpu_kernel("ListDiff", run_list_diff).on("T", types));
}

}  // namespace troupe
