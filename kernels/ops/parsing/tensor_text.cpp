// Tensors as strings, in the binary form of TensorFlow's TensorProto.
//   SerializeTensor(tensor)    a scalar
//   ParseTensor(serialized)    the tensor of a scalar string, whose dtype must be out_type
// InvalidArgument for bytes that are no TensorProto, or of another dtype. The string of a TensorProto may be much shorter than its
// tensor, because the last value of a field stands for all that follow: see repeated_limit.
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "messages/protobuf/tensor_proto.h"

namespace troupe {
namespace {

struct SerializeTensorArguments {
  const Tensor& tensor;
  Tensor& output;
};

struct ParseTensorArguments {
  const std::string& serialized;
  DType dtype;
  protobuf::TensorProto proto = {};
  Tensor* output = nullptr;
};

/// A tensor whose elements are written out takes at most this many bytes for each byte of its string (an empty string takes 32).
constexpr uint64_t bytes_per_byte = 64;
/// A tensor that repeats its last value takes at most this many bytes.
constexpr uint64_t repeated_limit = uint64_t{1} << 30;

Result<SerializeTensorArguments> check_serialize_tensor(KernelContext& context) {
  TROUPE_ASSIGN(Tensor* const output, context.output(0, Shape{}));
  return SerializeTensorArguments{context.input(0), *output};
}

void compute_serialize_tensor(const SerializeTensorArguments& arguments, DeviceContext&) {
  arguments.output.write<std::string>()[0] =
      protobuf::write_tensor_proto(arguments.tensor, protobuf::StringForm::Values);
}

Status parse_tensor_shape(ShapeContext& context) {
  if (const Tensor* const serialized = context.constant(0); serialized && serialized->shape().is_scalar()) {
    TROUPE_ASSIGN(const auto proto, protobuf::TensorProto::parse(serialized->as<std::string>()[0]));
    context.set_output(0, proto.shape());
  }
  return {};
}

Result<ParseTensorArguments> check_parse_tensor(KernelContext& context) {
  const Tensor& serialized = context.input(0);
  if (!serialized.shape().is_scalar())
    return invalid_argument("serialized has shape " + serialized.shape().text() + "; it must be a scalar");
  return ParseTensorArguments{serialized.as<std::string>()[0], context.node().attrs.get<DType>("out_type")};
}

Status measure_parse_tensor(ParseTensorArguments& arguments, DeviceContext&) {
  TROUPE_ASSIGN(arguments.proto, protobuf::TensorProto::parse(arguments.serialized));
  if (arguments.proto.dtype() != arguments.dtype)
    return invalid_argument("the string holds a tensor of " + std::string(name(arguments.proto.dtype())) +
                            ", but out_type is " + std::string(name(arguments.dtype)));
  const uint64_t limit = std::max(bytes_per_byte * arguments.serialized.size(), repeated_limit);
  if (arguments.proto.memory() <= limit) return {};
  return invalid_argument("a string of " + std::to_string(arguments.serialized.size()) +
                          " bytes holds a tensor of shape " + arguments.proto.shape().text() +
                          ", which takes " + std::to_string(arguments.proto.memory()) + " bytes; at most " +
                          std::to_string(limit) + " are allowed");
}

Status allocate_parse_tensor(ParseTensorArguments& arguments, KernelContext& context) {
  TROUPE_ASSIGN(arguments.output, context.output(0, arguments.proto.shape()));
  return {};
}

Status compute_parse_tensor(const ParseTensorArguments& arguments, DeviceContext&) {
  return arguments.proto.read(*arguments.output);
}

}  // namespace

void add_tensor_text_ops(OpLibrary& library) {
  library.op(OpDefBuilder("SerializeTensor")
                 .input("tensor: T")
                 .output("serialized: string")
                 .attr("T: type")
                 .constructor("serialize_tensor(tensor)")
                 .shape(scalar_shape)
                 .not_differentiable());
  library.op(OpDefBuilder("ParseTensor")
                 .input("serialized: string")
                 .output("output: out_type")
                 .attr("out_type: type")
                 .constructor("parse_tensor(serialized, out_type)")
                 .shape(parse_tensor_shape)
                 .not_differentiable());
  library.kernel(cpu_kernel("SerializeTensor", check_serialize_tensor, compute_serialize_tensor));
  library.kernel(measured_cpu_kernel("ParseTensor", check_parse_tensor, measure_parse_tensor,
                                     allocate_parse_tensor, compute_parse_tensor));
}

}  // namespace troupe
