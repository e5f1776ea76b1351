// OpDef: what an op is, apart from how it is computed: arguments, attributes, shapes, gradient, who serves it, what effect it
// has, and by which names it is called. Definitions are written beside the kernels (kernels/*.cpp) and collected in an OpTable.
// Immutable once in the table; shared by all threads.
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

/// Who carries the op out.
enum class ServedBy : uint8_t {
  Kernel,   ///< a kernel of the device
  Step,     ///< the running step itself: control flow, Send, Recv, handles of state
  Service,  ///< an actor of the service that OpDef::service names; each request of a step is a message to it
};

/// The service of ops that read or change variables.
inline constexpr std::string_view variable_service = "variable";

/// What common-subexpression elimination, folding, pruning, in-place reuse and retry must know.
enum class Effect : uint8_t {
  Pure,  ///< a function of its inputs: may be folded, shared, repeated, left out when nobody uses its outputs
  Guard,   ///< a function of its inputs that exists to fail: what waits for it waits for its verdict
  Random,  ///< of its inputs and the step's random key: never folded or shared
  Step,    ///< touches what lives as long as the step (control flow, Send, Recv)
  State,   ///< reads or writes state that outlives the step
  Io,      ///< reaches outside (files, logs)
};

/// An argument is one tensor, or `number_attr` tensors of one type, or one tensor per type of `type_list_attr`.
struct ArgDef {
  std::string name;
  DType type = DType::Invalid;  ///< fixed type; Invalid when an attribute gives it
  std::string type_attr;
  std::string number_attr;
  std::string type_list_attr;
  bool is_ref = false;
  bool on_host = false;  ///< kept in host memory on any device: kernels check it before the device computes
};

struct AttrDef {
  std::string name;
  AttrKind kind = AttrKind::Int;
  std::optional<AttrValue> default_value;
  std::optional<int64_t> minimum;  ///< of an int, or of the length of a list
  std::vector<AttrValue> allowed;  ///< empty: any; for lists: of each element
};

/// A parameter of a constructor: an input or an attribute of the op under the name that users see.
struct Parameter {
  std::string name;
  std::string target;  ///< name of the input argument or attribute
  bool is_input = false;
  bool required = true;
  bool all_axes = false;                   ///< default "all": every axis of the first input
  std::optional<AttrValue> default_value;  ///< of an attribute, or a constant for an input (numbers only)
};

/// A way to call the op from an expression or the C++ builder: matmul(a, b, transpose_a=false).
struct Constructor {
  std::string name;
  std::vector<Parameter> parameters;
  int output =
      0;  ///< the flattened output it yields; -1: the op has none, it yields the node (Output::control)
};

using ShapeFunction = Status (*)(ShapeContext&);
using GradientFunction = void (*)(GradientContext&);  ///< builds ops, so it throws Error as the builder does

struct OpDef {
  std::string name;
  std::vector<ArgDef> inputs, outputs;
  std::vector<AttrDef> attrs;
  std::vector<Constructor> constructors;
  ServedBy served_by = ServedBy::Kernel;
  std::string service;  ///< with ServedBy::Service: its name (actors/site/service.h)
  Effect effect = Effect::Pure;
  bool commutative = false;
  bool aggregate = false;  ///< sums its inputs: AddN
  bool allows_uninitialized_input =
      false;  ///< a ref input may hold nothing yet: Assign, IsVariableInitialized
  ShapeFunction shape = nullptr;
  GradientFunction gradient = nullptr;
  bool not_differentiable = false;  ///< says on purpose: no gradient flows

  bool is_of_service(std::string_view wanted) const { return service == wanted; }
  const AttrDef* find_attr(std::string_view name) const;
  /// Index into inputs (or outputs), or nothing.
  std::optional<size_t> find_input(std::string_view name) const;
  std::optional<size_t> find_output(std::string_view name) const;
};

/// Builds an OpDef from the notation of TensorFlow's registrations:
///   OpDefBuilder("MatMul").input("a: T").input("b: T").output("product: T")
///       .attr("transpose_a: bool = false").attr("T: {half, float, double}")
///       .constructor("matmul(a, b, transpose_a, transpose_b)").shape(f).gradient(g)
/// Inputs and outputs: "x: float", "x: T", "x: Ref(T)", "x: N * T", "x: Tlist" (a list(type) attribute).
/// Attributes: "name: type", "name: int >= 1 = 2", "name: {'SAME', 'VALID'}", "name: list(int) = [1, 1]",
/// "T: numbertype" (every number), "T: realnumbertype", "T: floattype" (half, bfloat16, float, double), "T: type".
/// Constructors: "name(parameter[: target] [= default], ...) [-> output]"; a parameter without default whose attribute has one
/// takes that; "= all" makes an input the list of all axes of the first input.
/// A mistake in the notation is found when the table is built (OpTable::add).
class OpDefBuilder {
 public:
  explicit OpDefBuilder(std::string name);
  OpDefBuilder& input(std::string_view spec);
  OpDefBuilder& output(std::string_view spec);
  /// Arguments that are kept in host memory on any device: shapes, axes, sizes.
  OpDefBuilder& host_input(std::string_view spec);
  OpDefBuilder& host_output(std::string_view spec);
  OpDefBuilder& attr(std::string_view spec);
  OpDefBuilder& constructor(std::string_view spec);
  OpDefBuilder& served_by_step();
  OpDefBuilder& served_by(std::string_view service);
  OpDefBuilder& effect(Effect effect);
  OpDefBuilder& commutative();
  OpDefBuilder& aggregate();
  OpDefBuilder& allows_uninitialized_input();
  OpDefBuilder& shape(ShapeFunction function);
  OpDefBuilder& gradient(GradientFunction function);
  OpDefBuilder& not_differentiable();

  /// The definition, or every mistake in it in one text.
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
