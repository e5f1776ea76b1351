// Staging spec: what a staging area is, as the nodes that work on it say. A plain value.
#pragma once

#include <string>

#include "graph/build/graph.h"

namespace troupe {

enum class StagingKind : uint8_t { Stage, Map, OrderedMap };

struct StagingSpec {
  std::string name;  ///< the name of its state
  StagingKind kind = StagingKind::Stage;

  /// Returns "a stage", for example.
  std::string text() const;
  friend bool operator==(const StagingSpec&, const StagingSpec&) = default;
};

/// Returns the spec of the area on which a node with a staging op works.
StagingSpec staging_spec(const Node& node);

}  // namespace troupe
