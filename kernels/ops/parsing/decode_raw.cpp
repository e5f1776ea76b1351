// The bytes of strings as numbers.
//   DecodeRaw(bytes)                              strings of one length, a multiple of the size of out_type: [..., length / size]
//   DecodePaddedRaw(input_bytes, fixed_length)    strings of any length; each is cut off, or filled up with zeros, at fixed_length
// With little_endian = false the bytes of each number stand in the other order; a complex number is two. A byte of a bool that is
// not 0 is true. Fails with InvalidArgument for other lengths.
#include <algorithm>

#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"

namespace troupe {
namespace {

struct RawArguments {
  std::span<const std::string> strings;
  Shape shape;  ///< of the strings
  DType dtype;  ///< of the numbers
  bool is_reversed;
  size_t length = 0;  ///< the bytes that are taken of each string
  Tensor* output = nullptr;
};

/// The size of what is reversed as one.
size_t word_size(DType dtype) { return is_complex(dtype) ? size_of(dtype) / 2 : size_of(dtype); }

Status check_length(int64_t length, DType dtype, std::string_view what) {
  if (length % static_cast<int64_t>(size_of(dtype)) == 0) return {};
  return invalid_argument(std::string(what) + " is " + std::to_string(length) + ", no multiple of " +
                          std::to_string(size_of(dtype)) + ", the size of " + std::string(name(dtype)));
}

Status decode_raw_shape(ShapeContext& context) {
  const Tensor* const strings = context.constant(0);
  int64_t count = unknown_dim;
  if (strings)
    count = strings->elements() == 0 ? 0
                                     : static_cast<int64_t>(strings->as<std::string>()[0].size() /
                                                            size_of(context.attr<DType>("out_type")));
  context.set_output(0, concatenate(context.input(0), PartialShape{count}));
  return {};
}

Status check_fixed_length(int64_t length, DType dtype) {
  TROUPE_RETURN_IF_FAILED(check_length(length, dtype, "fixed_length"));
  if (length > 0) return {};
  return invalid_argument("fixed_length is " + std::to_string(length) + "; it must be positive");
}

Status decode_padded_raw_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 0).status());
  const auto length = constant_integer(context, 1);
  const auto dtype = context.attr<DType>("out_type");
  if (length) TROUPE_RETURN_IF_FAILED(check_fixed_length(*length, dtype));
  const int64_t count = length ? *length / static_cast<int64_t>(size_of(dtype)) : unknown_dim;
  context.set_output(0, concatenate(context.input(0), PartialShape{count}));
  return {};
}

RawArguments arguments_of(const KernelContext& context) {
  return {context.input(0).as<std::string>(), context.input(0).shape(),
          context.node().attrs.get<DType>("out_type"), !context.node().attrs.get<bool>("little_endian")};
}

Result<RawArguments> check_decode_raw(KernelContext& context) { return arguments_of(context); }

Result<RawArguments> check_decode_padded_raw(KernelContext& context) {
  RawArguments arguments = arguments_of(context);
  if (!context.input(1).shape().is_scalar())
    return invalid_argument("fixed_length has shape " + context.input(1).shape().text() +
                            "; it must be a scalar");
  const auto length = context.input(1).item<int32_t>();
  TROUPE_RETURN_IF_FAILED(check_fixed_length(length, arguments.dtype));
  arguments.length = static_cast<size_t>(length);
  return arguments;
}

Status measure_decode_raw(RawArguments& arguments, DeviceContext&) {
  const auto strings = arguments.strings;
  if (strings.empty()) return {};
  arguments.length = strings[0].size();
  const auto other =
      std::ranges::find_if(strings, [&](const std::string& one) { return one.size() != arguments.length; });
  if (other != strings.end())
    return invalid_argument("string 0 has " + std::to_string(arguments.length) + " bytes, string " +
                            std::to_string(other - strings.begin()) + " has " +
                            std::to_string(other->size()) + "; all must have the same number");
  return check_length(static_cast<int64_t>(arguments.length), arguments.dtype, "the length of the strings");
}

void measure_nothing(RawArguments&, DeviceContext&) {}

Status allocate_raw(RawArguments& arguments, KernelContext& context) {
  Dims dims(arguments.shape.dims());
  dims.push_back(static_cast<int64_t>(arguments.length / size_of(arguments.dtype)));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, arguments.dtype));
  TROUPE_ASSIGN(arguments.output, context.output(0, shape));
  return {};
}

void reverse_words(char* bytes, size_t size, size_t word) {
  for (char* const end = bytes + size; bytes != end; bytes += word) std::reverse(bytes, bytes + word);
}

void compute_raw(const RawArguments& arguments, DeviceContext& device) {
  const size_t length = arguments.length, word = word_size(arguments.dtype);
  char* const output = reinterpret_cast<char*>(arguments.output->mutable_data());
  if (length == 0) return;
  parallel_rows(device.pool(), arguments.strings.size(), 2 * length, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const std::string& from = arguments.strings[i];
      char* const to = output + i * length;
      const size_t size = std::min(from.size(), length);
      std::fill(std::copy_n(from.data(), size, to), to + length, '\0');
      if (arguments.is_reversed && word != 1) reverse_words(to, length, word);
      if (arguments.dtype == DType::Bool)
        std::transform(to, to + length, to, [](char byte) { return byte != 0 ? 1 : 0; });
    }
  });
}

}  // namespace

void add_decode_raw_ops(OpLibrary& library) {
  library.op(OpDefBuilder("DecodeRaw")
                 .input("bytes: string")
                 .output("output: out_type")
                 .attr("out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, complex64, "
                       "complex128, bool, bfloat16}")
                 .attr("little_endian: bool = true")
                 .constructor("decode_raw(bytes, out_type, little_endian)")
                 .shape(decode_raw_shape)
                 .not_differentiable());
  library.op(OpDefBuilder("DecodePaddedRaw")
                 .input("input_bytes: string")
                 .host_input("fixed_length: int32")
                 .output("output: out_type")
                 .attr("out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, bfloat16}")
                 .attr("little_endian: bool = true")
                 .constructor("decode_padded_raw(input_bytes, fixed_length, out_type, little_endian)")
                 .shape(decode_padded_raw_shape)
                 .not_differentiable());
  library.kernel(
      measured_cpu_kernel("DecodeRaw", check_decode_raw, measure_decode_raw, allocate_raw, compute_raw));
  library.kernel(measured_cpu_kernel("DecodePaddedRaw", check_decode_padded_raw, measure_nothing,
                                     allocate_raw, compute_raw));
}

}  // namespace troupe
