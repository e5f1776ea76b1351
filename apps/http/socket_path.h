// SocketPath: a socket in the file system under a path that is short enough for the system, however long the real one is. The
// object keeps the folder open, for which the short path stands. One thread.
#pragma once

#include <string>

#include "messages/env/descriptor.h"
#include "messages/values/status.h"

namespace troupe::http {

class SocketPath {
 public:
  /// Fails with NotFound if there is no such folder, and with Unavailable if the system refuses.
  static Result<SocketPath> of(const std::string& path);

  /// Returns the short path, which is valid in this process as long as the object lives.
  const std::string& text() const { return text_; }

 private:
  SocketPath(Descriptor folder, std::string text) : folder_(std::move(folder)), text_(std::move(text)) {}

  Descriptor folder_;
  std::string text_;
};

}  // namespace troupe::http
