// AddN(inputs...): the sum of one or more tensors of one shape and type (any number), added in the order of the inputs. Integers
// wrap around; half and bfloat16 are summed in float and rounded once.
#include "graph/gradients.h"
#include "graph/shape_context.h"
#include "kernels/all_ops.h"
#include "kernels/arithmetic.h"
#include "kernels/cast.h"
#include "kernels/elementwise.h"
#include "kernels/parallel.h"

namespace troupe {
namespace {

constexpr size_t narrow_block = 512;  ///< elements widened at a time

Status add_n_shape(ShapeContext& context) {
  PartialShape shape = context.input(0);
  for (size_t i = 1; i < context.inputs(); ++i) {
    auto merged = merge(shape, context.input(i));
    if (!merged) return invalid_argument("input " + std::to_string(i) + ": " + merged.status().text());
    shape = std::move(*merged);
  }
  context.set_output(0, std::move(shape));
  return {};
}

class AddNKernel final : public Kernel {
 public:
  static Result<std::unique_ptr<Kernel>> prepare(const PrepareContext& context) {
    return std::unique_ptr<Kernel>(std::make_unique<AddNKernel>(context.input_dtype(0)));
  }
  explicit AddNKernel(DType dtype) : bytes_(size_of(dtype)) {
    add_ = binary_loop<VectorBinary::Add, Add, Joined<IntegerTypes, ComplexTypes>>(
        is_narrow(dtype) ? DType::Float : dtype);
    if (!is_narrow(dtype)) return;
    widen_ = cast_loop(dtype, DType::Float);
    narrow_ = cast_loop(DType::Float, dtype);
  }

  Outcome run(KernelContext& context) const override { return sum(context); }

 private:
  Status sum(KernelContext& context) const {
    const Shape shape = context.input(0).shape();
    std::vector<const std::byte*> terms;
    for (size_t i = 0; i < context.inputs(); ++i) {
      if (!(context.input(i).shape() == shape))
        return invalid_argument("input " + std::to_string(i) + " is " + context.input(i).signature() +
                                ", input 0 has shape " + shape.text());
      terms.push_back(context.input(i).data());
    }
    if (terms.size() == 1) {
      context.set_output(0, context.input(0));
      return {};
    }
    TROUPE_ASSIGN(Tensor* const output, context.forward(0, 0, shape));
    std::byte* const out = output->mutable_data();
    parallel_items(context.device().pool(), static_cast<size_t>(shape.elements()),
                   (terms.size() + 1) * bytes_, [&](size_t begin, size_t end) {
                     widen_ ? sum_narrow(terms, out, begin, end) : sum_block(terms, out, begin, end);
                   });
    return {};
  }

  void sum_block(const std::vector<const std::byte*>& terms, std::byte* out, size_t begin, size_t end) const {
    const size_t at = begin * bytes_;
    add_(terms[0] + at, 1, terms[1] + at, 1, out + at, end - begin);
    for (size_t i = 2; i < terms.size(); ++i) add_(out + at, 1, terms[i] + at, 1, out + at, end - begin);
  }

  void sum_narrow(const std::vector<const std::byte*>& terms, std::byte* out, size_t begin,
                  size_t end) const {
    float total[narrow_block], term[narrow_block];
    for (size_t i = begin; i < end; i += narrow_block) {
      const size_t n = std::min(narrow_block, end - i);
      widen_(terms[0] + i * bytes_, total, n);
      for (size_t k = 1; k < terms.size(); ++k) {
        widen_(terms[k] + i * bytes_, term, n);
        add_(total, 1, term, 1, total, n);
      }
      narrow_(total, out + i * bytes_, n);
    }
  }

  BinaryLoop add_ = nullptr;
  UnaryLoop widen_ = nullptr, narrow_ = nullptr;  ///< null: not needed
  size_t bytes_;
};

void add_n_gradient(GradientContext& context) {
  const Output gradient = context.gradient();
  for (size_t i = 0; i < context.node().inputs.size(); ++i) context.set(i, gradient);
}

}  // namespace

void add_add_n(OpLibrary& library) {
  library.op(OpDefBuilder("AddN")
                 .input("inputs: N * T")
                 .output("sum: T")
                 .attr("N: int >= 1")
                 .attr("T: numbertype")
                 .constructor("add_n(inputs)")
                 .aggregate()
                 .shape(add_n_shape)
                 .gradient(add_n_gradient));
  library.kernel(cpu_kernel<AddNKernel>("AddN").on("T", dtypes(NumberTypes{})).inexpensive());
}

}  // namespace troupe
