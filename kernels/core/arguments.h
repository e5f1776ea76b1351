// What array ops share: reading arguments that are numbers rather than data (axes, sizes, shapes), and shapes
// inside gradients. Free functions without state; any thread.
#pragma once

#include <string_view>

#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/core/dims.h"
#include "kernels/core/kernel.h"

#pragma GCC visibility push(default)
namespace troupe {

/// The elements of an int32 or int64 tensor in host memory, whatever its shape.
Dims integers(const Tensor& tensor);
/// The one element of an integer scalar (or of a vector of one, as TensorFlow allows); InvalidArgument names
/// the argument.
Result<int64_t> integer_scalar(const Tensor& tensor, std::string_view argument);
/// The elements of an integer vector; InvalidArgument names the argument.
Result<Dims> integer_vector(const Tensor& tensor, std::string_view argument);

/// "indices[0,2]": how an error names element number `element` of an argument; a scalar goes by its name alone.
std::string element_name(std::string_view argument, const Shape& shape, int64_t element);
/// InvalidArgument "indices[0,2] = 7 is not in [0, 4)" for the first element of an integer tensor outside [0, limit).
Status check_indices(const Tensor& indices, int64_t limit, std::string_view argument = "indices");

/// In a shape function: the value of input i, a constant integer scalar, or nothing when it is not known.
std::optional<int64_t> constant_integer(const ShapeContext& context, size_t i);
/// In a shape function: what is known of the shape that input i, an integer vector, spells out; -1 stays
/// unknown. InvalidArgument for a negative dimension other than -1, or a wrong rank.
Result<PartialShape> shape_from_input(const ShapeContext& context, size_t i);

/// What is known of a shape, as a PartialShape.
PartialShape partial(std::span<const int64_t> dims);

/// In a gradient: the shape of `x` as a vector of int32 or int64; a constant when it is known.
Output shape_of(const Scope& scope, Output x, DType dtype = DType::Int32);
/// Constants of dtype int32 or int64: a scalar, a vector.
Output integer_constant(const Scope& scope, int64_t value, DType dtype = DType::Int32);
Output integer_constants(const Scope& scope, std::span<const int64_t> values, DType dtype = DType::Int32);

}  // namespace troupe
#pragma GCC visibility pop
