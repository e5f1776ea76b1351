// Recursion: which functions of a file are called when a step runs, because they call themselves, and the bodies of these
// functions. All other calls are replaced by the nodes of their functions. Owned by one import; one thread.
#pragma once

#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "apps/interop/functions/function_library.h"
#include "graph/build/graph.h"

namespace troupe::interop {

/// Returns functions of which at least one is on every cycle of calls, so that calls of all others can be replaced by nodes. The
/// first function of a cycle that `nodes`, or the library in its order, lead to is chosen.
std::unordered_set<const FunctionDef*> find_recursive(const Body::Nodes& nodes,
                                                      const FunctionDefLibrary& functions,
                                                      const FunctionLibrary& library);

/// The functions that are called when steps run. Their bodies are built after the calls: a call needs only the name.
class CalledFunctions {
 public:
  explicit CalledFunctions(std::unordered_set<const FunctionDef*> recursive)
      : recursive_(std::move(recursive)) {}

  using Attrs = std::map<std::string_view, const AttrValue*>;
  /// A function with the attributes of its calls.
  struct Instance {
    const FunctionDef* function;
    Attrs attrs;
    std::string name;
  };

  bool is_recursive(const FunctionDef& function) const { return recursive_.contains(&function); }
  /// Returns the name of the function with these attributes in the library of the graph.
  const std::string& name_of(const FunctionDef& function, const Attrs& attrs);
  /// Takes the next function whose body is to be built. Returns false if there is none.
  bool next(Instance& instance);

  /// Whether a call of the function may change state, have effects, or draw random numbers.
  bool is_stateful(const FunctionDef& function, const FunctionLibrary& library, const OpTable& ops);

  std::vector<Function> done;  ///< the functions that have bodies
  int depth = 0;               ///< how many bodies are being built, each because another needs it

 private:
  const std::unordered_set<const FunctionDef*> recursive_;
  std::map<std::pair<const FunctionDef*, std::string>, std::string> names_;
  std::unordered_set<std::string> taken_;
  std::vector<Instance> waiting_;
  std::map<const FunctionDef*, bool> stateful_;
};

}  // namespace troupe::interop
