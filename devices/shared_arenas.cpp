#include "devices/shared_arenas.h"

#include <algorithm>

namespace troupe {

std::optional<SharedArenas::Place> SharedArenas::lend(const std::byte* data, size_t bytes) {
  const std::lock_guard lock(mutex_);
  for (Entry& entry : entries_) {
    if (data < entry.data || data + bytes > entry.data + entry.bytes) continue;
    entry.lent = true;
    return Place{entry.id, static_cast<uint64_t>(data - entry.data), entry.descriptor};
  }
  return std::nullopt;
}

uint32_t SharedArenas::add(const std::byte* data, uint64_t bytes, int descriptor) {
  const std::lock_guard lock(mutex_);
  entries_.push_back({++last_id_, data, bytes, descriptor});
  return last_id_;
}

void SharedArenas::remove(uint32_t id) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [id](const Entry& entry) { return entry.id == id; });
}

bool SharedArenas::was_lent(uint32_t id) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(entries_, [id](const Entry& entry) { return entry.id == id && entry.lent; });
}

}  // namespace troupe
