// Texts: converts between lists of strings and their wire form. Any thread.
#pragma once

#include <capnp/list.h>

#include <string>
#include <vector>

#include "messages/wire/wire.h"

namespace troupe {

/// The list must have as many places as there are texts.
inline void write(const std::vector<std::string>& texts, capnp::List<capnp::Text>::Builder builder) {
  for (uint32_t i = 0; i < texts.size(); ++i) builder.set(i, as_text(texts[i]));
}

inline std::vector<std::string> read(capnp::List<capnp::Text>::Reader reader) {
  std::vector<std::string> texts;
  for (const auto text : reader) texts.emplace_back(view(text));
  return texts;
}

}  // namespace troupe
