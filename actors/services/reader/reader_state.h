// Reader state: what a reader is restored from, in the form of TensorFlow's ReaderBaseState (a protocol buffer), to which a field
// is added: how many records of its unit were yielded. Plain value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

struct ReaderState {
  uint64_t units_started = 0, units_completed = 0, records = 0;
  std::string unit;           ///< the name of the last unit
  uint64_t unit_records = 0;  ///< how many records of it were yielded, if it is not completed

  bool has_unit() const { return units_started != units_completed; }

  std::string bytes() const;
  /// Returns nothing if the bytes are no state.
  static std::optional<ReaderState> parse(std::string_view bytes);
};

}  // namespace troupe
