// Products of quantised tensors of quint8, as qint32: of the distances of the steps from the step of 0, computed exactly.
//   QuantizedMatMul(a, b, min_a, max_a, min_b, max_b)                         a b, where either may be transposed first
//   QuantizedConv2D(input, filter, min_input, max_input, min_filter, max_filter)
//                              input [batch, rows, columns, channels], filter [rows, columns, in, out]; padding counts as 0
// Outputs 1 and 2 are the range: a step of the output is a step of a times one of b. Sums wrap around. Fails with InvalidArgument
// for shapes that do not fit, and for an empty range. Source: tensorflow/core/kernels/quantized_matmul_op.cc,
// quantized_conv_ops.cc.
#include "kernels/loops/gemm.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops/math/matmul.h"
#include "kernels/ops/nn/convolution.h"
#include "kernels/ops/quantized/quantization.h"
#include "kernels/ops/quantized/views.h"

namespace troupe {
namespace {

/// The ranges of the operands, inputs 2 to 5, and of the product.
struct ProductRanges {
  const Tensor &min_a, &max_a, &min_b, &max_b;
  RangeOutput output;
};

Result<ProductRanges> check_ranges(KernelContext& context) {
  for (const size_t i : {2, 4}) TROUPE_RETURN_IF_FAILED(check_range_shapes(context, i));
  TROUPE_ASSIGN(const RangeOutput output, range_output(context));
  return ProductRanges{context.input(2), context.input(3), context.input(4), context.input(5), output};
}

/// The operands as distances from the step of 0.
struct Operands {
  Tensor a, b;
};

/// Checks the ranges, writes that of the product and returns the operands.
Result<Operands> operands_of(DeviceContext& device, const ProductRanges& ranges, const Tensor& a,
                             const Tensor& b, const std::string& name_a, const std::string& name_b) {
  const FloatRange range_a = range_of(ranges.min_a, ranges.max_a),
                   range_b = range_of(ranges.min_b, ranges.max_b);
  TROUPE_RETURN_IF_FAILED(check_order(range_a, name_a));
  TROUPE_RETURN_IF_FAILED(check_order(range_b, name_b));
  ranges.output.write(product_range<QUInt8, QUInt8, QInt32>(range_a, range_b));
  const auto distances = [&](const Tensor& steps, FloatRange range) {
    return distances_from(device, steps, clamped_step<QInt32>(unclamped_step<QUInt8>(0, range)).value);
  };
  TROUPE_ASSIGN(Tensor left, distances(a, range_a));
  TROUPE_ASSIGN(Tensor right, distances(b, range_b));
  return Operands{std::move(left), std::move(right)};
}

// ---- QuantizedMatMul

struct QuantizedMatMulArguments {
  MatMulArguments product;
  ProductRanges ranges;
};

class QuantizedMatMulCheck {
 public:
  explicit QuantizedMatMulCheck(const PrepareContext& context) : check_(context) {}
  Result<QuantizedMatMulArguments> operator()(KernelContext& context) const {
    TROUPE_ASSIGN(const MatMulArguments product, check_(context));
    TROUPE_ASSIGN(const ProductRanges ranges, check_ranges(context));
    return QuantizedMatMulArguments{product, ranges};
  }

 private:
  MatMulCheck check_;
};

Status compute_matmul(const QuantizedMatMulArguments& arguments, DeviceContext& device) {
  const auto& [a, b, product, transpose_a, transpose_b] = arguments.product;
  TROUPE_ASSIGN(const Operands operands, operands_of(device, arguments.ranges, a, b, "a", "b"));
  const auto view = [](const Tensor& tensor, bool transposed) {
    const Shape& shape = tensor.shape();
    return MatrixView<int32_t>::of(tensor.as<int32_t>().data(), shape[0], shape[1], transposed);
  };
  Tensor output = storage_view(product);
  return gemm(device, 1, view(operands.a, transpose_a), view(operands.b, transpose_b),
              output.write<int32_t>().data());
}

Status quantized_matmul_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(matmul_shape(context));
  for (const size_t i : {1, 2}) context.set_output(i, PartialShape::scalar());
  return {};
}

// ---- QuantizedConv2D

struct QuantizedConvolutionArguments {
  ConvolutionArguments convolution;
  ProductRanges ranges;
};

Result<QuantizedConvolutionArguments> check_convolution(KernelContext& context) {
  TROUPE_ASSIGN(ConvolutionArguments convolution, ConvolutionCheck(ConvolutionPass::Forward)(context));
  TROUPE_ASSIGN(const ProductRanges ranges, check_ranges(context));
  return QuantizedConvolutionArguments{std::move(convolution), ranges};
}

Status compute_convolution(const QuantizedConvolutionArguments& arguments, DeviceContext& device) {
  const ConvolutionArguments& convolution = arguments.convolution;
  TROUPE_ASSIGN(const Operands operands,
                operands_of(device, arguments.ranges, convolution.a, convolution.b, "input", "filter"));
  Tensor output = storage_view(convolution.out);
  if (!convolution.empty)
    return Convolution(ConvolutionPass::Forward)
        .run(device, convolution.sizes, operands.a, operands.b, output);
  fill(device.pool(), output);
  return {};
}

Status quantized_convolution_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(convolution_shape(context));
  for (const size_t i : {1, 2}) context.set_output(i, PartialShape::scalar());
  return {};
}

KernelDef on_bytes(KernelDef kernel, const char* a, const char* b, const char* output) {
  return std::move(kernel).on(a, {DType::QUInt8}).on(b, {DType::QUInt8}).on(output, {DType::QInt32});
}

OpDefBuilder& add_ranges(OpDefBuilder& op, const char* a, const char* b) {
  for (const char* of : {a, b})
    for (const char* end : {"min_", "max_"}) op.input(end + std::string(of) + ": float");
  return op;
}

}  // namespace

void add_quantized_products(OpLibrary& library) {
  const std::string types = quantized_types;
  OpDefBuilder matmul("QuantizedMatMul"), convolution("QuantizedConv2D");
  matmul.input("a: T1").input("b: T2");
  library.op(add_ranges(matmul, "a", "b")
                 .output("out: Toutput")
                 .output("min_out: float")
                 .output("max_out: float")
                 .attr("T1: " + types)
                 .attr("T2: " + types)
                 .attr("Toutput: " + types + " = qint32")
                 .attr("transpose_a: bool = false")
                 .attr("transpose_b: bool = false")
                 .attr("Tactivation: " + types + " = quint8")
                 .shape(quantized_matmul_shape));
  library.kernel(
      on_bytes(cpu_kernel<QuantizedMatMulCheck>("QuantizedMatMul", compute_matmul), "T1", "T2", "Toutput"));
  convolution.input("input: Tinput").input("filter: Tfilter");
  library.op(add_ranges(convolution, "input", "filter")
                 .output("output: out_type")
                 .output("min_output: float")
                 .output("max_output: float")
                 .attr("Tinput: " + types)
                 .attr("Tfilter: " + types)
                 .attr("out_type: " + types + " = qint32")
                 .attr("strides: list(int)")
                 .attr("padding: {'SAME', 'VALID'}")
                 .attr("dilations: list(int) = [1, 1, 1, 1]")
                 .shape(quantized_convolution_shape));
  library.kernel(on_bytes(cpu_kernel("QuantizedConv2D", check_convolution, compute_convolution), "Tinput",
                          "Tfilter", "out_type"));
}

}  // namespace troupe
