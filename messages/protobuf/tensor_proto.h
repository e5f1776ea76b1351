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

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  /// The memory that the elements take, with what strings hold, in bytes.
  uint64_t memory() const;
  /// Writes the elements to a tensor of this dtype and shape in host memory. If there are fewer values than elements, the last one
  /// is repeated. Fails with InvalidArgument "a tensor of float[2] has 3 bytes of tensor_content" if values, dtype and shape
  /// contradict each other.
  Status read(Tensor& tensor) const;

 private:
  Status read_values(Tensor& tensor) const;

  DType dtype_ = DType::Invalid;
  Shape shape_;
  std::string_view content_;   ///< the bytes of all elements
  std::vector<Field> values_;  ///< the fields of values
};

/// Where the strings of a tensor stand: in tensor_content, or one by one in string_val, where TensorFlow's readers in Python find
/// them. Ops write what TensorFlow's op of that name does.
enum class StringForm : uint8_t { Content, Values };

/// Returns the TensorProto of a tensor in host memory whose elements are plain or strings.
std::string write_tensor_proto(const Tensor& tensor, StringForm form = StringForm::Content);

}  // namespace troupe::protobuf
