// Caller: adds the nodes of one call (apps/interop/functions/calls.h). Each kind of call has its own source file beside this one.
// Used by one import; one thread.
#pragma once

#include <functional>

#include "apps/interop/functions/calls.h"

namespace troupe::interop {

class Caller {
 public:
  Caller(Importer& importer, const NodeDef& node, NodeSpec spec, const Site& site)
      : importer_(importer), graph_(importer.graph()), node_(node), spec_(std::move(spec)), site_(site) {}

  Result<PlacedCall> run();

  using FunctionAttrs = google::protobuf::RepeatedPtrField<AttrEntry>;

  /// A function and the attributes with which it is called.
  struct Callee {
    const FunctionDef* function = nullptr;
    const FunctionAttrs* attrs = nullptr;
    const std::string& name() const { return function->signature().name(); }
  };
  /// Builds a function that is called when steps run (called.cpp). `inside` has the attributes of its calls. The graph of the
  /// importer must be empty.
  Result<Function> body_of(const std::string& name, const Callee& callee, Site& inside);

 private:
  using Values = std::span<const Output>;
  /// The nodes of one instance of a function, or of a choice between several.
  struct Instance {
    Outputs outputs;
    std::vector<NodeId> effects;  ///< at most one node, which runs after all effects
    bool has_effects = false;     ///< true, too, if the outputs already wait for the effects
  };
  /// Adds what runs on one side of a conditional. `start` runs if that side is taken.
  using Side = std::function<Result<Instance>(Values inputs, NodeId start)>;

  // Instances of functions (caller.cpp).

  Result<Callee> callee_of(const char* attr) const;
  Result<Callee> callee_named(const char* attr, const NameAttrList& name) const;
  /// Adds a node "call/name"; if `name` is empty, the node has the name of the call.
  Result<NodeId> add(const std::string& op, const std::string& name, std::vector<Output> inputs,
                     std::vector<NodeId> control = {}, Attributes attrs = {});
  Result<Output> add_one(const std::string& op, const std::string& name, std::vector<Output> inputs,
                         std::vector<NodeId> control = {}, Attributes attrs = {});
  /// Replaces several nodes by one NoOp that runs after them.
  Result<std::vector<NodeId>> joined(std::vector<NodeId> nodes, const std::string& name);
  Status check_depth() const;
  void bind_attrs(const Callee& callee, Site& inside) const;
  Status bind_arguments(const Callee& callee, Values inputs, Site& inside) const;
  Status check_type(const Callee& callee, const OpDef::ArgDef& argument, DataType type, Output value) const;
  /// Adds the nodes of a function with names under "call/part/". The node `start` runs before the nodes without inputs or, if
  /// `start_before_all`, before all nodes.
  Result<Instance> instantiate(const Callee& callee, const std::string& part, Values inputs,
                               std::optional<NodeId> start, bool start_before_all = false);
  /// Adds the node that calls a function when the step runs (called.cpp).
  Result<Instance> call(const Callee& callee, const std::string& part, Values inputs,
                        std::optional<NodeId> start);
  Result<std::vector<DType>> types_of_argument(const Callee& callee, const OpDef::ArgDef& argument,
                                               const Site& inside) const;
  Result<DType> type_of_result(const Callee& callee, const OpDef::ArgDef& output, const Site& inside) const;
  Result<Outputs> outputs_of(const Callee& callee, const Body& body, const Site& inside,
                             const Placed& placed) const;
  /// Returns the nodes that must have run when the call is done: the control outputs of the function or, if it declares none, all
  /// nodes that change state or have effects outside the graph.
  Result<std::vector<NodeId>> effects_of(const Callee& callee, const Body& body, const Placed& placed) const;
  /// Delays the outputs of an instance until its effects have happened.
  Status wait_for_effects(Instance& instance, const std::string& part);
  /// Adds a node with the name of the call that has its outputs and runs after `after`. If the call has one output, the node of
  /// that output already has the name.
  Result<PlacedCall> finish(Outputs outputs, bool has_effects, std::vector<NodeId> after = {});
  /// Adds a node that runs once all inputs and control inputs of the call are available. If the call has none, returns the start
  /// node of the surrounding call, if any.
  Result<std::optional<NodeId>> start_of_call();
  Result<PlacedCall> plain_call(const Callee& callee);
  /// A call on a device that a constant names.
  Result<PlacedCall> remote_call();

  // Conditionals (branches.cpp).

  Result<PlacedCall> conditional();
  Result<PlacedCall> choice();
  Result<Instance> branch(const Callee& callee, const std::string& part, Values inputs,
                          std::optional<NodeId> start);
  /// Adds branch number `first` and those after it, and what chooses between them. inputs[0] is the number of the branch.
  Result<Instance> choose_from(std::span<const Callee> callees, size_t first, Values inputs,
                               std::optional<NodeId> start);
  /// Adds both sides of a conditional, and the Merges of their outputs. Names begin with "call/part".
  Result<Instance> choose(Output condition, Values inputs, const std::string& part,
                          const std::vector<NodeId>& after, const Side& taken, const Side& other);
  Result<Instance> merge(const Instance& taken, const Instance& other, const std::string& part);
  /// Converts a condition to bool: numbers and strings are conditions, too.
  Result<Output> as_bool(Output condition, const std::string& name);
  Result<PlacedCall> finish_choice(Instance chosen);

  // Loops (loops.cpp).

  /// The parts of a loop. `goes_on` has one output, which says whether there is a next iteration.
  struct Loop {
    std::function<Result<Instance>(Values variables)> goes_on;
    std::function<Result<Instance>(Values variables)> next;
  };
  struct LoopResult {
    std::vector<Output> variables;
    bool has_effects = false;
  };
  Result<PlacedCall> loop();
  Result<PlacedCall> counted_loop();
  /// Adds the check that delta leads from start to limit; the loop runs after it.
  Result<std::vector<NodeId>> check_numbers();
  /// Adds a loop. Variable i leaves it through a node with the name name_of(i).
  Result<LoopResult> add_loop(Values variables, const Loop& loop, const std::vector<NodeId>& after,
                              const std::function<std::string(size_t)>& name_of);
  /// Adds the Enters and Merges of the loop variables and returns the Merges. close() replaces their second inputs.
  Result<std::vector<Output>> enter(Values variables, const std::vector<NodeId>& after);
  /// Refines the shape of a variable of a While by the attribute output_shapes, which holds for all iterations.
  Status refine(Output entered, size_t i);
  Status close(const std::vector<Output>& merges, const Instance& next);
  /// Adds a constant that exists once in each iteration, as `beside` does.
  Result<Output> constant_beside(Output beside, const std::string& name, const Tensor& value);

  // Maps (map.cpp).

  /// An output of the function that is mapped: its dtype, and a constant with its shape.
  struct MappedOutput {
    DType dtype;
    Output shape;
  };
  Result<PlacedCall> map();
  Result<std::vector<MappedOutput>> mapped_outputs();
  /// Adds an iteration; `now` are the loop variables (map.cpp).
  Result<Instance> map_row(const Callee& function, size_t arguments, const std::vector<MappedOutput>& outputs,
                           Values now);
  /// Returns the number of rows, which is a step's to find.
  Result<Output> rows_of(size_t argument);
  /// Adds the check that all arguments have `rows` rows; the loop runs after it.
  Result<std::vector<NodeId>> check_rows(Output rows, size_t arguments);

  // Gradients of functions (symbolic_gradient.cpp).

  Result<PlacedCall> symbolic_gradient();
  /// Returns the gradients of the first inputs of the call, which are those of the function.
  Result<std::vector<Output>> differentiate(const Callee& callee);

  Importer& importer_;
  Graph& graph_;
  const NodeDef& node_;
  NodeSpec spec_;
  const Site& site_;
};

/// Returns the name of the node of an output. If the call has one output, that node has the name of the call.
std::string output_name(size_t i, size_t count);

}  // namespace troupe::interop
