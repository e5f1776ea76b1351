// Traffic: how many bytes the messages to and from the peers of a node have had, with headers, and with tensors that were lent
// instead of sent. The control thread counts; any thread reads.
#pragma once

#include <atomic>
#include <cstdint>

namespace troupe {

struct Traffic {
  std::atomic<uint64_t> sent{0}, received{0};
};

}  // namespace troupe
