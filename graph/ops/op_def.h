// OpDef: everything that is known about an op except how it is computed: arguments, attributes, shape function,
// gradient, effect, what carries it out, and the names by which it is called. Definitions are in the same files as
// the kernels (kernels/ops) and are collected in an OpTable, where they are immutable and shared by all threads.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ops/attributes.h"

#pragma GCC visibility push(default)
namespace troupe {

class GradientContext;  // graph/build/gradients.h
class ShapeContext;     // graph/build/shape_context.h

/// What carries the op out.
enum class ServedBy : uint8_t {
  Kernel,   ///< a kernel of the device
  Step,     ///< the running step itself: control flow, Send, Recv, handles of variables and queues
  Service,  ///< an actor of the service named by OpDef::service; each request of a step is a message to it
};

/// The service of ops that read or change variables.
inline constexpr std::string_view variable_service = "variable";

/// The effect of an op. Common-subexpression elimination, folding, pruning, in-place reuse and retry depend on it.
enum class Effect : uint8_t {
  Pure,  ///< a function of its inputs: may be folded, shared or repeated, and removed if no node uses its outputs
  Guard,  ///< a function of its inputs that exists to fail: nodes that wait for it need its result, so it is not removed
  Random,  ///< a function of its inputs and of the step's random key: never folded or shared
  Step,    ///< uses state of the step (control flow, Send, Recv)
  State,   ///< reads or writes state that outlives the step
  Io,      ///< uses the world outside (files, logs)
};

/// An argument is one tensor, or `number_attr` tensors of one type, or one tensor for each type in `type_list_attr`.
struct ArgDef {
  std::string name;
  DType type = DType::Invalid;  ///< the type; Invalid if an attribute gives it
  /// The attribute that gives the type, the number of tensors, or the list of types; empty if there is none.
  std::string type_attr;
  std::string number_attr;
  std::string type_list_attr;
  bool is_ref = false;
  /// In host memory on any device, because kernels check its values before the device computes.
  bool on_host = false;
};

struct AttrDef {
  std::string name;
  AttrKind kind = AttrKind::Int;
  std::optional<AttrValue> default_value;
  std::optional<int64_t> minimum;  ///< the minimum of an int, or of the length of a list
  std::vector<AttrValue> allowed;  ///< the allowed values, for a list those of each element; empty: all
};

/// A parameter of a constructor: an input or an attribute of the op, under the name that users see.
struct Parameter {
  std::string name;
  std::string target;  ///< the name of the input argument or attribute
  bool is_input = false;
  bool required = true;
  bool all_axes = false;                   ///< the default is "all": every axis of the first input
  std::optional<AttrValue> default_value;  ///< the default of an attribute, or of an input (numbers only)
};

/// A function that adds a node of the op, for use in expressions and from C++: matmul(a, b, transpose_a=false).
struct Constructor {
  std::string name;
  std::vector<Parameter> parameters;
  /// The flattened output that the function returns; -1: the op has no outputs, so the function returns the node (Output::control).
  int output = 0;
};

using ShapeFunction = Status (*)(ShapeContext&);
using GradientFunction = void (*)(GradientContext&);  ///< throws Error, as the graph builder does
/// Returns the type of the devices ("CPU", "GPU") on which a node with these attributes runs.
using DeviceTypeFunction = std::string (*)(const Attributes&);

struct OpDef {
  std::string name;
  std::vector<ArgDef> inputs, outputs;
  std::vector<AttrDef> attrs;
  std::vector<Constructor> constructors;
  std::vector<std::string> former_names;  ///< by which old graphs call the op
  ServedBy served_by = ServedBy::Kernel;
  std::string service;  ///< the name of the service (actors/site/service.h) if served_by is Service
  /// Where the service carries the op out. Null: on CPUs or, if it is the variable service, on any device.
  DeviceTypeFunction served_on = nullptr;
  Effect effect = Effect::Pure;
  bool commutative = false;
  bool aggregate = false;  ///< true if the op sums its inputs: AddN
  /// True if a reference input may be a variable without a value: Assign, IsVariableInitialized.
  bool allows_uninitialized_input = false;
  ShapeFunction shape = nullptr;
  GradientFunction gradient = nullptr;
  bool not_differentiable = false;  ///< true if no gradient flows through the op, on purpose

  bool is_of_service(std::string_view wanted) const { return service == wanted; }
  const AttrDef* find_attr(std::string_view name) const;
  /// Returns the index into inputs (or outputs), or nothing.
  std::optional<size_t> find_input(std::string_view name) const;
  std::optional<size_t> find_output(std::string_view name) const;
};

/// Builds an OpDef from the notation of TensorFlow's registrations:
///   OpDefBuilder("MatMul").input("a: T").input("b: T").output("product: T")
///       .attr("transpose_a: bool = false").attr("T: {half, float, double}")
///       .constructor("matmul(a, b, transpose_a, transpose_b)").shape(f).gradient(g)
/// Inputs and outputs: "x: float", "x: T", "x: Ref(T)", "x: N * T", "x: Tlist" (a list(type) attribute).
/// Attributes: "name: type", "name: int >= 1 = 2", "name: {'SAME', 'VALID'}", "name: list(int) = [1, 1]", "T: type",
/// "T: numbertype" (all numbers), "T: realnumbertype", "T: floattype" (half, bfloat16, float, double).
/// Constructors: "name(parameter[: target] [= default], ...) [-> output]". A parameter without a default has that of
/// its attribute, if there is one. "= all" makes an input the list of all axes of the first input.
/// Mistakes in the notation are reported when the table is built (OpTable::add).
class OpDefBuilder {
 public:
  explicit OpDefBuilder(std::string name);
  OpDefBuilder& input(std::string_view spec);
  OpDefBuilder& output(std::string_view spec);
  /// Arguments that are in host memory on any device: shapes, axes, sizes.
  OpDefBuilder& host_input(std::string_view spec);
  OpDefBuilder& host_output(std::string_view spec);
  OpDefBuilder& attr(std::string_view spec);
  OpDefBuilder& constructor(std::string_view spec);
  /// Adds a name that the op had once. Nodes of that name become nodes of this op.
  OpDefBuilder& former_name(std::string_view name);
  OpDefBuilder& served_by_step();
  OpDefBuilder& served_by(std::string_view service, DeviceTypeFunction served_on = nullptr);
  OpDefBuilder& effect(Effect effect);
  OpDefBuilder& commutative();
  OpDefBuilder& aggregate();
  OpDefBuilder& allows_uninitialized_input();
  OpDefBuilder& shape(ShapeFunction function);
  OpDefBuilder& gradient(GradientFunction function);
  OpDefBuilder& not_differentiable();

  /// Returns the definition, or one InvalidArgument that lists every mistake.
  Result<OpDef> build() const;

 private:
  struct ArgSpec {
    std::string text;
    bool on_host = false;
  };

  OpDef def_;
  std::vector<ArgSpec> input_specs_, output_specs_;
  std::vector<std::string> attr_specs_, constructor_specs_;
};

}  // namespace troupe
#pragma GCC visibility pop
