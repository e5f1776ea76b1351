// TopK(input), with attribute k, and TopKV2(input, k): the k greatest elements of each row of `input`, which is one along its
// last dimension, and their indices in the row. Both outputs have the shape of the input with k as the last dimension. The
// greatest element comes first, also if `sorted` is false; of equal elements that with the lower index comes first, and NaN comes
// after all numbers. Real types. Fails with InvalidArgument for a scalar input, for a k outside [0, columns], and if index_type
// cannot hold an index.
//
// Method: a row is read once. A list keeps the elements that are greater than the k-th greatest known so far; when it is full,
// std::nth_element reduces it to the k greatest. So a row of n elements costs O(n) for the selection and O(k log k) for sorting.
#include "kernels/ops/nn/top_k.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"

namespace troupe {
namespace {

using IndexTypes = TypeList<int16_t, int32_t, int64_t>;

// ---- Shapes

Status check_k(int64_t k, int64_t columns) {
  if (k >= 0 && (columns == unknown_dim || k <= columns)) return {};
  return invalid_argument(
      "k is " + std::to_string(k) + "; it must be in [0, " +
      (columns == unknown_dim ? std::string("columns of input") : std::to_string(columns)) + "]");
}

int64_t number_in(const Tensor& k) {
  return k.dtype() == DType::Int16 ? int64_t{k.as<int16_t>()[0]} : integers(k)[0];
}

/// Returns k if it is an attribute or a constant.
std::optional<int64_t> known_k(const ShapeContext& context) {
  if (context.inputs() == 1) return context.attr<int64_t>("k");
  if (const Tensor* const k = context.constant(1)) return number_in(*k);
  return constant_integer(context, 1);
}

Status top_k_shape(ShapeContext& context) {
  if (context.inputs() == 2) TROUPE_RETURN_IF_FAILED(context.with_rank(1, 0).status());
  const PartialShape& input = context.input(0);
  if (!input.known_rank()) return {};
  if (input.rank() == 0) return invalid_argument("input is a scalar; it must have at least one dimension");
  const auto k = known_k(context);
  if (k) TROUPE_RETURN_IF_FAILED(check_k(*k, input.dims().back()));
  std::vector<int64_t> dims(input.dims().begin(), input.dims().end());
  dims.back() = k.value_or(unknown_dim);
  for (const size_t i : {0, 1}) context.set_output(i, PartialShape(dims));
  return {};
}

Result<int64_t> k_of(const KernelContext& context) {
  if (context.inputs() == 1) return context.node().attrs.get<int64_t>("k");
  const Tensor& k = context.input(1);
  if (!k.shape().is_scalar()) return invalid_argument("k of shape " + k.shape().text() + " is not a scalar");
  return number_in(k);
}

Status check_index_type(DType dtype, int64_t columns) {
  bool fits = true;
  with_type(IndexTypes{}, dtype,
            [&]<class I>(std::type_identity<I>) { fits = columns == 0 || std::in_range<I>(columns - 1); });
  if (fits) return {};
  return invalid_argument("an index into a row of " + std::to_string(columns) + " elements does not fit " +
                          std::string(name(dtype)));
}

// ---- Selection

template <class C>
struct Candidate {
  C value;
  int64_t index;
};

template <class C>
bool is_nan(C value) {
  if constexpr (std::is_floating_point_v<C>)
    return std::isnan(value);
  else
    return false;
}

template <class C>
bool comes_before(const Candidate<C>& a, const Candidate<C>& b) {
  if (a.value > b.value) return true;
  if (a.value < b.value) return false;
  if (is_nan(a.value) != is_nan(b.value)) return is_nan(b.value);
  return a.index < b.index;
}

/// Selects the k greatest elements of rows of n elements. `k` is in [1, n].
template <class T>
class Selection {
 public:
  using C = ComputeType<T>;

  Selection(size_t n, size_t k) : n_(n), k_(k), capacity_(std::min(n, 2 * k + spare)) {
    found_.reserve(capacity_);
  }

  /// Returns the greatest elements of a row in order.
  std::span<const Candidate<C>> operator()(const T* row) {
    found_.clear();
    size_t i = 0;
    for (; i < capacity_; ++i) found_.push_back({static_cast<C>(row[i]), static_cast<int64_t>(i)});
    if (i < n_) reduce();
    for (; i + group <= n_; i += group)
      if (has_greater(row + i)) take(row, i, i + group);
    take(row, i, n_);
    if (found_.size() > k_) reduce();
    std::ranges::sort(found_, comes_before<C>);
    return found_;
  }

 private:
  static constexpr size_t spare = 64, group = 16;

  /// True for NaN, too; reduce() then drops it.
  bool is_candidate(T value) const { return !(static_cast<C>(value) <= least_); }
  bool has_greater(const T* values) const {
    bool found = false;
    for (size_t i = 0; i < group; ++i) found |= is_candidate(values[i]);
    return found;
  }
  void take(const T* row, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      if (!is_candidate(row[i])) continue;
      found_.push_back({static_cast<C>(row[i]), static_cast<int64_t>(i)});
      if (found_.size() == capacity_) reduce();
    }
  }
  void reduce() {
    const auto last = found_.begin() + static_cast<ptrdiff_t>(k_) - 1;
    std::nth_element(found_.begin(), last, found_.end(), comes_before<C>);
    found_.resize(k_);
    least_ = found_.back().value;
  }

  size_t n_, k_, capacity_;
  std::vector<Candidate<C>> found_;
  C least_{};  ///< the k-th greatest element so far
};

template <class T, class I>
void select_rows(const TopKArguments& arguments, size_t begin, size_t end) {
  const size_t columns = arguments.columns, k = arguments.k;
  const T* const input = arguments.input.as<T>().data();
  T* const values = arguments.values.write<T>().data();
  I* const indices = arguments.indices.write<I>().data();
  Selection<T> select(columns, k);
  for (size_t row = begin; row < end; ++row) {
    const auto found = select(input + row * columns);
    for (size_t i = 0; i < k; ++i) {
      values[row * k + i] = input[row * columns + static_cast<size_t>(found[i].index)];
      indices[row * k + i] = static_cast<I>(found[i].index);
    }
  }
}

void compute_top_k(const TopKArguments& arguments, DeviceContext& device) {
  if (arguments.values.elements() == 0) return;
  with_type(RealTypes{}, arguments.input.dtype(), [&]<class T>(std::type_identity<T>) {
    with_type(IndexTypes{}, arguments.indices.dtype(), [&]<class I>(std::type_identity<I>) {
      const size_t cost = (arguments.columns + 16 * arguments.k) * sizeof(T);
      parallel_rows(device.pool(), arguments.rows, cost,
                    [&](size_t begin, size_t end) { select_rows<T, I>(arguments, begin, end); });
    });
  });
}

// ---- Gradient

/// Each element of the gradient goes to the element of the input that was selected.
void top_k_gradient(GradientContext& context) {
  if (!context.has_gradient(0)) return;
  const Scope& scope = context.scope();
  const auto number = [&](int64_t value) { return integer_constant(scope, value, DType::Int64); };
  const auto numbers = [&](const Dims& values) { return integer_constants(scope, values, DType::Int64); };
  const Output input = shape_of(scope, context.input(0), DType::Int64);
  const Output selected = shape_of(scope, context.output(1), DType::Int64);
  const Output last = sub(scope, cast(scope, size(scope, input), DType::Int64), number(1));
  const Output start = reshape(scope, last, numbers(Dims{1}));
  const auto last_dim = [&](Output shape) { return slice(scope, shape, start, numbers(Dims{1})); };
  const Output rows = prod(scope, slice(scope, input, numbers(Dims{0}), start), 0);
  const Output table = concat(scope, {reshape(scope, rows, numbers(Dims{1})), last_dim(selected)}, 0);
  const Output firsts = mul(scope, range(scope, number(0), rows, number(1)), last_dim(input));
  const Output indices = reshape(scope, cast(scope, context.output(1), DType::Int64), table);
  const Output positions = add(scope, indices, reshape(scope, firsts, numbers(Dims{-1, 1})));
  const Output flat = scope.add_one("ScatterNd", {reshape(scope, positions, numbers(Dims{-1, 1})),
                                                  reshape(scope, context.gradient(), numbers(Dims{-1})),
                                                  reshape(scope, prod(scope, input, 0), numbers(Dims{1}))});
  context.set(0, reshape(scope, flat, input));
}

}  // namespace

Result<TopKArguments> check_top_k(KernelContext& context) {
  const Tensor& input = context.input(0);
  if (input.shape().is_scalar())
    return invalid_argument("input is a scalar; it must have at least one dimension");
  const auto from = input.shape().dims();
  TROUPE_ASSIGN(const int64_t k, k_of(context));
  TROUPE_RETURN_IF_FAILED(check_k(k, from.back()));
  TROUPE_RETURN_IF_FAILED(check_index_type(context.node().output_types[1].dtype, from.back()));
  Dims dims(from);
  dims.back() = k;
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, DType::Int64));
  TROUPE_ASSIGN(Tensor* const values, context.output(0, shape));
  TROUPE_ASSIGN(Tensor* const indices, context.output(1, shape));
  const auto columns = static_cast<size_t>(from.back());
  const size_t rows = columns == 0 ? 0 : static_cast<size_t>(input.elements()) / columns;
  return TopKArguments{input, *values, *indices, rows, columns, static_cast<size_t>(k)};
}

void add_top_k_ops(OpLibrary& library) {
  library.op(OpDefBuilder("TopK")
                 .input("input: T")
                 .output("values: T")
                 .output("indices: int32")
                 .attr("k: int >= 0")
                 .attr("sorted: bool = true")
                 .attr("T: realnumbertype")
                 .shape(top_k_shape)
                 .gradient(top_k_gradient));
  library.op(OpDefBuilder("TopKV2")
                 .input("input: T")
                 .host_input("k: Tk")
                 .output("values: T")
                 .output("indices: index_type")
                 .attr("sorted: bool = true")
                 .attr("T: realnumbertype")
                 .attr("Tk: {int16, int32, int64} = int32")
                 .attr("index_type: {int16, int32, int64} = int32")
                 .constructor("top_k(input, k, sorted)")
                 .shape(top_k_shape)
                 .gradient(top_k_gradient));
  for (const char* name : {"TopK", "TopKV2"})
    library.kernel(cpu_kernel(name, check_top_k, compute_top_k).on("T", dtypes(RealTypes{})));
}

}  // namespace troupe
