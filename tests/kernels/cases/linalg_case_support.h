// Matrices for the samples of the ops of linear algebra.
#pragma once

#include <complex>
#include <span>

#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {

inline Tensor as_floats(const Tensor& tensor) { return converted(tensor, f32); }

/// Returns complex numbers whose parts are between -1 and 1.
inline Tensor complex_numbers(const Shape& shape, uint64_t seed = 1, DType dtype = DType::Complex128) {
  Tensor result = value_or_throw(Tensor::allocate(DType::Complex128, shape));
  const Tensor parts = random_doubles(Shape::vector(2 * shape.elements()), -1, 1, seed);
  std::ranges::copy(parts.as<double>(), reinterpret_cast<double*>(result.mutable_data()));
  return converted(result, dtype);
}

/// Adds 1 to 10 to the diagonals of random matrices, so that they are invertible and, as far as their lower triangle says, positive
/// definite.
inline Tensor strong_matrices(const Shape& shape, DType dtype = DType::Double, uint64_t seed = 1) {
  Tensor result = complex_numbers(shape, seed);
  if (dtype == DType::Double || dtype == DType::Float) result = random_doubles(shape, -1, 1, seed);
  const auto rows = static_cast<size_t>(shape[shape.rank() - 2]),
             n = static_cast<size_t>(shape[shape.rank() - 1]);
  for (size_t i = 0; i < static_cast<size_t>(shape.elements()); ++i) {
    const size_t row = i / n % rows, column = i % n;
    if (row != column) continue;
    const double strength = static_cast<double>(2 * n + row);
    if (result.dtype() == DType::Double)
      result.write<double>()[i] = strength;
    else
      result.write<std::complex<double>>()[i] = strength;
  }
  return converted(result, dtype);
}

inline constexpr std::array matrix_types = {DType::Double, DType::Float, DType::Complex64, DType::Complex128};

inline void add_bad_squares(OpCases& cases, const char* op, const Attributes& attrs = {},
                            DType dtype = DType::Double) {
  cases.bad(op, {converted(filled(Shape{2, 3}), dtype)}, attrs, "[2,3] holds matrices that are not square");
  cases.bad(op, {converted(filled(Shape{3}), dtype)}, attrs, "[3] holds no matrices");
  cases.bad(op, {converted(one(), dtype)}, attrs, "[] holds no matrices");
  cases.bad(op, {ints(Shape{1, 1}, {1})}, attrs, "T is int32");
}

/// Samples of an op of square matrices, in every type that it has: at first the type that is differentiated, then that of large
/// samples.
inline void add_squares(OpCases& cases, const char* op, const Attributes& attrs = {},
                        std::span<const DType> types = matrix_types) {
  for (const DType dtype : types) {
    cases.good(op, {strong_matrices(Shape{3, 3}, dtype)}, attrs);
    cases.good(op, {strong_matrices(Shape{2, 1, 2, 2}, dtype)}, attrs);
  }
  cases.good(op, {strong_matrices(Shape{1, 1}, types[0])}, attrs);
  cases.good(op, {strong_matrices(Shape{0, 0}, types[0])}, attrs);
  for (const Shape& shape : {Shape{0, 3, 3}, Shape{5, 0, 0}, Shape{67, 67}, Shape{400, 9, 9}})
    cases.good(op, {strong_matrices(shape, types[1])}, attrs);
  add_bad_squares(cases, op, attrs, types[0]);
}

}  // namespace troupe::test
