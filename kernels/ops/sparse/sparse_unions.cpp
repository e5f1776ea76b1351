// Ops that combine the values of two sparse tensors of one shape, position by position. The positions of the output are those
// that one of both has, in row-major order; where a tensor has no value, it counts as 0.
//   SparseAdd(a_indices, a_values, a_shape, b_indices, b_values, b_shape, thresh)   any number; integers wrap around. A sum of
//       two values is left out if its absolute value is less than thresh, a scalar of the real type of the values, or if the sum
//       or thresh is NaN.
//   SparseSparseMaximum, SparseSparseMinimum(a_indices, a_values, a_shape, b_indices, b_values, b_shape)   real; NaN if either
//       value is NaN
// If a tensor has several values at one position, each is combined with the value of the other tensor that has the same place
// among them. half and bfloat16 are computed in float. Fails with InvalidArgument for positions that are outside the shape or
// not in row-major order.
#include <cmath>

#include "graph/build/gradients.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/arithmetic.h"
#include "kernels/loops/cast.h"
#include "kernels/loops/scratch.h"
#include "kernels/ops/sparse/sparse_tensor.h"

namespace troupe {
namespace {

constexpr int64_t no_entry = -1;

/// The entries of both tensors that make an entry of the output; no_entry if a tensor has none there.
struct Pair {
  int64_t a, b;
};

struct UnionArguments {
  SparseTensor a, b;
  const Tensor* threshold = nullptr;  ///< a scalar on the host; null if every value is kept
  Tensor pairs = {};                  ///< int64 [2 n], at least: the pairs of the output, one after the other
  int64_t count = 0;                  ///< the number of pairs
  Tensor *indices = nullptr, *values = nullptr;
};

Status union_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto a, sparse_shape(context, SparseInputs::from(0)));
  TROUPE_ASSIGN(const auto b, sparse_shape(context, SparseInputs::from(3)));
  TROUPE_ASSIGN(const auto rank, merge(PartialShape{a[1]}, PartialShape{b[1]}));
  if (context.inputs() == 7) TROUPE_RETURN_IF_FAILED(context.with_rank(6, 0).status());
  context.set_output(0, PartialShape{unknown_dim, rank[0]});
  context.set_output(1, PartialShape{unknown_dim});
  if (context.inputs() == 7) context.set_output(2, rank);
  return {};
}

Result<UnionArguments> check_union(KernelContext& context) {
  TROUPE_ASSIGN(SparseTensor a, read_sparse(context, SparseInputs::from(0)));
  TROUPE_ASSIGN(SparseTensor b, read_sparse(context, SparseInputs::from(3)));
  TROUPE_RETURN_IF_FAILED(merge(context.input(2).shape(), context.input(5).shape()).status());
  if (!(a.dims == b.dims))
    return invalid_argument("a_shape " + text_of(a.dims) + " and b_shape " + text_of(b.dims) + " differ");
  return UnionArguments{std::move(a), std::move(b)};
}

/// Returns the type of the absolute values of a type.
DType real_type(DType dtype) {
  if (dtype == DType::Complex64) return DType::Float;
  return dtype == DType::Complex128 ? DType::Double : dtype;
}

Result<UnionArguments> check_sparse_add(KernelContext& context) {
  TROUPE_ASSIGN(UnionArguments arguments, check_union(context));
  TROUPE_RETURN_IF_FAILED(check_rank(context, 6, 0));
  const Tensor& threshold = context.input(6);
  if (threshold.dtype() != real_type(arguments.a.values.dtype()))
    return invalid_argument("thresh is " + std::string(name(threshold.dtype())) + ", but the values are " +
                            std::string(name(arguments.a.values.dtype())) +
                            "; thresh must be of the type of " + "their absolute values");
  TROUPE_RETURN_IF_FAILED(set_shape_output(context, 2, arguments.a.dims));
  arguments.threshold = &threshold;
  return arguments;
}

/// Returns Function of a value of each tensor.
template <class Function, class T>
ComputeType<T> value_of(std::span<const T> a, std::span<const T> b, const Pair& pair) {
  using Computed = ComputeType<T>;
  const auto at = [](std::span<const T> values, int64_t i) {
    return i == no_entry ? Computed{} : static_cast<Computed>(values[static_cast<size_t>(i)]);
  };
  return Function::apply(at(a, pair.a), at(b, pair.b));
}

/// Returns whether the absolute value is at least the threshold. A NaN is not.
template <class T, class Real>
bool reaches(const T& value, Real threshold) {
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    if (threshold <= 0) return true;
    return value >= threshold || value <= -threshold;
  } else if constexpr (std::is_integral_v<T>) {
    return value >= threshold;
  } else {
    return threshold <= std::abs(value);
  }
}

/// Writes the pairs of the union for which keep(pair) holds. Returns how many there are.
template <class Keep>
int64_t merge_entries(std::span<const int64_t> a, std::span<const int64_t> b, int64_t* pairs, Keep keep) {
  size_t i = 0, j = 0;
  int64_t count = 0;
  while (i < a.size() || j < b.size()) {
    const bool takes_a = i < a.size() && (j == b.size() || a[i] <= b[j]);
    const bool takes_b = j < b.size() && (i == a.size() || b[j] <= a[i]);
    const Pair pair{takes_a ? static_cast<int64_t>(i++) : no_entry,
                    takes_b ? static_cast<int64_t>(j++) : no_entry};
    if (!keep(pair)) continue;
    pairs[2 * count] = pair.a;
    pairs[2 * count++ + 1] = pair.b;
  }
  return count;
}

template <class Function, class List>
Status measure_union(UnionArguments& arguments, DeviceContext& device) {
  TROUPE_ASSIGN(const Tensor a, ascending_numbers_of(device, arguments.a));
  TROUPE_ASSIGN(const Tensor b, ascending_numbers_of(device, arguments.b));
  TROUPE_ASSIGN(arguments.pairs, scratch_vector<int64_t>(device, 2 * (a.elements() + b.elements())));
  int64_t* const pairs = arguments.pairs.write<int64_t>().data();
  const auto merged = [&](auto keep) {
    arguments.count = merge_entries(a.as<int64_t>(), b.as<int64_t>(), pairs, keep);
  };
  if (!arguments.threshold) {
    merged([](const Pair&) { return true; });
    return {};
  }
  with_type(List{}, arguments.a.values.dtype(), [&]<class T>(std::type_identity<T>) {
    using Real = decltype(std::real(ComputeType<T>{}));
    using Stored = std::conditional_t<is_complex_type<T>, Real, T>;
    using Threshold = std::conditional_t<std::is_integral_v<T>, T, ComputeType<Stored>>;
    const auto threshold = static_cast<Threshold>(arguments.threshold->item<Stored>());
    const auto left = arguments.a.values.as<T>(), right = arguments.b.values.as<T>();
    merged([&](const Pair& pair) {
      return pair.a == no_entry || pair.b == no_entry ||
             reaches(value_of<Function, T>(left, right, pair), threshold);
    });
  });
  return {};
}

Status allocate_union(UnionArguments& arguments, KernelContext& context) {
  TROUPE_ASSIGN(arguments.indices, indices_output(context, 0, arguments.count, arguments.a.rank()));
  TROUPE_ASSIGN(arguments.values, vector_output(context, 1, arguments.count));
  return {};
}

template <class Function, class List>
void compute_union(const UnionArguments& arguments, DeviceContext& device) {
  const size_t rank = arguments.a.rank(), count = static_cast<size_t>(arguments.count);
  const int64_t* const numbers = arguments.pairs.as<int64_t>().data();
  const int64_t *const a = arguments.a.indices.as<int64_t>().data(), *const b =
                                                                         arguments.b.indices.as<int64_t>()
                                                                             .data();
  int64_t* const indices = arguments.indices->write<int64_t>().data();
  with_type(List{}, arguments.values->dtype(), [&]<class T>(std::type_identity<T>) {
    const auto left = arguments.a.values.as<T>(), right = arguments.b.values.as<T>();
    const auto values = arguments.values->write<T>();
    parallel_items(device.pool(), count, 16 * (rank + 2), [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        const Pair pair{numbers[2 * i], numbers[2 * i + 1]};
        const bool from_a = pair.a != no_entry;
        std::copy_n((from_a ? a : b) + static_cast<size_t>(from_a ? pair.a : pair.b) * rank, rank,
                    indices + i * rank);
        values[i] = T(value_of<Function, T>(left, right, pair));
      }
    });
  });
}

/// The entries of the sum say which values are in it.
void sparse_add_gradient(GradientContext& context) {
  const NodeId gradient = context.scope().add(
      "SparseAddGrad", {context.gradient(1), context.input(0), context.input(3), context.output(0)});
  context.set(1, context.scope().graph().output(gradient, 0));
  context.set(4, context.scope().graph().output(gradient, 1));
}

OpDefBuilder union_op(const char* name) {
  return OpDefBuilder(name)
      .input("a_indices: int64")
      .input("a_values: T")
      .host_input("a_shape: int64")
      .input("b_indices: int64")
      .input("b_values: T")
      .host_input("b_shape: int64")
      .shape(union_shape);
}

template <class Function>
void add_extreme(OpLibrary& library, const char* name, const char* types) {
  library.op(union_op(name).output("output_indices: int64").output("output_values: T").attr(types));
  library.kernel(measured_cpu_kernel(name, check_union, measure_union<Function, RealTypes>, allocate_union,
                                     compute_union<Function, RealTypes>)
                     .on("T", dtypes(RealTypes{})));
}

}  // namespace

void add_sparse_union_ops(OpLibrary& library) {
  library.op(union_op("SparseAdd")
                 .host_input("thresh: Treal")
                 .output("sum_indices: int64")
                 .output("sum_values: T")
                 .host_output("sum_shape: int64")
                 .attr("T: numbertype")
                 .attr("Treal: realnumbertype")
                 .gradient(sparse_add_gradient));
  library.kernel(measured_cpu_kernel("SparseAdd", check_sparse_add, measure_union<Add, NumberTypes>,
                                     allocate_union, compute_union<Add, NumberTypes>)
                     .on("T", dtypes(NumberTypes{})));
  add_extreme<Maximum>(library, "SparseSparseMaximum", "T: realnumbertype");
  add_extreme<Minimum>(library, "SparseSparseMinimum", "T: numbertype");
}

}  // namespace troupe
