// Distinct values, in the order of their first occurrence.
//   Unique(x)               y: each distinct value of a vector; idx: for each element of x, its position in y
//   UniqueV2(x, axis)       the same for the slices of x along `axis`, a vector of one element; without an element, x is a vector
//   UniqueWithCounts(x), UniqueWithCountsV2(x, axis)
//                           the same, and count: how often each value occurs
//   ListDiff(x, y)          out: the elements of x that are not in y, repeated ones included; idx: their positions in x
// Zeros of either sign are equal; a NaN equals nothing. Unique and its like work on the host on all devices: most of what they get
// is fed, and the size of what they return must be known there.
#include "kernels/ops/array/unique.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>

#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/rows.h"

namespace troupe {
namespace {

using ComparableTypes = Joined<RealTypes, TypeList<bool, std::string>>;

/// An element in the form that is hashed and compared.
template <class T>
auto key(const T& value) {
  if constexpr (std::is_same_v<T, std::string>)
    return std::string_view(value);
  else
    return static_cast<ComputeType<T>>(value);
}

template <class T>
bool equals_nothing(const T& value) {
  if constexpr (std::is_floating_point_v<ComputeType<T>>)
    return std::isnan(key(value));
  else
    return false;
}

template <class T>
uint64_t hash_of(const T& value) {
  return std::hash<decltype(key(value))>{}(key(value));
}

/// A value is one element.
struct ByElement {
  template <class T>
  bool equals_nothing(const T* at) const {
    return troupe::equals_nothing(*at);
  }
  template <class T>
  uint64_t hash(const T* at) const {
    return hash_of(*at);
  }
  template <class T>
  bool equal(const T* a, const T* b) const {
    return key(*a) == key(*b);
  }
};

/// A value is a slice: `runs` runs of `length` elements, which begin `stride` elements apart.
struct BySlice {
  size_t runs, stride, length;

  /// Returns whether test(i) holds for all offsets i of elements of a slice.
  template <class Test>
  bool all(const Test& test) const {
    for (size_t run = 0; run < runs; ++run)
      for (size_t i = run * stride; i < run * stride + length; ++i)
        if (!test(i)) return false;
    return true;
  }
  template <class T>
  bool equals_nothing(const T* at) const {
    return !all([&](size_t i) { return !troupe::equals_nothing(at[i]); });
  }
  template <class T>
  uint64_t hash(const T* at) const {
    uint64_t hash = 0;
    all([&](size_t i) {
      hash = hash * 0x9E3779B97F4A7C15u + hash_of(at[i]);
      return true;
    });
    return hash;
  }
  template <class T>
  bool equal(const T* a, const T* b) const {
    return all([&](size_t i) { return key(a[i]) == key(b[i]); });
  }
};

/// Numbers distinct values in the order in which they come: a hash table with open addressing over the positions of the first
/// occurrences. A value is given by the address of its first element.
template <class T, class Values = ByElement>
class Numbering {
 public:
  explicit Numbering(size_t max_values, Values values = {})
      : compared_(values), slots_(std::bit_ceil(2 * max_values + 2), none) {
    values_.reserve(max_values);
  }

  /// Returns the number of the value; adds the value if it is new.
  size_t add(const T* value) {
    if (compared_.equals_nothing(value)) return append(value);
    uint32_t& slot = slot_of(value);
    if (slot == none) slot = append(value);
    return slot;
  }
  bool contains(const T* value) { return !compared_.equals_nothing(value) && slot_of(value) != none; }
  /// Returns the first occurrence of each value.
  const std::vector<const T*>& values() const { return values_; }

 private:
  static constexpr uint32_t none = UINT32_MAX;

  uint32_t append(const T* value) {
    values_.push_back(value);
    return static_cast<uint32_t>(values_.size() - 1);
  }

  /// Returns the slot of the value, or the slot where it belongs.
  uint32_t& slot_of(const T* value) {
    size_t at = (compared_.hash(value) * 0x9E3779B97F4A7C15u) >> 32;
    for (;; ++at) {
      uint32_t& slot = slots_[at & (slots_.size() - 1)];
      if (slot == none || compared_.equal(values_[slot], value)) return slot;
    }
  }

  const Values compared_;
  std::vector<uint32_t> slots_;
  std::vector<const T*> values_;
};

/// Calls f with the type of the elements of a tensor.
template <class F>
void with_elements_of(const Tensor& tensor, F&& f) {
  with_type(ComparableTypes{}, tensor.dtype(), std::forward<F>(f));
}

Status check_length(int64_t length, std::string_view name) {
  if (length <= INT32_MAX) return {};
  return invalid_argument(std::string(name) + " has " + std::to_string(length) + " elements; at most " +
                          std::to_string(INT32_MAX) + " are supported");
}

Status check_vector(const Tensor& tensor, std::string_view name) {
  if (tensor.shape().rank() != 1)
    return invalid_argument(std::string(name) + " of shape " + tensor.shape().text() + " is not a vector");
  return check_length(tensor.elements(), name);
}

using PositionTypes = TypeList<int32_t, int64_t>;

/// The slices of a tensor along an axis.
struct SliceLayout {
  size_t count;  ///< how many slices there are; slice i begins at element i * values.length
  BySlice values;
};

SliceLayout slices_along(const Tensor& x, size_t axis) {
  const auto dims = x.shape().dims();
  const size_t count = static_cast<size_t>(dims[axis]), length = count_of(dims.subspan(axis + 1));
  return {count, {count_of(dims.first(axis)), count * length, length}};
}

/// Sets slice i of `to` to slice positions[i] of x for all slices of `to`.
void take_slices(const Tensor& x, const Tensor& positions, Tensor& to, size_t axis = 0) {
  const BySlice from = slices_along(x, axis).values;
  const auto taken = positions.as<int32_t>().first(slices_along(to, axis).count);
  with_elements_of(x, [&]<class T>(std::type_identity<T>) {
    auto at = to.write<T>().begin();
    for (size_t run = 0; run < from.runs; ++run)
      for (const int32_t position : taken)
        at = std::copy_n(x.as<T>().data() + run * from.stride + static_cast<size_t>(position) * from.length,
                         from.length, at);
  });
}

/// Returns memory for `count` positions.
Result<Tensor> positions_for(int64_t count, Allocator& memory) {
  return Tensor::allocate(DType::Int32, Shape::vector(count), memory);
}

// ---- Unique

/// Calls set(i, the number of slice i of x) for each slice.
template <class T, class Values, class Set>
void number_slices(const T* x, const SliceLayout& slices, Values values, const Set& set) {
  Numbering<T, Values> numbering(slices.count, values);
  for (size_t i = 0; i < slices.count; ++i) set(i, numbering.add(x + i * slices.values.length));
}

/// The same for the slices of a tensor along an axis.
template <class Set>
void number_slices(const Tensor& x, size_t axis, const Set& set) {
  const SliceLayout slices = slices_along(x, axis);
  with_elements_of(x, [&]<class T>(std::type_identity<T>) {
    if (x.shape().rank() == 1)
      number_slices(x.as<T>().data(), slices, ByElement{}, set);
    else
      number_slices(x.as<T>().data(), slices, slices.values, set);
  });
}

/// Returns the axis of UniqueV2, 0 for the other ops; both have a vector when they have no axis.
Result<size_t> unique_axis(std::span<const int64_t> axis, size_t rank) {
  if (axis.size() > 1)
    return invalid_argument("axis has " + std::to_string(axis.size()) +
                            " elements; it must have one or none");
  if (axis.size() == 1) return resolve_axis(axis[0], rank);
  if (rank == 1) return size_t{0};
  return invalid_argument("x has rank " + std::to_string(rank) +
                          " and no axis is given, so it must be a vector");
}

Status unique_shape(ShapeContext& context) {
  const bool has_axis = context.node().inputs.size() == 2;
  if (has_axis) TROUPE_RETURN_IF_FAILED(context.with_rank(1, 1).status());
  if (!has_axis) TROUPE_RETURN_IF_FAILED(context.with_rank(0, 1).status());
  const PartialShape x = context.input(0);
  const bool has_counts = context.node().output_types.size() == 3;
  for (size_t i = 1; i < context.node().output_types.size(); ++i)
    context.set_output(i, PartialShape::vector(unknown_dim));
  const auto axes = has_axis ? context.constant_integers(1) : std::vector<int64_t>{};
  if (!axes || !x.known_rank()) return {};
  TROUPE_ASSIGN(const size_t axis, unique_axis(*axes, x.rank()));
  Dims dims(x.dims());
  context.set_output(1, PartialShape::vector(dims[axis]));
  dims[axis] = unknown_dim;
  if (const Tensor* const values = context.constant(0)) {
    size_t count = 0;
    number_slices(*values, axis, [&](size_t, size_t number) { count = std::max(count, number + 1); });
    dims[axis] = static_cast<int64_t>(count);
  }
  if (has_counts) context.set_output(2, PartialShape::vector(dims[axis]));
  context.set_output(0, partial(dims));
  return {};
}

void measure_unique(UniqueArguments& arguments, DeviceContext&) {
  const auto firsts = arguments.firsts.write<int32_t>();
  size_t distinct = 0;
  with_type(PositionTypes{}, arguments.idx.dtype(), [&]<class I>(std::type_identity<I>) {
    const auto idx = arguments.idx.write<I>();
    number_slices(arguments.x, arguments.axis, [&](size_t i, size_t number) {
      idx[i] = static_cast<I>(number);
      if (number == distinct) firsts[distinct++] = static_cast<int32_t>(i);
    });
  });
  arguments.distinct = static_cast<int64_t>(distinct);
}

void compute_unique(const UniqueArguments& arguments, DeviceContext&) {
  take_slices(arguments.x, arguments.firsts, *arguments.y, arguments.axis);
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
  for (const T& value : y) without.add(&value);
  for (size_t i = 0; i < x.size(); ++i)
    if (!without.contains(&x[i])) keep(i);
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
  take_slices(arguments.x, arguments.positions, *arguments.out);
  with_type(PositionTypes{}, arguments.idx->dtype(), [&]<class I>(std::type_identity<I>) {
    std::ranges::copy(arguments.positions.as<int32_t>().first(static_cast<size_t>(arguments.kept)),
                      arguments.idx->write<I>().begin());
  });
}

}  // namespace

Result<UniqueArguments> check_unique(KernelContext& context) {
  const Tensor& x = context.input(0);
  Dims axes;
  if (context.node().inputs.size() == 2) {
    if (context.input(1).shape().rank() != 1)
      return invalid_argument("axis of shape " + context.input(1).shape().text() + " is not a vector");
    axes = integers(context.input(1));
  } else {
    TROUPE_RETURN_IF_FAILED(check_vector(x, "x"));
  }
  TROUPE_ASSIGN(const size_t axis, unique_axis(axes, x.shape().rank()));
  const int64_t slices = x.shape().dims()[axis];
  TROUPE_RETURN_IF_FAILED(check_length(slices, "the axis of x"));
  TROUPE_ASSIGN(Tensor* const idx, context.output(1, Shape::vector(slices)));
  TROUPE_ASSIGN(Tensor firsts, positions_for(slices, context.device().host_memory()));
  return UniqueArguments{x, axis, *idx, std::move(firsts)};
}

Status allocate_unique(UniqueArguments& arguments, KernelContext& context) {
  Dims dims(arguments.x.shape().dims());
  dims[arguments.axis] = arguments.distinct;
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, arguments.x.dtype()));
  TROUPE_ASSIGN(arguments.y, context.output(0, shape));
  if (context.node().output_types.size() < 3) return {};
  TROUPE_ASSIGN(arguments.count, context.output(2, Shape::vector(arguments.distinct)));
  return {};
}

Result<ListDiffArguments> check_list_diff(KernelContext& context) {
  const Tensor &x = context.input(0), &y = context.input(1);
  TROUPE_RETURN_IF_FAILED(check_vector(x, "x"));
  TROUPE_RETURN_IF_FAILED(check_vector(y, "y"));
  TROUPE_ASSIGN(Tensor positions, positions_for(x.elements(), context.device().memory()));
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
  for (const bool has_axis : {false, true})
    for (const bool has_counts : {false, true}) {
      const std::string name =
          std::string(has_counts ? "UniqueWithCounts" : "Unique") + (has_axis ? "V2" : "");
      OpDefBuilder op = OpDefBuilder(name)
                            .host_input("x: T")
                            .host_output("y: T")
                            .host_output("idx: out_idx")
                            .attr("T: type")
                            .attr("out_idx: {int32, int64} = int32")
                            .shape(unique_shape);
      if (has_axis) op.host_input("axis: Taxis").attr("Taxis: {int32, int64} = int64");
      if (has_counts) op.host_output("count: out_idx");
      if (name == "Unique") op.constructor("unique(x, out_idx) -> y");
      library.op(op);
      library.kernel(measured_kernel_on(std::string(any_device), name, check_unique, measure_unique,
                                        allocate_unique, compute_unique)
                         .on("T", types));
    }
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
