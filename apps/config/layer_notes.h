// What each layer, loss and metric of run files takes and yields, for people. A function without state; any thread.
#pragma once

#include <string_view>

namespace troupe::config {

struct LayerNote {
  std::string_view name;
  std::string_view inputs;   ///< as the arguments of a call: "x", "logits, label"
  std::string_view meaning;  ///< sentences
};

/// Returns the note of a layer; an empty one if there is no layer of this name.
LayerNote layer_note(std::string_view name);

}  // namespace troupe::config
