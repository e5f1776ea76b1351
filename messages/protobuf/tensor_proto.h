// Tensors in the binary form of TensorFlow's TensorProto, which constants of graphs and some strings between ops have. All sizes
// are checked before memory is allocated. Source: tensorflow/core/framework/tensor.proto. Any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "messages/protobuf/fields.h"
#include "messages/values/tensor.h"

namespace troupe::protobuf {

/// A TensorProto whose dtype and shape were read. Refers to its bytes.
class TensorProto {
 public:
  /// Fails with InvalidArgument if the bytes are no TensorProto, or have an unknown dtype or one that has no elements in files, or
  /// a shape that is not fully known.
  static Result<TensorProto> parse(std::string_view bytes);
  /// Does the same for a TensorProto that leaves out dtype and shape.
  static Result<TensorProto> parse(std::string_view bytes, DType dtype, const Shape& shape);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  /// The number of values in fields of values; tensor_content has none. May be counted wrong if a field has an unexpected kind,
  /// which read() then refuses.
  uint64_t values() const;
  /// The memory that the elements take, with what strings hold, in bytes.
  uint64_t memory() const;
  /// Writes the elements to a tensor of this dtype and shape in host memory. If there are fewer values than elements, the last one
  /// is repeated. Fails with InvalidArgument "a tensor of float[2] has 3 bytes of tensor_content" if values, dtype and shape
  /// contradict each other.
  Status read(Tensor& tensor) const;

 private:
  Status read_values(Tensor& tensor) const;
  /// Reads the fields; returns dtype and shape, which may be missing.
  Result<std::pair<uint64_t, std::string_view>> read_fields(std::string_view bytes);

  DType dtype_ = DType::Invalid;
  Shape shape_;
  std::string_view content_;   ///< the bytes of all elements
  std::vector<Field> values_;  ///< the fields of values
};

/// Where the strings of a tensor stand: in tensor_content, or one by one in string_val, where TensorFlow's readers in Python find
/// them. Ops write what TensorFlow's op of that name does.
enum class StringForm : uint8_t { Content, Values };

/// Reads a TensorShapeProto. Fails with InvalidArgument if it is damaged, not fully known, or no shape.
Result<Shape> read_shape_proto(std::string_view message, DType dtype);
std::string write_shape_proto(const Shape& shape);

/// Returns the number of the field that has the values of a type, if they are not in tensor_content.
uint32_t values_field(DType dtype);
/// Appends the elements of a tensor in host memory, plain or strings, to a TensorProto in the field of values of their type.
void append_values(std::string& proto, const Tensor& tensor);

/// Returns the TensorProto of a tensor in host memory whose elements are plain or strings.
std::string write_tensor_proto(const Tensor& tensor, StringForm form = StringForm::Content);

}  // namespace troupe::protobuf
