// TensorHandle: what a handle of a session tensor says: "node;session.incarnation.number;device", as TensorFlow's clients take it
// apart. A plain value; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "messages/values/device_name.h"
#include "messages/values/status.h"

namespace troupe {

struct TensorHandle {
  std::string node;  ///< that made the handle
  uint64_t session = 0;
  uint64_t incarnation = 0;  ///< of the task
  uint64_t number = 0;
  std::string device;  ///< full name

  std::string text() const;
  /// Fails with InvalidArgument if the text is no handle.
  static Result<TensorHandle> parse(const std::string& text);
};

}  // namespace troupe
