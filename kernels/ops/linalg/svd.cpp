// Svd(input): the singular values s, in descending order, of the matrices [m, n] in the last two dimensions, and with compute_uv
// the columns of u and v: input = u diag(s) v^H. With p = min(m, n), s is [p], u is [m, p] and v is [n, p]; with full_matrices u is
// [m, m] and v is [n, n]. Without compute_uv, u and v are empty vectors. By Eigen's BDCSVD (bidiagonalization, then divide and
// conquer); the signs, or phases, of the columns of u and v are arbitrary, only their products are not. Float, double, complex64,
// complex128, computed in double. A matrix with an element that is not finite has factors of NaN.
// The gradient is that of Townsend, "Differentiating the singular value decomposition" (2016), for complex matrices that of Wan and
// Zhang, "Automatic differentiation for complex valued SVD" (2019). With compute_uv and full_matrices it needs a known shape and
// |m - n| <= 1, as in TensorFlow.
#include <limits>

#include "kernels/constructors.h"
#include "kernels/ops/broadcast_gradients.h"
#include "kernels/ops/linalg/matrices-inl.h"
#include "kernels/ops/linalg/matrix_gradients.h"
#include "kernels/ops/linalg/svd-inl.h"

namespace troupe {
namespace {

struct SvdShapes {
  PartialShape s, u, v;
};

Result<SvdShapes> svd_shapes(const PartialShape& input, const Attributes& attrs) {
  TROUPE_ASSIGN(const MatrixShape shape, matrix_shape(input, "input"));
  const bool full = attrs.get<bool>("full_matrices");
  if (!attrs.get<bool>("compute_uv"))
    return SvdShapes{shape.with(shape.least()), PartialShape::vector(0), PartialShape::vector(0)};
  return SvdShapes{shape.with(shape.least()), shape.with(shape.rows, full ? shape.rows : shape.least()),
                   shape.with(shape.columns, full ? shape.columns : shape.least())};
}

Status svd_shape(ShapeContext& context) {
  TROUPE_ASSIGN(SvdShapes shapes, svd_shapes(context.input(0), context.node().attrs));
  context.set_output(0, std::move(shapes.s));
  context.set_output(1, std::move(shapes.u));
  context.set_output(2, std::move(shapes.v));
  return {};
}

struct SvdArguments {
  const Tensor& input;
  Tensor& s;
  Tensor *u, *v;  ///< null: only the singular values are wanted
  bool full;
};

Result<SvdArguments> check_svd(KernelContext& context) {
  const Tensor& input = context.input(0);
  const Attributes& attrs = context.node().attrs;
  TROUPE_ASSIGN(const SvdShapes shapes, svd_shapes(input.shape(), attrs));
  TROUPE_ASSIGN(const Shape s_shape, shapes.s.to_shape(input.dtype()));
  TROUPE_ASSIGN(const Shape u_shape, shapes.u.to_shape(input.dtype()));
  TROUPE_ASSIGN(const Shape v_shape, shapes.v.to_shape(input.dtype()));
  TROUPE_ASSIGN(Tensor* const s, context.output(0, s_shape));
  TROUPE_ASSIGN(Tensor* const u, context.output(1, u_shape));
  TROUPE_ASSIGN(Tensor* const v, context.output(2, v_shape));
  const bool computes_uv = attrs.get<bool>("compute_uv");
  return SvdArguments{input, *s, computes_uv ? u : nullptr, computes_uv ? v : nullptr,
                      attrs.get<bool>("full_matrices")};
}

unsigned options_of(const SvdArguments& arguments) {
  if (!arguments.u) return 0;
  return arguments.full ? Eigen::ComputeFullU | Eigen::ComputeFullV
                        : Eigen::ComputeThinU | Eigen::ComputeThinV;
}

template <class T>
Status decompose_svd(const SvdArguments& arguments, DeviceContext& device) {
  using D = DoubleType<T>;
  const Matrices<const T> input(arguments.input);
  const int64_t rows = input.rows(), columns = input.columns(), least = std::min(rows, columns);
  T* const s = arguments.s.write<T>().data();
  const T nan(std::numeric_limits<typename Eigen::NumTraits<T>::Real>::quiet_NaN());
  const int64_t operations = 12 * rows * columns * least;
  return for_each_matrix(device.pool(), batch_size(arguments.input), operations, [&] {
    return [&, solver = Eigen::BDCSVD<Matrix<D>>(rows, columns, options_of(arguments)),
            matrix = Matrix<D>(rows, columns)](size_t i) mutable -> Status {
      T* const values = s + static_cast<int64_t>(i) * least;
      matrix = input[i].template cast<D>();
      if (!matrix.allFinite()) {
        std::fill_n(values, least, nan);
        if (arguments.u) Matrices<T>(*arguments.u)[i].setConstant(nan);
        if (arguments.v) Matrices<T>(*arguments.v)[i].setConstant(nan);
        return {};
      }
      solver.compute(matrix);
      if (solver.info() != Eigen::Success)
        return matrix_error(arguments.input, "input", i, "the singular value decomposition did not converge");
      for (int64_t k = 0; k < least; ++k)
        values[k] = static_cast<typename Eigen::NumTraits<T>::Real>(solver.singularValues()[k]);
      if (arguments.u) Matrices<T>(*arguments.u)[i] = solver.matrixU().template cast<T>();
      if (arguments.v) Matrices<T>(*arguments.v)[i] = solver.matrixV().template cast<T>();
      return {};
    };
  });
}

/// Any orthonormal columns are those of a matrix without elements.
template <class T>
void set_identities(Tensor* tensor) {
  if (!tensor || tensor->elements() == 0) return;
  const Matrices<T> matrices(*tensor);
  for (size_t i = 0; i < batch_size(*tensor); ++i) matrices[i].setIdentity();
}

Status compute_svd(const SvdArguments& arguments, DeviceContext& device) {
  Status status;
  with_type(MatrixTypes{}, arguments.input.dtype(), [&]<class T>(std::type_identity<T>) {
    if (arguments.input.elements() != 0) {
      status = decompose_svd<T>(arguments, device);
      return;
    }
    set_identities<T>(arguments.u);
    set_identities<T>(arguments.v);
  });
  return status;
}

// ---- Gradient

/// The factors and their gradients.
struct Factors {
  Output s, u, v, ds, du, dv;
};

/// What the gradient dw of the columns w adds inside of u (...) v^H: F o (w^H dw - dw^H w).
Output turned(const Scope& scope, Output differences, Output w, Output dw) {
  const Output turns = mul(scope, differences, product(scope, w, dw, Factor::Adjoint));
  return add(scope, turns, adjoint(scope, turns));
}

/// The part of dw that no column of w spans, with column i divided by s(i): (1 - w w^H) dw S^-1.
Output outside(const Scope& scope, const Factors& f, Output w, Output dw) {
  const Output rest = sub(scope, dw, product(scope, w, product(scope, w, dw, Factor::Adjoint)));
  return product(scope, rest, matrix_diag(scope, safe_reciprocal(scope, f.s)));
}

/// The gradient for thin factors.
Output thin_gradient(const Scope& scope, const Factors& f) {
  const Output differences = reciprocal_differences(scope, mul(scope, f.s, f.s)), s = matrix_diag(scope, f.s);
  const Output of_u = product(scope, turned(scope, differences, f.u, f.du), s);
  const Output of_v = product(scope, s, turned(scope, differences, f.v, f.dv));
  Output inner = add(scope, matrix_diag(scope, f.ds), add(scope, of_u, of_v));
  if (is_complex(scope.dtype(f.u))) {  // the phases of columns
    const Output phases = matrix_diag_part(scope, product(scope, f.v, f.dv, Factor::Adjoint));
    const Output change = sub(scope, conjugate(scope, phases), phases);
    inner = add(scope, inner,
                matrix_diag(scope, mul(scope, mul(scope, safe_reciprocal(scope, f.s), change), 0.5)));
  }
  const Output left = add(scope, product(scope, f.u, inner), outside(scope, f, f.u, f.du));
  const Output right = outside(scope, f, f.v, f.dv);
  return add(scope, product(scope, left, f.v, Factor::Plain, Factor::Adjoint),
             product(scope, f.u, right, Factor::Plain, Factor::Adjoint));
}

/// What the columns of v beyond the first p add, and their gradients: -u S^-1 (v1^H dv2) v2^H, if m < n; for m > n those of u.
Output full_gradient(const Scope& scope, Factors f, int64_t rows, int64_t columns) {
  const bool is_wide = rows < columns;
  const Output least = integer_constant(scope, std::min(rows, columns));
  const Output w = is_wide ? f.v : f.u, dw = is_wide ? f.dv : f.du;
  const Output beyond = other_columns(scope, w, least), of_beyond = other_columns(scope, dw, least);
  (is_wide ? f.v : f.u) = first_columns(scope, w, least);
  (is_wide ? f.dv : f.du) = first_columns(scope, dw, least);
  const Output scale = matrix_diag(scope, safe_reciprocal(scope, f.s));
  const Output inner = product(scope, is_wide ? f.v : f.u, of_beyond, Factor::Adjoint);
  const Output outer = product(scope, product(scope, scale, inner), beyond, Factor::Plain, Factor::Adjoint);
  const Output added =
      is_wide ? product(scope, f.u, outer) : product(scope, outer, f.v, Factor::Adjoint, Factor::Adjoint);
  return sub(scope, thin_gradient(scope, f), added);
}

void svd_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  Output ds = context.gradient(0);
  if (is_complex(scope.dtype(ds))) ds = cast(scope, real_part(scope, ds), scope.dtype(ds));  // s is real
  if (!context.attr<bool>("compute_uv")) {
    const NodeId svd = scope.add("Svd", {context.input(0)}, {{"compute_uv", true}, {"full_matrices", false}});
    const Output right = product(scope, matrix_diag(scope, ds), {svd, 2}, Factor::Plain, Factor::Adjoint);
    return context.set(0, product(scope, {svd, 1}, right));
  }
  const Factors factors{context.output(0),   context.output(1),  context.output(2), ds,
                        context.gradient(1), context.gradient(2)};
  if (!context.attr<bool>("full_matrices")) return context.set(0, thin_gradient(scope, factors));
  const PartialShape shape = scope.shape(context.input(0));
  if (!shape.fully_known())
    throw Error(
        Status(Code::Unimplemented, "the gradient of Svd with full_matrices needs an input of known shape"));
  const int64_t rows = shape[shape.rank() - 2], columns = shape[shape.rank() - 1];
  if (std::abs(rows - columns) > 1)
    throw Error(Status(Code::Unimplemented, "Svd with full_matrices has no gradient for input of shape " +
                                                shape.text() + ": rows and columns differ by more than 1"));
  context.set(0,
              rows == columns ? thin_gradient(scope, factors) : full_gradient(scope, factors, rows, columns));
}

}  // namespace

void add_svd(OpLibrary& library) {
  library.op(OpDefBuilder("Svd")
                 .former_name("BatchSvd")
                 .input("input: T")
                 .output("s: T")
                 .output("u: T")
                 .output("v: T")
                 .attr("compute_uv: bool = true")
                 .attr("full_matrices: bool = false")
                 .attr("T: {double, float, half, complex64, complex128}")
                 .constructor("svd(input, compute_uv, full_matrices) -> s")
                 .shape(svd_shape)
                 .gradient(svd_gradient));
  library.kernel(cpu_kernel("Svd", check_svd, compute_svd).on("T", dtypes(MatrixTypes{})));
}

}  // namespace troupe
