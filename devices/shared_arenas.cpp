#include "devices/shared_arenas.h"

#include <fcntl.h>

#include <algorithm>
#include <string>

namespace troupe {

std::optional<SharedArenas::Place> SharedArenas::lend(const std::byte* data, size_t bytes) {
  const std::lock_guard lock(mutex_);
  for (Entry& entry : entries_) {
    if (data < entry.data || data + bytes > entry.data + entry.bytes) continue;
    const auto offset = static_cast<uint64_t>(data - entry.data);
    const uint32_t parts = entry.gpu ? entry.gpu->parts_of(offset + bytes) : 1;
    if (parts == 0) return std::nullopt;
    entry.lent = true;
    return Place{entry.id, offset, parts};
  }
  return std::nullopt;
}

const SharedArenas::Entry* SharedArenas::find(uint32_t id) const {
  const auto at = std::ranges::find(entries_, id, &Entry::id);
  return at == entries_.end() ? nullptr : &*at;
}

Result<ArenaPart> SharedArenas::part(uint32_t id, uint32_t index) const {
  const std::lock_guard lock(mutex_);
  const Entry* const entry = find(id);
  if (!entry) return unavailable("there is no shared arena " + std::to_string(id) + " any more");
  if (entry->gpu) return entry->gpu->part(index);
  Descriptor copy(index == 0 ? ::fcntl(entry->descriptor, F_DUPFD_CLOEXEC, 0) : -1);
  if (!copy) return unavailable("the memory file of an arena cannot be shared");
  return ArenaPart{false, 0, entry->bytes, entry->bytes, std::move(copy)};
}

uint32_t SharedArenas::add(const std::byte* data, uint64_t bytes, int descriptor) {
  const std::lock_guard lock(mutex_);
  entries_.push_back({.id = ++last_id_, .data = data, .bytes = bytes, .descriptor = descriptor});
  return last_id_;
}

uint32_t SharedArenas::add_gpu(int gpu, const GpuArena& arena) {
  const auto addresses = arena.addresses();
  const std::lock_guard lock(mutex_);
  entries_.push_back({.id = ++last_id_,
                      .data = addresses.data(),
                      .bytes = addresses.size(),
                      .gpu = &arena,
                      .gpu_number = gpu});
  return last_id_;
}

void SharedArenas::remove(uint32_t id) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [id](const Entry& entry) { return entry.id == id; });
}

bool SharedArenas::was_lent(uint32_t id) const {
  const std::lock_guard lock(mutex_);
  const Entry* const entry = find(id);
  return entry && entry->lent;
}

std::vector<uint32_t> SharedArenas::gpu_arenas() const {
  const std::lock_guard lock(mutex_);
  std::vector<uint32_t> ids;
  for (const Entry& entry : entries_)
    if (entry.gpu) ids.push_back(entry.id);
  return ids;
}

Result<std::unique_ptr<PeerGpuMemory>> SharedArenas::map_gpu_memory(uint64_t bytes) const {
  std::vector<int> gpus;
  {
    const std::lock_guard lock(mutex_);
    for (const Entry& entry : entries_)
      if (entry.gpu) gpus.push_back(entry.gpu_number);
  }
  if (gpus.empty()) return unavailable("this process has no GPU that could map memory of another process");
  return map_peer_gpu_memory(gpus, bytes);
}

}  // namespace troupe
