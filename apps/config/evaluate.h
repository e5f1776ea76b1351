// Evaluation: expressions turned into nodes of a graph, over names that stand for edges or numbers.
// Mistakes go to Diagnostics, all of them, each pointing into its string; what depends on something faulty is
// passed over in silence. One thread at a time per graph.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "apps/config/diagnostics.h"
#include "graph/build/scope.h"

namespace troupe::config {

/// A name of the graph and the expression it stands for.
struct Definition {
  std::string name;
  Text expression;
};

/// What names stand for.
struct Symbols {
  std::map<std::string, std::optional<Argument>, std::less<>>
      values;  ///< nothing: the name is known, but faulty
  bool complete =
      true;  ///< false: part of a file was refused, so a name that is missing here is passed over in silence
};

/// Adds every definition to `symbols`, each after those it refers to; they may stand in any order, and cycles
/// are reported. The node that `name` stands for is called so, the others of its expression "name/...".
void define(const Scope& scope, std::span<const Definition> definitions, Symbols& symbols,
            Diagnostics& diagnostics);

/// The edge an expression yields, under `name` as above; nothing after a mistake.
std::optional<Output> evaluate(const Scope& scope, const Definition& definition, const Symbols& symbols,
                               Diagnostics& diagnostics);

}  // namespace troupe::config
