// OnnxModel: a model in the form of ONNX while it is made, and its bytes. Only what Troupe writes. One thread. Source: onnx.proto3
// of ONNX 1.12 (IR version 8).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "graph/ops/partial_shape.h"
#include "messages/values/tensor.h"

namespace troupe::onnx {

/// The version of ONNX's ops that models use.
inline constexpr int64_t opset = 18;
/// The domain of the ops that ONNX has for classic machine learning, and their version.
inline constexpr const char* ml_domain = "ai.onnx.ml";
inline constexpr int64_t ml_opset = 2;

using AttributeValue =
    std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<std::string>>;
using NodeAttributes = std::vector<std::pair<std::string, AttributeValue>>;

class OnnxModel {
 public:
  explicit OnnxModel(std::string name) : name_(std::move(name)) {}

  /// Adds an input or output of the model. Fails with Unimplemented if ONNX has no such dtype.
  Status add_input(const std::string& name, DType dtype, const PartialShape& shape);
  Status add_output(const std::string& name, DType dtype, const PartialShape& shape);
  /// Adds a tensor with a fixed value. Fails with Unimplemented if ONNX has no such dtype.
  Status add_constant(const std::string& name, const Tensor& value);
  /// Adds a node with one output for each name in `outputs`; an empty name leaves one out. `op` may begin with ml_domain and a '/'.
  void add_node(std::string_view op, std::span<const std::string> inputs,
                std::span<const std::string> outputs, const NodeAttributes& attributes = {});

  /// Returns the bytes of the model (ModelProto).
  std::string bytes() const;

 private:
  const std::string name_;
  std::string graph_;         ///< the fields of a GraphProto so far
  bool uses_ml_ops_ = false;  ///< of ml_domain
};

/// Returns ONNX's number of a dtype; 0 if it has none.
int64_t type_number(DType dtype);

}  // namespace troupe::onnx
