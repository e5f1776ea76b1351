// Distinct values of vectors, in the order of their first occurrence.
//   Unique(x)             y: each distinct value; idx: for each element of x, its position in y
//   UniqueWithCounts(x)   the same, and count: how often each value occurs
//   ListDiff(x, y)        out: the elements of x that are not in y, repeated ones included; idx: their positions in x
// Zeros of either sign are equal; a NaN equals nothing.
#include "kernels/ops/array/unique.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>

#include "graph/build/shape_context.h"
#include "kernels/core/type_dispatch.h"

namespace troupe {
namespace {

using ComparableTypes = Joined<RealTypes, TypeList<bool, std::string>>;

/// Numbers distinct values in the order in which they come: a hash table with open addressing over the positions of the first
/// occurrences.
template <class T>
class Numbering {
 public:
  explicit Numbering(size_t max_values) : slots_(std::bit_ceil(2 * max_values + 2), none) {
    values_.reserve(max_values);
  }

  /// Returns the number of the value; adds the value if it is new.
  size_t add(const T& value) {
    if (equals_nothing(value)) return append(value);
    uint32_t& slot = slot_of(value);
    if (slot == none) slot = append(value);
    return slot;
  }
  bool contains(const T& value) { return !equals_nothing(value) && slot_of(value) != none; }
  /// Returns the first occurrence of each value.
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

  /// Returns the slot of the value, or the slot where it belongs.
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

/// Calls f with the type of the elements of a tensor.
template <class F>
void with_elements_of(const Tensor& tensor, F&& f) {
  with_type(ComparableTypes{}, tensor.dtype(), std::forward<F>(f));
}

Status check_vector(const Tensor& tensor, std::string_view name) {
  if (tensor.shape().rank() != 1)
    return invalid_argument(std::string(name) + " of shape " + tensor.shape().text() + " is not a vector");
  if (tensor.elements() > INT32_MAX)
    return invalid_argument(std::string(name) + " has " + std::to_string(tensor.elements()) +
                            " elements; at most " + std::to_string(INT32_MAX) + " are supported");
  return {};
}

using PositionTypes = TypeList<int32_t, int64_t>;

/// Sets to[i] = x[positions[i]] for all elements of `to`.
void take_elements(const Tensor& x, const Tensor& positions, Tensor& to) {
  with_elements_of(x, [&]<class T>(std::type_identity<T>) {
    const auto from = x.as<T>();
    const auto values = to.write<T>();
    std::ranges::transform(positions.as<int32_t>().first(values.size()), values.begin(),
                           [&](int32_t position) { return from[static_cast<size_t>(position)]; });
  });
}

/// Returns memory for one position for each element of x.
Result<Tensor> positions_for(const Tensor& x, KernelContext& context) {
  return context.scratch(DType::Int32, Shape::vector(x.elements()));
}

// ---- Unique

/// Calls set(i, the number of x[i]) for each element.
template <class T, class Set>
void number_elements(std::span<const T> x, Numbering<T>& numbering, const Set& set) {
  for (size_t i = 0; i < x.size(); ++i) set(i, numbering.add(x[i]));
}

Status unique_shape(ShapeContext& context) {
  TROUPE_ASSIGN(auto shape, context.with_rank(0, 1));
  int64_t count = unknown_dim;
  if (const Tensor* const x = context.constant(0))
    with_elements_of(*x, [&]<class T>(std::type_identity<T>) {
      Numbering<T> numbering(x->as<T>().size());
      number_elements(x->as<T>(), numbering, [](size_t, size_t) {});
      count = static_cast<int64_t>(numbering.values().size());
    });
  context.set_output(0, PartialShape::vector(count));
  context.set_output(1, std::move(shape));
  if (context.node().output_types.size() == 3) context.set_output(2, PartialShape::vector(count));
  return {};
}

void measure_unique(UniqueArguments& arguments, DeviceContext&) {
  with_elements_of(arguments.x, [&]<class T>(std::type_identity<T>) {
    const auto x = arguments.x.as<T>();
    Numbering<T> numbering(x.size());
    with_type(PositionTypes{}, arguments.idx.dtype(), [&]<class I>(std::type_identity<I>) {
      const auto idx = arguments.idx.write<I>();
      number_elements(x, numbering, [&](size_t i, size_t number) { idx[i] = static_cast<I>(number); });
    });
    std::ranges::transform(numbering.values(), arguments.firsts.write<int32_t>().begin(),
                           [&](const T* value) { return static_cast<int32_t>(value - x.data()); });
    arguments.distinct = static_cast<int64_t>(numbering.values().size());
  });
}

void compute_unique(const UniqueArguments& arguments, DeviceContext&) {
  take_elements(arguments.x, arguments.firsts, *arguments.y);
  if (!arguments.count) return;
  with_type(PositionTypes{}, arguments.idx.dtype(), [&]<class I>(std::type_identity<I>) {
    const auto count = arguments.count->write<I>();
    std::ranges::fill(count, I{0});
    for (const I number : arguments.idx.as<I>()) ++count[static_cast<size_t>(number)];
  });
}

// ---- ListDiff

/// Calls keep(i) for each i whose x[i] is not in y.
template <class T, class Keep>
void find_elements_without(std::span<const T> x, std::span<const T> y, const Keep& keep) {
  Numbering<T> without(y.size());
  for (const T& value : y) without.add(value);
  for (size_t i = 0; i < x.size(); ++i)
    if (!without.contains(x[i])) keep(i);
}

Status list_diff_shape(ShapeContext& context) {
  for (size_t i = 0; i < 2; ++i) TROUPE_RETURN_IF_FAILED(context.with_rank(i, 1).status());
  const Tensor *const x = context.constant(0), *const y = context.constant(1);
  int64_t count = unknown_dim;
  if (x && y)
    with_elements_of(*x, [&]<class T>(std::type_identity<T>) {
      count = 0;
      find_elements_without(x->as<T>(), y->as<T>(), [&](size_t) { ++count; });
    });
  for (size_t i = 0; i < 2; ++i) context.set_output(i, PartialShape::vector(count));
  return {};
}

void measure_list_diff(ListDiffArguments& arguments, DeviceContext&) {
  const auto positions = arguments.positions.write<int32_t>();
  size_t kept = 0;
  with_elements_of(arguments.x, [&]<class T>(std::type_identity<T>) {
    find_elements_without(arguments.x.as<T>(), arguments.y.as<T>(),
                          [&](size_t i) { positions[kept++] = static_cast<int32_t>(i); });
  });
  arguments.kept = static_cast<int64_t>(kept);
}

void compute_list_diff(const ListDiffArguments& arguments, DeviceContext&) {
  take_elements(arguments.x, arguments.positions, *arguments.out);
  with_type(PositionTypes{}, arguments.idx->dtype(), [&]<class I>(std::type_identity<I>) {
    std::ranges::copy(arguments.positions.as<int32_t>().first(static_cast<size_t>(arguments.kept)),
                      arguments.idx->write<I>().begin());
  });
}

}  // namespace

Result<UniqueArguments> check_unique(KernelContext& context) {
  const Tensor& x = context.input(0);
  TROUPE_RETURN_IF_FAILED(check_vector(x, "x"));
  TROUPE_ASSIGN(Tensor* const idx, context.output(1, x.shape()));
  TROUPE_ASSIGN(Tensor firsts, positions_for(x, context));
  return UniqueArguments{x, *idx, std::move(firsts)};
}

Status allocate_unique(UniqueArguments& arguments, KernelContext& context) {
  const Shape shape = Shape::vector(arguments.distinct);
  TROUPE_ASSIGN(arguments.y, context.output(0, shape));
  if (context.node().output_types.size() < 3) return {};
  TROUPE_ASSIGN(arguments.count, context.output(2, shape));
  return {};
}

Result<ListDiffArguments> check_list_diff(KernelContext& context) {
  const Tensor &x = context.input(0), &y = context.input(1);
  TROUPE_RETURN_IF_FAILED(check_vector(x, "x"));
  TROUPE_RETURN_IF_FAILED(check_vector(y, "y"));
  TROUPE_ASSIGN(Tensor positions, positions_for(x, context));
  return ListDiffArguments{x, y, std::move(positions)};
}

Status allocate_list_diff(ListDiffArguments& arguments, KernelContext& context) {
  const Shape shape = Shape::vector(arguments.kept);
  TROUPE_ASSIGN(arguments.out, context.output(0, shape));
  TROUPE_ASSIGN(arguments.idx, context.output(1, shape));
  return {};
}

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
    library.kernel(measured_cpu_kernel(name, check_unique, measure_unique, allocate_unique, compute_unique)
                       .on("T", types));
  library.op(OpDefBuilder("ListDiff")
                 .input("x: T")
                 .input("y: T")
                 .output("out: T")
                 .output("idx: out_idx")
                 .attr("T: type")
                 .attr("out_idx: {int32, int64} = int32")
                 .shape(list_diff_shape));
  library.kernel(measured_cpu_kernel("ListDiff", check_list_diff, measure_list_diff, allocate_list_diff,
                                     compute_list_diff)
                     .on("T", types));
}

}  // namespace troupe
