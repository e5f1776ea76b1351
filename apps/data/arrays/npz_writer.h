// NpzWriter: writes an .npz archive of named arrays piece by piece, as numpy.savez does for what cannot be read back: each
// member is followed by its size and checksum. One thread at a time.
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

  explicit NpzWriter(Write write);
  ~NpzWriter();

  // The members, one behind the other: begin(), add() for the bytes of a .npy file, end(). Then finish(). They fail as `write`
  // does, and with Unimplemented if the archive exceeds 4 GiB.
  Status begin(const std::string& array);
  Status add(std::string_view bytes);
  Status end();
  Status finish();

 private:
  struct Member;

  Status put(const std::string& bytes);

  Write write_;
  std::string directory_;
  uint64_t offset_ = 0;  ///< in the archive
  uint16_t members_ = 0;
  std::unique_ptr<Member> member_;  ///< the one in work
};

}  // namespace troupe::data
