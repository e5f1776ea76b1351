// Helpers shared by array ops: reading the inputs that are numbers rather than data (axes, sizes, shapes), and building shapes
// inside gradients. Free functions without state; any thread may call them.
#pragma once

#include <string_view>

#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/core/dims.h"
#include "kernels/core/kernel.h"

#pragma GCC visibility push(default)
namespace troupe {

/// Returns the elements of an int32 or int64 tensor in host memory, whatever its shape.
Dims integers(const Tensor& tensor);
/// Returns the value of an integer scalar, or of a vector with one element, as TensorFlow allows. Fails with InvalidArgument,
/// naming the argument, for any other shape.
Result<int64_t> integer_scalar(const Tensor& tensor, std::string_view argument);
/// Returns the elements of an integer vector. Fails with InvalidArgument, naming the argument, if the tensor is no vector.
Result<Dims> integer_vector(const Tensor& tensor, std::string_view argument);

/// Returns the text by which an error names element number `element` of an argument: "indices[0,2]", or only the argument's
/// name if the argument is a scalar.
std::string element_name(std::string_view argument, const Shape& shape, int64_t element);
/// Fails with InvalidArgument "indices[0,2] = 7 is not in [0, 4)" if an element of an integer tensor is outside [0, limit). The
/// error names the first such element.
Status check_indices(const Tensor& indices, int64_t limit, std::string_view argument = "indices");

/// For shape functions: returns the value of input i if it is a constant integer scalar, else nothing.
std::optional<int64_t> constant_integer(const ShapeContext& context, size_t i);
/// For shape functions: returns what is known of the shape whose dimensions are the elements of input i, an integer vector. A
/// dimension of -1 is unknown. Fails with InvalidArgument if a dimension is less than -1 or input i is no vector.
Result<PartialShape> shape_from_input(const ShapeContext& context, size_t i);

/// Returns the dimensions as a PartialShape; -1 is unknown.
PartialShape partial(std::span<const int64_t> dims);

/// For gradients: returns the shape of `x` as a vector of int32 or int64. The result is a constant if the shape is known.
Output shape_of(const Scope& scope, Output x, DType dtype = DType::Int32);
/// Return a constant of dtype int32 or int64: a scalar, or a vector.
Output integer_constant(const Scope& scope, int64_t value, DType dtype = DType::Int32);
Output integer_constants(const Scope& scope, std::span<const int64_t> values, DType dtype = DType::Int32);

}  // namespace troupe
#pragma GCC visibility pop
