// Evaluation: turns expressions into nodes of a graph. Names in expressions stand for edges or numbers. All mistakes are added to
// Diagnostics, each with its location; expressions that depend on a faulty one are skipped without a message. One thread at a time
// per graph.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "apps/config/diagnostics.h"
#include "apps/nn/network.h"

namespace troupe::config {

/// A name and the expression for which it stands.
struct Definition {
  std::string name;
  Text expression;
  std::string segment = {};  ///< of Network::recomputed(); empty: none
};

/// The values of names.
struct Symbols {
  /// The value of a name; not set if the name is known, but its definition is faulty.
  std::map<std::string, std::optional<Argument>, std::less<>> values;
  /// If false, a part of the file was rejected, so unknown names are not reported.
  bool complete = true;
};

/// Adds every definition to `symbols`. The definitions may be given in any order; cycles are reported. The node for a definition
/// has its name; the other nodes of its expression are named "name/...". A layer that is a whole definition has its name, other
/// layers are named "name_layer". The weights of layers become symbols, too, when their definition has been evaluated; a definition
/// that uses them is evaluated afterwards.
void define(const nn::Network& network, std::span<const Definition> definitions, Symbols& symbols,
            Diagnostics& diagnostics);

/// Evaluates one definition, whose nodes are named as above. Returns its edge, or nothing after a mistake.
std::optional<Output> evaluate(const nn::Network& network, const Definition& definition,
                               const Symbols& symbols, Diagnostics& diagnostics);

}  // namespace troupe::config
