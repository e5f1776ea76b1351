// DamagedFrame: replaces one field of one frame between correct nodes by another well-formed value, in the
// frame's header or anywhere in its struct. The same seed chooses the same field and value. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace troupe::test {

class DamagedFrame {
 public:
  /// Damages the first frame with a message of this type after `skip`
  /// others. The seed decides whether its header or its struct is damaged.
  DamagedFrame(uint64_t schema_id, uint64_t skip, uint64_t seed);

  /// Damages the frame if it is the chosen one.
  void operator()(std::vector<std::byte>& frame);
  /// Returns what was changed: "RunPartition.step.ordinal: 3 -> 7"; empty if nothing was changed yet.
  const std::string& what() const { return what_; }

  /// A type of message that nodes send each other, such as "RunPartition".
  struct Type {
    std::string name;
    uint64_t schema_id;
  };
  /// Returns the types of the steps and checkpoints of a session.
  static std::vector<Type> types();
  /// Returns the types of a training, except those of mode "allreduce".
  static std::vector<Type> training_types();

 private:
  const uint64_t schema_id_;
  uint64_t skip_;
  uint64_t seed_;
  std::string what_;
};

}  // namespace troupe::test
