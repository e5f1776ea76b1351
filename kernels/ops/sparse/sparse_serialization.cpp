// Sparse tensors as strings: three TensorProtos, of the indices, the values and the dense shape. Any dtype.
//   SerializeSparse(indices, values, shape)       the three strings of a sparse tensor: [3]
//   SerializeManySparse(indices, values, shape)   those of each row of a sparse tensor of rank 2 or more: [rows, 3]
//   DeserializeManySparse(serialized)             the sparse tensors of [n, 3] strings, stacked along a new first dimension. Each
//                                                 dimension of the result is the greatest of theirs.
//   DeserializeSparse(serialized)                 the same for [..., 3] strings, with a new dimension for each but their last one
// Fails with InvalidArgument for strings that are not three TensorProtos of int64 indices, values of the dtype and an int64 shape
// that fit each other, for different ranks, and if there are no strings, because the rank is unknown. SerializeManySparse fails for
// positions outside `shape` or not in row-major order; the others do not read the positions. Strings for dtype variant, which
// TensorFlow offers too, are refused. Source: tensorflow/core/kernels/serialize_sparse_op.cc, deserialize_sparse_string_op.cc.
#include <array>
#include <vector>

#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/ops/sparse/sparse_tensor.h"
#include "messages/protobuf/tensor_proto.h"

namespace troupe {
namespace {

constexpr int64_t parts = 3;  // indices, values, shape

// ---- SerializeSparse, SerializeManySparse

struct SerializeArguments {
  SparseTensor input;
  const Tensor& shape;
  Tensor& serialized;
};

Status serialize_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(sparse_shape(context, SparseInputs::from(0)).status());
  context.set_output(0, PartialShape{parts});
  return {};
}

Status serialize_many_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(sparse_shape(context, SparseInputs::from(0)).status());
  const auto dims = context.constant_integers(2);
  context.set_output(0, PartialShape{dims && !dims->empty() ? (*dims)[0] : unknown_dim, parts});
  return {};
}

Result<SerializeArguments> check_serialize(KernelContext& context) {
  TROUPE_ASSIGN(SparseTensor input, read_sparse(context, SparseInputs::from(0)));
  TROUPE_ASSIGN(Tensor* const serialized, context.output(0, Shape{parts}));
  return SerializeArguments{std::move(input), context.input(2), *serialized};
}

Result<SerializeArguments> check_serialize_many(KernelContext& context) {
  TROUPE_ASSIGN(SparseTensor input, read_sparse(context, SparseInputs::from(0)));
  if (input.rank() < 2)
    return invalid_argument("the sparse tensor has shape " + text_of(input.dims) +
                            "; its rank must be at least 2");
  TROUPE_ASSIGN(const Shape rows, Shape::make(std::array{input.dims[0], parts}, DType::String));
  TROUPE_ASSIGN(Tensor* const serialized, context.output(0, rows));
  return SerializeArguments{std::move(input), context.input(2), *serialized};
}

void compute_serialize(const SerializeArguments& arguments, DeviceContext&) {
  const auto to = arguments.serialized.write<std::string>();
  to[0] = protobuf::write_tensor_proto(arguments.input.indices);
  to[1] = protobuf::write_tensor_proto(arguments.input.values);
  to[2] = protobuf::write_tensor_proto(arguments.shape);
}

/// Returns the indices of entries [begin, end) without their first column.
Result<Tensor> indices_in_row(DeviceContext& device, const SparseTensor& input, int64_t begin, int64_t end) {
  const auto rank = static_cast<int64_t>(input.rank());
  TROUPE_ASSIGN(const Shape shape, Shape::make(std::array{end - begin, rank - 1}, DType::Int64));
  TROUPE_ASSIGN(Tensor result, Tensor::allocate(DType::Int64, shape, device.host_memory()));
  const int64_t* from = input.indices.as<int64_t>().data() + begin * rank;
  int64_t* to = result.write<int64_t>().data();
  for (int64_t i = begin; i < end; ++i, from += rank) to = std::copy_n(from + 1, rank - 1, to);
  return result;
}

Status compute_serialize_many(const SerializeArguments& arguments, DeviceContext& device) {
  const SparseTensor& input = arguments.input;
  TROUPE_RETURN_IF_FAILED(ascending_numbers_of(device, input).status());
  const Tensor row_shape = Tensor::vector(std::span<const int64_t>(input.dims.begin() + 1, input.dims.end()));
  const std::string shape = protobuf::write_tensor_proto(row_shape);
  const auto indices = input.indices.as<int64_t>();
  const auto to = arguments.serialized.write<std::string>();
  const auto count = static_cast<int64_t>(input.count());
  int64_t end = 0;
  for (int64_t row = 0; row < input.dims[0]; ++row) {
    const int64_t begin = end;
    while (end < count && indices[static_cast<size_t>(end) * input.rank()] == row) ++end;
    TROUPE_ASSIGN(const Tensor positions, indices_in_row(device, input, begin, end));
    const auto at = static_cast<size_t>(row * parts);
    to[at] = protobuf::write_tensor_proto(positions);
    to[at + 1] = protobuf::write_tensor_proto(input.values.rows(begin, end));
    to[at + 2] = shape;
  }
  return {};
}

// ---- DeserializeManySparse, DeserializeSparse

/// One serialised tensor.
struct Serialized {
  protobuf::TensorProto indices, values;
  Dims dims;

  int64_t count() const { return indices.shape()[0]; }
};

struct DeserializeArguments {
  const Tensor& serialized;
  DType dtype;
  std::vector<Serialized> tensors = {};
  Dims dims = {};  ///< of the result
  int64_t count = 0;
  std::span<Tensor> outputs = {};

  std::span<const int64_t> outer_dims() const {
    const auto all = serialized.shape().dims();
    return all.first(all.size() - 1);
  }
};

Status check_strings(const PartialShape& shape) {
  if (!shape.known_rank()) return {};
  if (shape.rank() >= 1 && shape.compatible_with(PartialShape::of_rank(shape.rank())) &&
      (shape.dims().back() == unknown_dim || shape.dims().back() == parts))
    return {};
  return invalid_argument("serialized_sparse has shape " + shape.text() +
                          "; its last dimension must be 3, for indices, values and shape");
}

Status deserialize_shape(ShapeContext& context) {
  if (context.node().type() == "DeserializeManySparse")
    TROUPE_RETURN_IF_FAILED(context.with_rank(0, 2).status());
  TROUPE_RETURN_IF_FAILED(check_strings(context.input(0)));
  context.set_output(0, PartialShape{unknown_dim, unknown_dim});
  context.set_output(1, PartialShape{unknown_dim});
  context.set_output(2, PartialShape{unknown_dim});
  return {};
}

Result<DeserializeArguments> check_deserialize(KernelContext& context) {
  const Tensor& serialized = context.input(0);
  if (context.node().type() == "DeserializeManySparse") TROUPE_RETURN_IF_FAILED(check_rank(context, 0, 2));
  TROUPE_RETURN_IF_FAILED(check_strings(serialized.shape()));
  if (serialized.elements() == 0)
    return invalid_argument("serialized_sparse has shape " + serialized.shape().text() +
                            "; it must have at least one sparse tensor");
  return DeserializeArguments{serialized, context.node().attrs.get<DType>("dtype")};
}

std::string form_text(const protobuf::TensorProto& form) {
  return std::string(name(form.dtype())) + form.shape().text();
}

/// Returns dense dimensions, of a TensorProto of shape [rank].
Result<Dims> read_dims(const protobuf::TensorProto& form, DeviceContext& device) {
  TROUPE_ASSIGN(Tensor dims, Tensor::allocate(DType::Int64, form.shape(), device.host_memory()));
  TROUPE_RETURN_IF_FAILED(form.read(dims));
  TROUPE_RETURN_IF_FAILED(check_dense_shape(dims.as<int64_t>(), "the dense shape"));
  return Dims(dims.as<int64_t>());
}

/// Reads all but the elements of indices and values, after the strings' sizes were checked.
Result<Serialized> read_form(std::span<const std::string> strings, DType dtype, DeviceContext& device) {
  TROUPE_ASSIGN(protobuf::TensorProto indices, protobuf::TensorProto::parse(strings[0]));
  TROUPE_ASSIGN(protobuf::TensorProto values, protobuf::TensorProto::parse(strings[1]));
  TROUPE_ASSIGN(const protobuf::TensorProto shape, protobuf::TensorProto::parse(strings[2]));
  const Shape &i = indices.shape(), &v = values.shape(), &s = shape.shape();
  if (indices.dtype() != DType::Int64 || values.dtype() != dtype || shape.dtype() != DType::Int64 ||
      i.rank() != 2 || v.rank() != 1 || s.rank() != 1 || i[0] != v[0] || i[1] != s[0])
    return invalid_argument("the strings hold " + form_text(indices) + ", " + form_text(values) + " and " +
                            form_text(shape) + "; they must hold int64[n,rank], " + std::string(name(dtype)) +
                            "[n] and int64[rank]");
  TROUPE_ASSIGN(Dims dims, read_dims(shape, device));
  return Serialized{std::move(indices), std::move(values), std::move(dims)};
}

Status measure_deserialize(DeserializeArguments& arguments, DeviceContext& device) {
  const auto strings = arguments.serialized.as<std::string>();
  Dims greatest;
  for (size_t at = 0; at < strings.size(); at += parts) {
    const std::string which = "sparse tensor " + std::to_string(at / parts);
    auto read = read_form(strings.subspan(at, parts), arguments.dtype, device);
    if (!read) return Status(read.status().code(), which + ": " + read.status().text());
    if (at == 0) greatest = read->dims;
    if (read->dims.size() != greatest.size())
      return invalid_argument(which + " has rank " + std::to_string(read->dims.size()) +
                              ", but sparse tensor 0 has rank " + std::to_string(greatest.size()));
    for (size_t d = 0; d < greatest.size(); ++d) greatest[d] = std::max(greatest[d], read->dims[d]);
    arguments.count += read->count();
    arguments.tensors.push_back(std::move(*read));
  }
  arguments.dims = Dims(arguments.outer_dims());
  for (const int64_t dim : greatest) arguments.dims.push_back(dim);
  return {};
}

Status allocate_deserialize(DeserializeArguments& arguments, KernelContext& context) {
  TROUPE_RETURN_IF_FAILED(check_dense_shape(arguments.dims, "the dense shape of the result"));
  TROUPE_RETURN_IF_FAILED(indices_output(context, 0, arguments.count, arguments.dims.size()).status());
  TROUPE_RETURN_IF_FAILED(vector_output(context, 1, arguments.count).status());
  TROUPE_RETURN_IF_FAILED(set_shape_output(context, 2, arguments.dims));
  arguments.outputs = context.outputs();
  return {};
}

/// Writes the indices of one tensor behind its position among the tensors.
void write_row_indices(const Tensor& indices, const Dims& position, int64_t* to) {
  const auto rank = static_cast<size_t>(indices.shape()[1]);
  const int64_t* from = indices.as<int64_t>().data();
  for (int64_t i = 0; i < indices.shape()[0]; ++i, from += rank) {
    to = std::ranges::copy(position, to).out;
    to = std::copy_n(from, rank, to);
  }
}

void step_position(std::span<const int64_t> dims, Dims& position) {
  for (size_t d = dims.size(); d-- > 0;) {
    if (++position[d] < dims[d]) return;
    position[d] = 0;
  }
}

Status compute_deserialize(const DeserializeArguments& arguments, DeviceContext& device) {
  int64_t* const to = arguments.outputs[0].write<int64_t>().data();
  Dims position(arguments.outer_dims().size());
  int64_t first = 0;
  for (const Serialized& tensor : arguments.tensors) {
    TROUPE_ASSIGN(Tensor indices,
                  Tensor::allocate(DType::Int64, tensor.indices.shape(), device.host_memory()));
    TROUPE_RETURN_IF_FAILED(tensor.indices.read(indices));
    write_row_indices(indices, position, to + first * static_cast<int64_t>(arguments.dims.size()));
    Tensor values = arguments.outputs[1].rows(first, first + tensor.count());
    TROUPE_RETURN_IF_FAILED(tensor.values.read(values));
    first += tensor.count();
    step_position(arguments.outer_dims(), position);
  }
  return {};
}

}  // namespace

void add_sparse_serialization_ops(OpLibrary& library) {
  const auto serialize = [](const char* name) {
    return OpDefBuilder(name)
        .input("sparse_indices: int64")
        .input("sparse_values: T")
        .host_input("sparse_shape: int64")
        .output("serialized_sparse: out_type")
        .attr("T: type")
        .attr("out_type: {string} = string");
  };
  library.op(serialize("SerializeSparse").shape(serialize_shape));
  library.op(serialize("SerializeManySparse").shape(serialize_many_shape));
  library.kernel(cpu_kernel("SerializeSparse", check_serialize, compute_serialize));
  library.kernel(cpu_kernel("SerializeManySparse", check_serialize_many, compute_serialize_many));
  for (const char* name : {"DeserializeManySparse", "DeserializeSparse"}) {
    const bool many = std::string_view(name) == "DeserializeManySparse";
    OpDefBuilder op(name);
    op.input(many ? "serialized_sparse: string" : "serialized_sparse: Tserialized")
        .output("sparse_indices: int64")
        .output("sparse_values: dtype")
        .host_output("sparse_shape: int64")
        .attr("dtype: type");
    if (!many) op.attr("Tserialized: {string} = string");
    library.op(op.shape(deserialize_shape));
    library.kernel(measured_cpu_kernel(name, check_deserialize, measure_deserialize, allocate_deserialize,
                                       compute_deserialize));
  }
}

}  // namespace troupe
