// The sparse map role: one actor per map. It keeps sparse tensors until somebody takes them. The sparse map service starts it.
// Schema: messages/schemas/sparse_map.capnp.
#pragma once

#include <memory>
#include <string>

#include "actors/engine/role.h"

namespace troupe {

/// What a map is made of: all maps are alike.
struct SparseMapSpec {
  std::string name;  ///< the name of its state

  std::string text() const { return "sparse tensors"; }
  friend bool operator==(const SparseMapSpec&, const SparseMapSpec&) = default;
};

std::unique_ptr<Role> make_sparse_map(SparseMapSpec spec);

}  // namespace troupe
