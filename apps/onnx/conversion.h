// Conversion: a graph of TensorFlow's ops while it becomes one of ONNX's, and the rules for its ops. One thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apps/onnx/onnx_model.h"
#include "graph/build/graph.h"

namespace troupe::onnx {

class Conversion {
 public:
  /// `reserved` are the names of the model's inputs and outputs.
  Conversion(const Graph& graph, OnnxModel& model, std::set<std::string> reserved)
      : graph_(graph), model_(model), taken_(std::move(reserved)) {}

  const Graph& graph() const { return graph_; }
  OnnxModel& model() { return model_; }

  /// Returns ONNX's name for an input of a node, whose own node must have been converted.
  const std::string& input(const Node& node, size_t i);
  std::vector<std::string> inputs(const Node& node);
  /// Makes a tensor of ONNX stand for an output of a node.
  void set(const Node& node, uint32_t output, std::string name) {
    names_[{node.id, output}] = std::move(name);
  }
  /// Makes a constant stand for the output of a node. It is added when a node of ONNX uses it first.
  void set_constant(const Node& node, const std::string& name, const Tensor& value) {
    constants_[{node.id, 0}] = value;
    set(node, 0, unused_name(name));
  }

  /// Adds a node of ONNX with one output, and returns the name of that.
  std::string add(std::string_view op, const std::vector<std::string>& inputs,
                  const NodeAttributes& attributes = {});
  /// Does the same for several outputs.
  std::vector<std::string> add(std::string_view op, const std::vector<std::string>& inputs, size_t outputs,
                               const NodeAttributes& attributes);
  /// Adds a constant. If ONNX lacks its dtype, the conversion fails at the end.
  std::string constant(const Tensor& value);
  std::string integers(const std::vector<int64_t>& values);
  std::string cast(const std::string& value, DType to);
  /// Returns an input of integers, known or computed, in the dtype that ONNX wants.
  std::string as_int64(const Node& node, size_t input);

  /// Returns the value of an input that is the same in every step, as integers. Fails with Unimplemented if it is computed.
  Result<std::vector<int64_t>> known_integers(const Node& node, size_t input) const;
  Result<int64_t> known_integer(const Node& node, size_t input) const;
  DType dtype(const Node& node, size_t input) const { return graph_.dtype(node.inputs[input]); }
  const PartialShape& shape(const Node& node, size_t input) const { return graph_.shape(node.inputs[input]); }
  /// Returns the rank of an input. Fails with Unimplemented if it is not known.
  Result<int64_t> rank(const Node& node, size_t input) const;

  /// Returns the first failure to add a constant.
  const Status& status() const { return status_; }

 private:
  std::string new_name(std::string_view op);
  /// Returns the name, or one that begins with it if a tensor has it already: ONNX tells inputs, outputs and all other tensors
  /// apart by their names alone.
  std::string unused_name(const std::string& name);
  void add_constant(const std::string& name, const Tensor& value);

  const Graph& graph_;
  OnnxModel& model_;
  std::map<Output, std::string> names_;
  std::map<Output, Tensor> constants_;  ///< those that have not been added yet
  std::map<std::string, int, std::less<>> counts_;
  std::set<std::string> taken_;
  Status status_;
};

/// Converts a node: adds nodes of ONNX, and sets the names of its outputs. Fails with Unimplemented if ONNX cannot compute it.
using Rule = Status (*)(Conversion& to, const Node& node);
using Rules = std::map<std::string, Rule, std::less<>>;

// The rules for each kind of ops.
void add_math_rules(Rules& rules);
void add_array_rules(Rules& rules);
void add_image_rules(Rules& rules);
void add_segment_rules(Rules& rules);

}  // namespace troupe::onnx
