// Discrete Fourier transforms over the last 1, 2 or 3 dimensions; the others count signals. complex64 and complex128, and the
// real types that go with them.
//   FFT, FFT2D, FFT3D(input)                   y[k] = sum over j of x[j] exp(-2 pi i j k / n), along each of the dimensions
//   IFFT, IFFT2D, IFFT3D(input)                the inverses: the exponent has the other sign, and the sums are divided by n
//   RFFT, RFFT2D, RFFT3D(input, fft_length)    those of real signals: the elements 0 to n / 2 of the last dimension, which say all
//   IRFFT, IRFFT2D, IRFFT3D(input, fft_length) the inverses of those, which are real
// fft_length holds the sizes of the signals; of an input that has more elements the first ones are used. InvalidArgument if it
// has fewer, for a negative size, and for one above 2^27. Lines are transformed one by one (fourier.h), one dimension after
// the other, so the time is proportional to n log n for any n.
#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/scratch.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops/linalg/fourier.h"

namespace troupe {
namespace {

/// What the name of an op says.
struct Kind {
  bool inverse, real;
  size_t rank;  ///< the number of dimensions that are transformed

  static Kind of(std::string_view op) {
    Kind kind{op.starts_with("I"), op.find("RFFT") != op.npos, 1};
    if (op.ends_with("D")) kind.rank = static_cast<size_t>(op[op.size() - 2] - '0');
    return kind;
  }
};

Status check_rank(std::span<const int64_t> dims, size_t rank) {
  if (dims.size() >= rank) return {};
  return invalid_argument("input of shape " + partial(dims).text() + " has fewer than " +
                          std::to_string(rank) + " dimensions to transform");
}

/// How many elements of a line of n the half of its spectrum has that says all.
int64_t half_of(int64_t n) { return n == 0 ? 0 : n / 2 + 1; }

/// The dimensions of input and output that take part: the input may have more.
struct Sizes {
  Dims read, output;
};

/// The sizes for real signals of size `lengths`; InvalidArgument if the input, where its dimensions are known, has fewer elements.
Result<Sizes> sizes_for(const Kind& kind, std::span<const int64_t> input, std::span<const int64_t> lengths) {
  if (lengths.size() != kind.rank)
    return invalid_argument("fft_length has " + std::to_string(lengths.size()) + " elements, expected " +
                            std::to_string(kind.rank));
  const size_t batch = input.size() - kind.rank;
  Sizes sizes{Dims(input), Dims(input)};
  for (size_t i = 0; i < kind.rank; ++i) {
    const int64_t n = lengths[i];
    if (n < 0 || n > longest_line)
      return invalid_argument("fft_length[" + std::to_string(i) + "] is " + std::to_string(n) +
                              ", which is not in [0, 2^27]");
    const int64_t spectrum = i + 1 == kind.rank ? half_of(n) : n;
    sizes.read[batch + i] = kind.inverse ? spectrum : n;
    sizes.output[batch + i] = kind.inverse ? n : spectrum;
    if (input[batch + i] != unknown_dim && input[batch + i] < sizes.read[batch + i])
      return invalid_argument("dimension " + std::to_string(batch + i) + " of input of shape " +
                              partial(input).text() + " is less than " +
                              std::to_string(sizes.read[batch + i]) + ", which fft_length needs");
  }
  return sizes;
}

Status fft_shape(ShapeContext& context) {
  const PartialShape& input = context.input(0);
  if (input.known_rank())
    TROUPE_RETURN_IF_FAILED(check_rank(input.dims(), Kind::of(context.node().type()).rank));
  return unchanged_shape(context);
}

Status real_fft_shape(ShapeContext& context) {
  const Kind kind = Kind::of(context.node().type());
  if ((context.attr<DType>("Treal") == f32) != (context.attr<DType>("Tcomplex") == DType::Complex64))
    return invalid_argument("Treal and Tcomplex differ in precision");
  TROUPE_ASSIGN(const PartialShape length, context.with_rank(1, 1));
  TROUPE_RETURN_IF_FAILED(merge(length, PartialShape::vector(static_cast<int64_t>(kind.rank))).status());
  const PartialShape& input = context.input(0);
  if (!input.known_rank()) return {};
  TROUPE_RETURN_IF_FAILED(check_rank(input.dims(), kind.rank));
  Dims dims(input.dims());
  if (const auto lengths = context.constant_integers(1)) {
    TROUPE_ASSIGN(const Sizes sizes, sizes_for(kind, input.dims(), *lengths));
    dims = sizes.output;
  } else {
    std::fill_n(dims.end() - kind.rank, kind.rank, unknown_dim);
  }
  context.set_output(0, partial(dims));
  return {};
}

struct FftArguments {
  const Tensor& input;
  Tensor& output;
  Kind kind;
  Dims read;  ///< the dimensions of the part of the input that is used
};

Result<FftArguments> check_fft(KernelContext& context) {
  const Tensor& input = context.input(0);
  const Kind kind = Kind::of(context.node().type());
  const auto dims = input.shape().dims();
  TROUPE_RETURN_IF_FAILED(check_rank(dims, kind.rank));
  for (const int64_t n : dims.last(kind.rank))
    if (n > longest_line)
      return invalid_argument("input of shape " + input.shape().text() + " has lines longer than 2^27");
  TROUPE_ASSIGN(Tensor* const output, context.output(0, input.shape()));
  return FftArguments{input, *output, kind, Dims(dims)};
}

Result<FftArguments> check_real_fft(KernelContext& context) {
  const Tensor& input = context.input(0);
  const Kind kind = Kind::of(context.node().type());
  TROUPE_RETURN_IF_FAILED(check_rank(input.shape().dims(), kind.rank));
  TROUPE_ASSIGN(const Dims lengths, integer_vector(context.input(1), "fft_length"));
  TROUPE_ASSIGN(Sizes sizes, sizes_for(kind, input.shape().dims(), lengths));
  TROUPE_ASSIGN(const Shape shape, Shape::make(sizes.output, context.node().output_types[0].dtype));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return FftArguments{input, *output, kind, std::move(sizes.read)};
}

// ---- Lines

/// Calls transform(line, from, to) for lines of n elements: it fills the buffer `to` from the buffer `from`, both of n elements.
template <class T, class Fill, class Take>
void transform_lines(Pool& pool, size_t lines, int64_t n, bool inverse, Fill fill_line, Take take_line) {
  const auto length = static_cast<size_t>(n);
  parallel_rows(pool, lines, length * sizeof(T) * 16, [&](size_t begin, size_t end) {
    LineTransform<T> transform(n, inverse);
    std::vector<std::complex<T>> from(length), to(length);
    for (size_t line = begin; line < end; ++line) {
      fill_line(line, from.data());
      transform(from.data(), to.data());
      take_line(line, to.data());
    }
  });
}

/// Transforms along one axis, where the data lies.
template <class T>
void transform_axis(Pool& pool, std::span<const int64_t> dims, size_t axis, bool inverse,
                    std::complex<T>* data) {
  const int64_t n = dims[axis];
  size_t stride = 1, lines = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i > axis) stride *= static_cast<size_t>(dims[i]);
    if (i != axis) lines *= static_cast<size_t>(dims[i]);
  }
  const auto start_of = [=](size_t line) {
    return data + line / stride * stride * static_cast<size_t>(n) + line % stride;
  };
  const T scale = inverse ? 1 / static_cast<T>(n) : T(1);
  const auto count = static_cast<size_t>(n);
  transform_lines<T>(
      pool, lines, n, inverse,
      [=](size_t line, std::complex<T>* buffer) {
        const std::complex<T>* const from = start_of(line);
        for (size_t i = 0; i < count; ++i) buffer[i] = from[i * stride];
      },
      [=](size_t line, const std::complex<T>* buffer) {
        std::complex<T>* const to = start_of(line);
        for (size_t i = 0; i < count; ++i) to[i * stride] = buffer[i] * scale;
      });
}

/// Transforms along the `count` axes from `first` on.
template <class T>
void transform_axes(Pool& pool, std::span<const int64_t> dims, size_t first, size_t count, bool inverse,
                    std::complex<T>* data) {
  for (size_t axis = first; axis < first + count; ++axis) transform_axis(pool, dims, axis, inverse, data);
}

/// Copies the first elements of each dimension of the input.
void copy_part(Pool& pool, const Tensor& input, std::span<const int64_t> dims, Tensor& to) {
  strided_copy(pool, dims, input, {0, strides_of(input.shape().dims())}, to, {0, strides_of(dims)});
}

template <class T>
void compute_complex(const FftArguments& arguments, Pool& pool) {
  const auto [inverse, real, rank] = arguments.kind;
  copy_part(pool, arguments.input, arguments.read, arguments.output);
  transform_axes(pool, arguments.read, arguments.read.size() - rank, rank, inverse,
                 arguments.output.write<std::complex<T>>().data());
}

template <class T>
Status compute_forward(const FftArguments& arguments, DeviceContext& device) {
  const Dims& read = arguments.read;
  const auto n = static_cast<size_t>(read.back()), half = static_cast<size_t>(half_of(read.back()));
  const auto lines = static_cast<size_t>(arguments.output.elements()) / half;
  TROUPE_ASSIGN(Tensor part, scratch_vector<T>(device, static_cast<int64_t>(lines * n)));
  copy_part(device.pool(), arguments.input, read, part);
  const T* const from = part.as<T>().data();
  std::complex<T>* const to = arguments.output.write<std::complex<T>>().data();
  transform_lines<T>(
      device.pool(), lines, read.back(), false,
      [=](size_t line, std::complex<T>* buffer) { std::copy_n(from + line * n, n, buffer); },
      [=](size_t line, const std::complex<T>* buffer) { std::copy_n(buffer, half, to + line * half); });
  const size_t rank = arguments.kind.rank;
  transform_axes(device.pool(), arguments.output.shape().dims(), read.size() - rank, rank - 1, false, to);
  return {};
}

template <class T>
Status compute_inverse_fft(const FftArguments& arguments, DeviceContext& device) {
  const Dims& read = arguments.read;
  const size_t rank = arguments.kind.rank;
  const int64_t length = arguments.output.shape().dims().back();
  const auto n = static_cast<size_t>(length), half = static_cast<size_t>(half_of(length));
  const auto lines = static_cast<size_t>(arguments.output.elements()) / n;
  TROUPE_ASSIGN(Tensor part, scratch_vector<std::complex<T>>(device, static_cast<int64_t>(lines * half)));
  copy_part(device.pool(), arguments.input, read, part);
  std::complex<T>* const from = part.write<std::complex<T>>().data();
  transform_axes(device.pool(), read, read.size() - rank, rank - 1, true, from);
  T* const to = arguments.output.write<T>().data();
  const T scale = 1 / static_cast<T>(n);
  // The real part of the sum over half the spectrum, in which an element stands for its mirror image, too.
  transform_lines<T>(
      device.pool(), lines, length, true,
      [=](size_t line, std::complex<T>* buffer) {
        for (size_t k = 0; k < half; ++k)
          buffer[k] = from[line * half + k] * (k == 0 || 2 * k == n ? scale : 2 * scale);
        std::fill(buffer + half, buffer + n, std::complex<T>());
      },
      [=](size_t line, const std::complex<T>* buffer) {
        for (size_t i = 0; i < n; ++i) to[line * n + i] = buffer[i].real();
      });
  return {};
}

Status compute_fft(const FftArguments& arguments, DeviceContext& device) {
  if (arguments.output.elements() == 0) return {};
  Status status;
  const auto& [inverse, real, rank] = arguments.kind;
  const DType dtype = real && inverse ? arguments.output.dtype() : arguments.input.dtype();
  const auto compute = [&]<class T>(std::type_identity<T>) {
    if (!arguments.kind.real)
      compute_complex<T>(arguments, device.pool());
    else
      status = arguments.kind.inverse ? compute_inverse_fft<T>(arguments, device)
                                      : compute_forward<T>(arguments, device);
  };
  if (dtype == f32 || dtype == DType::Complex64)
    compute(std::type_identity<float>{});
  else
    compute(std::type_identity<double>{});
  return status;
}

// ---- Gradients

/// The sizes of the last dimensions of a tensor, as a vector of int32, in order.
Output last_sizes(const Scope& scope, Output x, size_t count) {
  const Output start = sub(scope, rank(scope, x), static_cast<int>(count));
  return slice(scope, shape_of(scope, x), reshape(scope, start, integer_constants(scope, Dims{1})),
               integer_constants(scope, Dims{static_cast<int64_t>(count)}));
}

/// The product of sizes, as a scalar of a floating or complex type.
Output element_count(const Scope& scope, Output sizes, DType dtype) {
  const DType real = dtype == f32 || dtype == DType::Complex64 ? f32 : f64;
  return cast(scope, prod(scope, cast(scope, sizes, real)), dtype);
}

/// The tensor in the first elements of one of this shape, with zeros elsewhere.
Output padded_to(const Scope& scope, Output x, Output shape) {
  const Output after = sub(scope, shape, shape_of(scope, x));
  return pad(scope, x, stack(scope, {zeros_like(scope, after), after}, 1));
}

std::string op_of(bool inverse, bool real, size_t rank) {
  const std::string name = std::string(inverse ? "I" : "") + (real ? "RFFT" : "FFT");
  return rank == 1 ? name : name + std::to_string(rank) + "D";
}

void fft_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Kind kind = Kind::of(context.node().type());
  const Output g = context.gradient();
  const Output other = scope.add_one(op_of(!kind.inverse, false, kind.rank), {g});
  const Output count = element_count(scope, last_sizes(scope, g, kind.rank), scope.dtype(g));
  context.set(0, kind.inverse ? div(scope, other, count) : mul(scope, other, count));
}

/// The real part of the sum of g[k] exp(2 pi i j k / n) over the elements k that the output has.
void real_fft_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const size_t rank_of = Kind::of(context.node().type()).rank;
  const Output g = context.gradient(), lengths = context.input(1);
  const DType real = context.attr<DType>("Treal");
  const Output batch = sub(scope, rank(scope, g), static_cast<int>(rank_of));
  const Output batch_dims = slice(scope, shape_of(scope, g), integer_constants(scope, Dims{0}),
                                  reshape(scope, batch, integer_constants(scope, Dims{1})));
  const Output whole = padded_to(scope, g, concat(scope, {batch_dims, lengths}, 0));
  const Output sums =
      scope.add_one("Real", {scope.add_one(op_of(true, false, rank_of), {whole})}, {{"Tout", real}});
  const Output scaled = mul(scope, sums, element_count(scope, lengths, real));
  context.set(0, padded_to(scope, scaled, shape_of(scope, context.input(0))));
}

/// The transform of the gradient; an element that stands for its mirror image, too, counts twice.
void inverse_real_fft_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const size_t rank_of = Kind::of(context.node().type()).rank;
  const DType type = context.attr<DType>("Tcomplex");
  const Output g = context.gradient(), lengths = context.input(1);
  const Output spectrum = scope.add_one(op_of(false, true, rank_of), {g, lengths}, {{"Tcomplex", type}});
  const auto last = static_cast<int64_t>(rank_of) - 1;
  const Output n = reshape(
      scope, slice(scope, lengths, integer_constants(scope, Dims{last}), integer_constants(scope, Dims{1})),
      integer_constants(scope, Dims{}));
  const Output half = reshape(scope, last_sizes(scope, spectrum, 1), integer_constants(scope, Dims{}));
  const Output k = range(scope, integer_constant(scope, 0), half);
  const Output is_double = logical_and(scope, greater(scope, k, 0), less(scope, add(scope, k, k), n));
  const Output weights = add(scope, cast(scope, is_double, type), 1);
  const Output scaled = div(scope, mul(scope, spectrum, weights), element_count(scope, lengths, type));
  context.set(0, padded_to(scope, scaled, shape_of(scope, context.input(0))));
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return text;
}

void add_complex_fft(OpLibrary& library, const std::string& name) {
  library.op(OpDefBuilder(name)
                 .former_name("Batch" + name)
                 .input("input: Tcomplex")
                 .output("output: Tcomplex")
                 .attr("Tcomplex: {complex64, complex128} = complex64")
                 .constructor(lower_case(name) + "(input)")
                 .shape(fft_shape)
                 .gradient(fft_gradient));
  library.kernel(cpu_kernel(name, check_fft, compute_fft));
}

void add_real_fft(OpLibrary& library, const std::string& name, bool inverse) {
  library.op(
      OpDefBuilder(name)
          .input(inverse ? "input: Tcomplex" : "input: Treal")
          .host_input("fft_length: int32")
          .output(inverse ? "output: Treal" : "output: Tcomplex")
          .attr("Treal: {float, double} = float")
          .attr("Tcomplex: {complex64, complex128} = complex64")
          .constructor(lower_case(name) + "(input, fft_length, dtype: " + (inverse ? "Treal)" : "Tcomplex)"))
          .shape(real_fft_shape)
          .gradient(inverse ? inverse_real_fft_gradient : real_fft_gradient));
  library.kernel(cpu_kernel(name, check_real_fft, compute_fft));
}

}  // namespace

void add_fft_ops(OpLibrary& library) {
  for (const bool inverse : {false, true})
    for (const size_t rank : {1, 2, 3}) {
      add_complex_fft(library, op_of(inverse, false, rank));
      add_real_fft(library, op_of(inverse, true, rank), inverse);
    }
}

}  // namespace troupe
