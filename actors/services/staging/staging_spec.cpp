#include "actors/services/staging/staging_spec.h"

#include "kernels/core/state.h"

namespace troupe {

std::string StagingSpec::text() const {
  const char* const kinds[] = {"a stage", "a map", "an ordered map"};
  return kinds[static_cast<size_t>(kind)];
}

StagingSpec staging_spec(const Node& node) {
  const std::string_view type = node.type();
  const StagingKind kind = type.starts_with("OrderedMap") ? StagingKind::OrderedMap
                           : type.starts_with("Map")      ? StagingKind::Map
                                                          : StagingKind::Stage;
  return {state_name(node), kind};
}

}  // namespace troupe
