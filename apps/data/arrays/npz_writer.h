// NpzWriter: writes an .npz archive of named arrays piece by piece, as numpy.savez does for what cannot be read back: each
// member is followed by its size and checksum. Archives of more than 4 GiB are those of zip64. One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "messages/values/status.h"

namespace troupe::data {

class NpzWriter {
 public:
  using Write = std::function<Status(std::string_view bytes)>;

  /// Numbers from `wide_from` on stand in the records of zip64. It is lower than their least one only for tests.
  explicit NpzWriter(Write write, uint32_t wide_from = UINT32_MAX);
  ~NpzWriter();

  // The members, one behind the other: begin(), add() for the bytes of a .npy file, end(). Then finish(). They fail as `write`
  // does, and begin() with InvalidArgument for a name of more than 65,531 bytes: two bytes count those of "NAME.npy".
  Status begin(const std::string& array);
  Status add(std::string_view bytes);
  Status end();
  Status finish();

 private:
  struct Member;

  Status put(std::string_view bytes);
  /// Returns the number for a field of four bytes. If it stands in zip64 instead, it is added to `wide`.
  uint32_t narrow(uint64_t number, std::string& wide) const;

  Write write_;
  const uint64_t wide_from_;
  std::string directory_;
  uint64_t offset_ = 0;  ///< in the archive
  uint64_t members_ = 0;
  std::unique_ptr<Member> member_;  ///< the one in work
};

}  // namespace troupe::data
