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
  int64_t stage = 0;         ///< of model.stages
};

/// Builds the stages of a model where they belong.
class StageBuilder {
 public:
  static constexpr int64_t of_data = -1;

  virtual ~StageBuilder() = default;
  /// Returns the network for the nodes of a stage.
  virtual nn::Network at(const nn::Network& network, int64_t stage) = 0;
  /// Returns what stands in stage `to` for a value of stage `from`, which is another one, or `of_data` for a column of the data.
  virtual Output entering(Output value, int64_t from, int64_t to) = 0;
};

/// The values of names.
struct Symbols {
  /// The value of a name; not set if the name is known, but its definition is faulty.
  std::map<std::string, std::optional<Argument>, std::less<>> values;
  /// If false, a part of the file was rejected, so unknown names are not reported.
  bool complete = true;
  StageBuilder* builder = nullptr;  ///< null: the model is built in one network
  /// If there is a builder: the stages of the definitions so far, and StageBuilder::of_data for the columns.
  std::map<std::string, int64_t, std::less<>> stages = {};
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
