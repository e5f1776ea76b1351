// SparseAddGrad(backprop_val_grad, a_indices, b_indices, sum_indices): the gradients of the values of a and b, for the gradient
// of the values of their sum. A value that SparseAdd left out gets 0. Each list of positions is in row-major order; else
// InvalidArgument.
#include <algorithm>

#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops/sparse/sparse_tensor.h"

namespace troupe {
namespace {

struct SparseAddGradientArguments {
  const Tensor &gradient, &a_indices, &b_indices, &sum_indices;
  Tensor &a_gradient, &b_gradient;
};

Status sparse_add_gradient_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto gradient, context.with_rank(0, 1));
  TROUPE_ASSIGN(const auto a, context.with_rank(1, 2));
  TROUPE_ASSIGN(const auto b, context.with_rank(2, 2));
  TROUPE_ASSIGN(const auto sum, context.with_rank(3, 2));
  TROUPE_ASSIGN(auto rank, merge(PartialShape{a[1]}, PartialShape{b[1]}));
  TROUPE_RETURN_IF_FAILED(merge(sum, PartialShape{gradient[0], rank[0]}).status());
  context.set_output(0, PartialShape{a[0]});
  context.set_output(1, PartialShape{b[0]});
  return {};
}

Result<SparseAddGradientArguments> check_sparse_add_gradient(KernelContext& context) {
  TROUPE_RETURN_IF_FAILED(check_rank(context, 0, 1));
  for (const size_t i : {1, 2, 3}) TROUPE_RETURN_IF_FAILED(check_rank(context, i, 2));
  const Tensor &gradient = context.input(0), &a = context.input(1), &b = context.input(2),
               &sum = context.input(3);
  TROUPE_RETURN_IF_FAILED(merge(PartialShape{a.shape()[1]}, PartialShape{b.shape()[1]}).status());
  TROUPE_RETURN_IF_FAILED(merge(sum.shape(), PartialShape{gradient.shape()[0], a.shape()[1]}).status());
  TROUPE_ASSIGN(Tensor* const a_gradient, vector_output(context, 0, a.shape()[0]));
  TROUPE_ASSIGN(Tensor* const b_gradient, vector_output(context, 1, b.shape()[0]));
  return SparseAddGradientArguments{gradient, a, b, sum, *a_gradient, *b_gradient};
}

/// The rows of a matrix of indices.
class Rows {
 public:
  explicit Rows(const Tensor& indices)
      : data_(indices.as<int64_t>().data()), count_(static_cast<size_t>(indices.shape()[0])),
        rank_(static_cast<size_t>(indices.shape()[1])) {}
  size_t count() const { return count_; }
  std::span<const int64_t> operator[](size_t row) const { return {data_ + row * rank_, rank_}; }

  Status check_order(std::string_view name) const {
    for (size_t i = 1; i < count_; ++i)
      if (std::ranges::lexicographical_compare((*this)[i], (*this)[i - 1]))
        return invalid_argument(std::string(name) + '[' + std::to_string(i) + "] = " + text_of((*this)[i]) +
                                " comes after " + text_of((*this)[i - 1]) +
                                "; positions must be in row-major order");
    return {};
  }

 private:
  const int64_t* data_;
  size_t count_, rank_;
};

/// Gives each term the gradient of the next row of the sum that has its position.
template <class T>
void spread(const Rows& terms, const Rows& sum, std::span<const T> gradient, std::span<T> to) {
  size_t next = 0;
  for (size_t i = 0; i < terms.count(); ++i) {
    const auto position = terms[i];
    while (next < sum.count() && std::ranges::lexicographical_compare(sum[next], position)) ++next;
    const bool found = next < sum.count() && std::ranges::equal(sum[next], position);
    to[i] = found ? gradient[next++] : T{};
  }
}

Status compute_sparse_add_gradient(const SparseAddGradientArguments& arguments, DeviceContext& device) {
  const Rows a(arguments.a_indices), b(arguments.b_indices), sum(arguments.sum_indices);
  TROUPE_RETURN_IF_FAILED(a.check_order("a_indices"));
  TROUPE_RETURN_IF_FAILED(b.check_order("b_indices"));
  TROUPE_RETURN_IF_FAILED(sum.check_order("sum_indices"));
  with_type(NumberTypes{}, arguments.gradient.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto gradient = arguments.gradient.as<T>();
    const auto to_a = arguments.a_gradient.write<T>(), to_b = arguments.b_gradient.write<T>();
    device.pool().chunks(2,
                         [&](size_t i) { spread<T>(i == 0 ? a : b, sum, gradient, i == 0 ? to_a : to_b); });
  });
  return {};
}

}  // namespace

void add_sparse_add_gradient(OpLibrary& library) {
  library.op(OpDefBuilder("SparseAddGrad")
                 .input("backprop_val_grad: T")
                 .input("a_indices: int64")
                 .input("b_indices: int64")
                 .input("sum_indices: int64")
                 .output("a_val_grad: T")
                 .output("b_val_grad: T")
                 .attr("T: numbertype")
                 .shape(sparse_add_gradient_shape)
                 .not_differentiable());
  library.kernel(cpu_kernel("SparseAddGrad", check_sparse_add_gradient, compute_sparse_add_gradient)
                     .on("T", dtypes(NumberTypes{})));
}

}  // namespace troupe
