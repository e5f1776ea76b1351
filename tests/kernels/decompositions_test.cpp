// Tests of decompositions of matrices by what defines them: the product of the factors is the matrix, and the columns of factors
// are orthonormal. The signs and phases of these columns are arbitrary.
#include <boost/test/unit_test.hpp>

#include "tests/support/ops/op_case.h"

namespace troupe::test::decompositions_test {
namespace {

constexpr std::array matrix_types = {DType::Float, DType::Double, DType::Complex64, DType::Complex128};

Tensor single(std::vector<Tensor> outputs) { return std::move(outputs.front()); }

std::vector<Tensor> run(const std::string& op, const std::vector<Tensor>& inputs,
                        const Attributes& attrs = {}) {
  return value_or_throw(run_op(op, inputs, attrs));
}

Tensor random_matrices(const Shape& shape, DType dtype) {
  Tensor result = value_or_throw(Tensor::allocate(DType::Complex128, shape));
  const Tensor parts = random_doubles(Shape::vector(2 * shape.elements()), -1, 1);
  std::ranges::copy(parts.as<double>(), reinterpret_cast<double*>(result.mutable_data()));
  return converted(result, dtype);
}

/// x y, where y may be adjoint; all in complex128.
Tensor product(const Tensor& x, const Tensor& y, bool adj_x = false, bool adj_y = false) {
  return single(run("BatchMatMul", {converted(x, DType::Complex128), converted(y, DType::Complex128)},
                    {{"adj_x", adj_x}, {"adj_y", adj_y}}));
}

Tensor diagonal(const Tensor& values) { return single(run("MatrixDiag", {values})); }

void check_close(const Tensor& got, const Tensor& expected, DType precision, const std::string& what) {
  const Tensor a = converted(got, DType::Complex128), b = converted(expected, DType::Complex128);
  BOOST_TEST_REQUIRE((a.shape() == b.shape()), what);
  const double tolerance = precision == DType::Double || precision == DType::Complex128 ? 1e-11 : 1e-4;
  double largest = 0;
  for (size_t i = 0; i < static_cast<size_t>(a.elements()); ++i) {
    const double difference = std::abs(a.as<std::complex<double>>()[i] - b.as<std::complex<double>>()[i]);
    largest = std::isnan(difference) ? INFINITY : std::max(largest, difference);
  }
  BOOST_TEST(largest <= tolerance,
             what << " of " << name(precision) << " " << a.shape().text() << " differs by " << largest);
}

void check_orthonormal(const Tensor& columns, DType precision, const std::string& what) {
  const Tensor products = product(columns, columns, true);
  const auto dims = products.shape().dims();
  Tensor ones = value_or_throw(Tensor::allocate(
      DType::Double, value_or_throw(Shape::make(dims.first(dims.size() - 1), DType::Double))));
  std::ranges::fill(ones.write<double>(), 1.0);
  check_close(products, diagonal(ones), precision, what);
}

template <class Check>
void for_matrices(std::initializer_list<Shape> shapes, const Check& check) {
  for (const Shape& shape : shapes)
    for (const DType dtype : matrix_types) check(random_matrices(shape, dtype));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(decompositions)

BOOST_AUTO_TEST_CASE(qr_factors_multiply_to_the_matrix) {
  for (const bool full : {false, true})
    for_matrices({Shape{3, 3}, Shape{2, 5, 3}, Shape{2, 3, 5}, Shape{45, 40}}, [&](const Tensor& matrix) {
      const auto factors = run("Qr", {matrix}, {{"full_matrices", full}});
      check_close(product(factors[0], factors[1]), matrix, matrix.dtype(), "q r");
      check_orthonormal(factors[0], matrix.dtype(), "q^H q");
      const Tensor upper = single(
          run("MatrixBandPart", {factors[1], Tensor::scalar<int64_t>(0), Tensor::scalar<int64_t>(-1)}));
      check_close(upper, factors[1], matrix.dtype(), "the upper triangle of r");
    });
}

BOOST_AUTO_TEST_CASE(singular_vectors_and_values_multiply_to_the_matrix) {
  for_matrices({Shape{3, 3}, Shape{2, 5, 3}, Shape{2, 3, 5}, Shape{45, 40}}, [](const Tensor& matrix) {
    const auto thin = run("Svd", {matrix});
    check_close(product(product(thin[1], diagonal(thin[0])), thin[2], false, true), matrix, matrix.dtype(),
                "u s v^H");
    const auto full = run("Svd", {matrix}, {{"full_matrices", true}});
    const auto values = run("Svd", {matrix}, {{"compute_uv", false}});
    for (const size_t i : {1, 2}) {
      check_orthonormal(thin[i], matrix.dtype(), "singular vectors");
      check_orthonormal(full[i], matrix.dtype(), "singular vectors of whole matrices");
    }
    check_close(full[0], thin[0], matrix.dtype(), "singular values with whole matrices");
    check_close(values[0], thin[0], matrix.dtype(), "singular values alone");
  });
}

BOOST_AUTO_TEST_CASE(eigenvectors_and_values_multiply_to_the_matrix) {
  for_matrices({Shape{1, 1}, Shape{2, 4, 4}, Shape{40, 40}}, [](const Tensor& any) {
    const Tensor matrix = converted(product(any, any, false, true), any.dtype());
    const auto vectors = run("SelfAdjointEigV2", {matrix});
    const auto values = run("SelfAdjointEigV2", {matrix}, {{"compute_v", false}});
    check_close(product(product(vectors[1], diagonal(vectors[0])), vectors[1], false, true), matrix,
                matrix.dtype(), "v e v^H");
    check_orthonormal(vectors[1], matrix.dtype(), "v^H v");
    check_close(values[0], vectors[0], matrix.dtype(), "eigenvalues alone");
  });
}

BOOST_AUTO_TEST_CASE(the_former_op_has_eigenvalues_above_their_vectors) {
  for (const Shape& shape : {Shape{1, 1}, Shape{2, 4, 4}, Shape{40, 40}})
    for (const DType dtype : {DType::Float, DType::Double}) {
      const Tensor matrix = converted(random_doubles(shape, -1, 1), dtype);
      const auto parts = run("SelfAdjointEigV2", {matrix});
      const Tensor values = single(run("ExpandDims", {parts[0], int_scalar(-2)}));
      const Tensor expected = single(run("ConcatV2", {values, parts[1], int_scalar(-2)}));
      check_close(single(run("SelfAdjointEig", {matrix})), expected, dtype, "e above v");
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::decompositions_test
