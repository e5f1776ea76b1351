// Determinants of square matrices, in the last two dimensions, by LU factorization with partial pivoting (Eigen's PartialPivLU).
//   MatrixDeterminant(input)      the determinants; only a determinant that is itself too large becomes infinite
//   LogMatrixDeterminant(input)   sign, of absolute value 1, and log_abs_determinant, with det = sign exp(log_abs_determinant)
// A singular matrix has determinant 0, sign 0 and logarithm -infinity; a matrix without elements has determinant 1. Float, double,
// complex64, complex128; the logarithm of a complex determinant is a complex number without imaginary part. NaN gives NaN.
#include <Eigen/LU>
#include <cmath>

#include "kernels/constructors.h"
#include "kernels/ops/broadcast_gradients.h"
#include "kernels/ops/linalg/matrices-inl.h"
#include "kernels/ops/linalg/matrix_gradients.h"

namespace troupe {
namespace {

/// A number whose exponent may be outside of the range of T: value 2^exponent.
template <class T>
struct WideNumber {
  T value;
  int64_t exponent = 0;

  void multiply(T factor) {
    normalize(factor);
    value *= factor;
    normalize(value);
  }
  T result() const {
    const int shift = static_cast<int>(std::clamp<int64_t>(exponent, -1 << 16, 1 << 16));
    return scaled(value, shift);
  }

 private:
  static T scaled(T number, int shift) {
    if constexpr (is_complex_type<T>)
      return {std::ldexp(number.real(), shift), std::ldexp(number.imag(), shift)};
    else
      return std::ldexp(number, shift);
  }
  /// Moves the exponent of the number to `exponent`.
  void normalize(T& number) {
    auto size = std::abs(std::real(number));
    if constexpr (is_complex_type<T>) size = std::max(size, std::abs(number.imag()));
    if (!std::isfinite(size) || size == 0) return;
    const int shift = std::ilogb(size);
    number = scaled(number, -shift);
    exponent += shift;
  }
};

template <class T>
T sign_of(T x) {
  if constexpr (is_complex_type<T>)
    return x == T{} ? x : x / std::abs(x);
  else
    return x == 0 || std::isnan(x) ? x : std::copysign(T(1), x);
}

struct DeterminantArguments {
  const Tensor& input;
  Tensor& determinant;    ///< or its sign
  Tensor* log = nullptr;  ///< null: the determinant itself is wanted
};

Status determinant_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const MatrixShape input, square_matrix_shape(context.input(0), "input"));
  for (size_t i = 0; i < context.node().output_types.size(); ++i) context.set_output(i, input.batch);
  return {};
}

Result<DeterminantArguments> check_determinant(KernelContext& context) {
  const Tensor& input = context.input(0);
  TROUPE_ASSIGN(const MatrixShape matrices, square_matrix_shape(input.shape(), "input"));
  TROUPE_ASSIGN(const Shape shape, matrices.batch.to_shape(input.dtype()));
  TROUPE_ASSIGN(Tensor* const determinant, context.output(0, shape));
  DeterminantArguments arguments{input, *determinant};
  if (context.outputs().size() == 2) {
    TROUPE_ASSIGN(arguments.log, context.output(1, shape));
  }
  return arguments;
}

/// The determinant that LU factors give, or its sign and the logarithm of its absolute value.
template <class T>
void write_determinant(const Eigen::PartialPivLU<Matrix<T>>& factors, T& determinant, T* log) {
  const auto pivots = factors.matrixLU().diagonal();
  const T sign = factors.permutationP().determinant() > 0 ? T(1) : T(-1);
  if (!log) {
    WideNumber<T> result{sign};
    for (int64_t i = 0; i < pivots.size(); ++i) result.multiply(pivots[i]);
    determinant = result.result();
    return;
  }
  determinant = sign;
  *log = T(0);
  for (int64_t i = 0; i < pivots.size(); ++i) {
    determinant *= sign_of<T>(pivots[i]);
    *log += T(std::log(std::abs(pivots[i])));
  }
}

template <class T>
Status compute_determinants(const DeterminantArguments& arguments, DeviceContext& device) {
  const Matrices<const T> input(arguments.input);
  T* const determinant = arguments.determinant.write<T>().data();
  T* const log = arguments.log ? arguments.log->write<T>().data() : nullptr;
  const int64_t n = input.rows();
  const auto count = static_cast<size_t>(arguments.determinant.elements());
  return for_each_matrix(device.pool(), count, n * n * n / 3 + 1, [&] {
    return [&, factors = Eigen::PartialPivLU<Matrix<T>>(n)](size_t i) mutable {
      if (n != 0) {
        factors.compute(input[i]);
        write_determinant(factors, determinant[i], log ? log + i : nullptr);
        return Status();
      }
      determinant[i] = T(1);
      if (log) log[i] = T(0);
      return Status();
    };
  });
}

Status compute_determinant(const DeterminantArguments& arguments, DeviceContext& device) {
  Status status;
  with_type(MatrixTypes{}, arguments.input.dtype(),
            [&]<class T>(std::type_identity<T>) { status = compute_determinants<T>(arguments, device); });
  return status;
}

/// The inverses of the adjoints of the input, times one factor for each.
Output scaled_inverse(GradientContext& context, Output factors) {
  const Scope& scope = context.scope();
  const Output inverse = scope.add_one("MatrixInverse", {context.input(0)}, {{"adjoint", true}});
  return mul(scope, as_matrices(scope, factors), inverse);
}

void determinant_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output determinant = conjugate(scope, context.output(0));
  context.set(0, scaled_inverse(context, mul(scope, context.gradient(), determinant)));
}

/// The sign of a complex determinant changes, too: by Im(gradient conj(sign)) for each unit of the imaginary part of the trace
/// of A^-1 dA, while the logarithm changes by the real part.
void log_determinant_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  Output factors = context.gradient(1);
  if (is_complex(scope.dtype(factors))) {
    const Output turn = mul(scope, context.gradient(0), conjugate(scope, context.output(0)));
    factors = scope.add_one("Complex", {real_part(scope, factors), imaginary_part(scope, turn)},
                            {{"Tout", scope.dtype(factors)}});
  }
  context.set(0, scaled_inverse(context, factors));
}

}  // namespace

void add_determinant_ops(OpLibrary& library) {
  library.op(OpDefBuilder("MatrixDeterminant")
                 .former_name("BatchMatrixDeterminant")
                 .input("input: T")
                 .output("output: T")
                 .attr("T: {half, float, double, complex64, complex128}")
                 .constructor("matrix_determinant(input)")
                 .shape(determinant_shape)
                 .gradient(determinant_gradient));
  library.op(OpDefBuilder("LogMatrixDeterminant")
                 .input("input: T")
                 .output("sign: T")
                 .output("log_abs_determinant: T")
                 .attr("T: {half, float, double, complex64, complex128}")
                 .constructor("log_matrix_determinant(input)")
                 .shape(determinant_shape)
                 .gradient(log_determinant_gradient));
  for (const char* op : {"MatrixDeterminant", "LogMatrixDeterminant"})
    library.kernel(cpu_kernel(op, check_determinant, compute_determinant).on("T", dtypes(MatrixTypes{})));
}

}  // namespace troupe
