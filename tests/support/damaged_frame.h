// DamagedFrame: one field of one frame between honest nodes becomes another, well formed: of its header, or anywhere in its struct. The
// same seed does the same. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace troupe::test {

class DamagedFrame {
 public:
  /// Of the frames with messages of this type, `skip` go by unharmed. A part of its damages is to the header.
  DamagedFrame(uint64_t schema_id, uint64_t skip, uint64_t seed);

  /// Looks at a frame, and damages it if it is the one.
  void operator()(std::vector<std::byte>& frame);
  /// What became what: "RunPartition.step.ordinal: 3 -> 7"; empty: nothing yet.
  const std::string& what() const { return what_; }

  /// Of every message that nodes send each other, by their names: "RunPartition".
  struct Type {
    std::string name;
    uint64_t schema_id;
  };
  static std::vector<Type> types();

 private:
  const uint64_t schema_id_;
  uint64_t skip_;
  uint64_t seed_;
  std::string what_;
};

}  // namespace troupe::test
