// Functions of a graph's library that are called when a step runs, so that they may call themselves (features.md B10). Each running
// call has state of its own. A condition inside the function must end the recursion; too deep a recursion fails the step. Failures
// throw Error, as in the graph builder. One thread at a time per graph.
//
//   const FunctionSignature factorial{"factorial", {f64}, {f64}};
//   define_function(graph, factorial, [&](const Scope& s, const std::vector<Output>& n) {
//     return cond(s, greater(s, n[0], 1.0),
//                 [&](const Scope& t) { return std::vector{mul(t, n[0], call(t, factorial, {sub(t, n[0], 1.0)})[0])}; },
//                 [&](const Scope& t) { return std::vector{ones_like(t, n[0])}; });
//   });
//   const Output y = call(g, factorial, {x})[0];
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "graph/build/scope.h"

#pragma GCC visibility push(default)
namespace troupe {

class GradientContext;

struct FunctionSignature {
  std::string name;
  std::vector<DType> arguments, results;
  /// Whether a call may change state, use the world outside, or draw random numbers. Calls of other functions may be shared, and
  /// are left out if no node uses their results.
  bool stateful = false;
};

using FunctionBody =
    std::function<std::vector<Output>(const Scope& scope, const std::vector<Output>& arguments)>;

/// Adds a function to the graph's library. `body` builds it in a graph of its own, so it can use nothing from outside but its
/// arguments; it may call this function. The body's nodes have names under "NAME/". Throws AlreadyExists if the library has a
/// function of this name, and InvalidArgument if the results are not those of the signature or the body has effects although the
/// signature is not stateful.
void define_function(Graph& graph, const FunctionSignature& signature, const FunctionBody& body);

/// Adds a call of a function, which may be defined later, and returns its results. Their shapes are unknown. The whole function
/// runs on the device of the call. Throws InvalidArgument if the inputs are not those of the signature.
std::vector<Output> call(const Scope& scope, const FunctionSignature& signature, std::vector<Output> inputs);

/// Returns whether the op changes state or uses the world outside, so that it runs whenever its function is called.
bool has_effect(const OpDef& op);
/// Returns whether the op is that of a call.
bool is_call(const OpDef& op);
/// Returns the name of the function that a call runs.
const std::string& callee(const Node& call);

/// Returns the functions that the nodes from number `first` on call or name as attributes, directly or indirectly, as far as they
/// are defined.
std::set<const Function*> called_functions(const Graph& graph, NodeId first = 0);

/// Makes a function of a graph, whose _Arg nodes are `arguments`. Leaves out the nodes that neither the results nor `effects` need;
/// arguments stay. Fails with InvalidArgument if an argument is not an _Arg node or stands in a wrong place.
Result<Function> make_function(std::string name, const Graph& body, const std::vector<NodeId>& arguments,
                               const std::vector<Output>& results, const std::vector<NodeId>& effects);

/// Adds those functions that `graph` lacks.
void add_functions(Graph& graph, const Graph& from);

/// An attribute of the gradient of a call: the name of that call. Both draw the same random numbers.
inline constexpr std::string_view called_as_attr = "_called_as";

/// The gradient of a call is a call of the function's gradient function, which is made when it is first needed. It takes the
/// arguments and the gradients of the results, and computes the function again; effects are not repeated.
void call_gradient(GradientContext& context);

}  // namespace troupe
#pragma GCC visibility pop
