#include "actors/net/transport/shared_ring.h"

#include <algorithm>
#include <cstring>

namespace troupe {
namespace {

Status impossible(const char* side) {
  return data_loss(std::string("the ring in shared memory is damaged: the position of its ") + side +
                   " is impossible");
}

}  // namespace

Result<size_t> RingWriter::write(std::span<const std::byte> bytes) {
  const size_t capacity = bytes_.size();
  if (written_ - read_ + bytes.size() > capacity) {
    const uint64_t read = state_.read.load(std::memory_order_acquire);
    if (written_ - read > capacity) return impossible("reader");
    read_ = read;
  }
  const size_t count = std::min<size_t>(bytes.size(), capacity - (written_ - read_));
  if (count == 0) return count;
  const size_t at = written_ & (capacity - 1), first = std::min(count, capacity - at);
  std::memcpy(bytes_.data() + at, bytes.data(), first);
  std::memcpy(bytes_.data(), bytes.data() + first, count - first);
  written_ += count;
  return count;
}

// The sequentially consistent order of these operations, and of those in sleep(), lets at least one side see the other: the writer
// that the reader sleeps, or the reader that bytes have arrived. The same holds for wait_for_room() and release().
bool RingWriter::publish() {
  state_.written.store(written_, std::memory_order_seq_cst);
  return state_.reader_sleeps.load(std::memory_order_seq_cst) != 0 &&
         state_.reader_sleeps.exchange(0, std::memory_order_seq_cst) != 0;
}

bool RingWriter::wait_for_room() {
  state_.writer_waits.store(1, std::memory_order_seq_cst);
  const uint64_t read = state_.read.load(std::memory_order_seq_cst);
  if (written_ - read == bytes_.size()) return false;
  state_.writer_waits.store(0, std::memory_order_relaxed);
  return true;
}

Result<size_t> RingReader::read(std::span<std::byte> into) {
  const size_t capacity = bytes_.size();
  const uint64_t arrived = state_.written.load(std::memory_order_acquire) - read_;
  if (arrived > capacity) return impossible("writer");
  const size_t count = std::min<size_t>(into.size(), arrived);
  if (count == 0) return count;
  const size_t at = read_ & (capacity - 1), first = std::min(count, capacity - at);
  std::memcpy(into.data(), bytes_.data() + at, first);
  std::memcpy(into.data() + first, bytes_.data(), count - first);
  read_ += count;
  return count;
}

bool RingReader::release() {
  state_.read.store(read_, std::memory_order_seq_cst);
  return state_.writer_waits.load(std::memory_order_seq_cst) != 0 &&
         state_.writer_waits.exchange(0, std::memory_order_seq_cst) != 0;
}

bool RingReader::sleep() {
  state_.reader_sleeps.store(1, std::memory_order_seq_cst);
  if (state_.written.load(std::memory_order_seq_cst) == read_) return true;
  stay_awake();
  return false;
}

}  // namespace troupe
