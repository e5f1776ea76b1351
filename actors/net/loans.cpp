#include "actors/net/loans.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace troupe {
namespace {

constexpr size_t max_arenas = 256;    // of one peer: one for each of its devices
constexpr size_t max_looked_at = 64;  // buffers per call of return_unused()

}  // namespace

// Lending.

std::optional<Loan> Lent::lend(const Tensor& tensor) {
  if (!arenas_ || tensor.bytes() < min_lent || tensor.buffer()->arena == 0) return std::nullopt;
  const auto place = arenas_->lend(tensor.data(), tensor.bytes());
  if (!place || !send_arena(*place)) return std::nullopt;
  tensors_.emplace(++last_number_, tensor);
  return Loan{last_number_, place->offset, place->arena};
}

bool Lent::send_arena(const SharedArenas::Place& place) {
  if (sent_.contains(place.arena)) return true;
  const ArenaPacket packet{.arena = place.arena};
  if (!send_packet(socket_, std::as_bytes(std::span(&packet, 1)), place.descriptor).ok()) return false;
  sent_.insert(place.arena);
  return true;
}

Status Lent::take_returns() {
  for (uint64_t number = 0;;) {
    TROUPE_ASSIGN(const size_t count, returns_.read(std::as_writable_bytes(std::span(&number, 1))));
    if (count == 0) break;
    if (count != sizeof number || tensors_.erase(number) == 0)
      return data_loss("the peer returns a tensor that it has not borrowed");
  }
  returns_.release();  // a borrower without room for a return tries again later
  return {};
}

// Borrowing.

struct Borrowed::BorrowedBuffer : Buffer {
  uint64_t number = 0;
  std::shared_ptr<MappedFile> mapping;
};

void Borrowed::add_arena(uint32_t arena, MappedFile file) {
  if (arenas_.size() < max_arenas) arenas_.emplace(arena, std::make_shared<MappedFile>(std::move(file)));
}

Result<BufferRef> Borrowed::borrow(const Loan& loan, size_t bytes) {
  const auto arena = arenas_.find(loan.arena);
  if (arena == arenas_.end())
    return invalid_argument("a tensor is lent from arena " + std::to_string(loan.arena) +
                            ", which the peer has not sent");
  const auto memory = arena->second->memory();
  if (loan.offset > memory.size() || bytes > memory.size() - loan.offset)
    return invalid_argument("a tensor of " + std::to_string(bytes) + " bytes is lent at offset " +
                            std::to_string(loan.offset) + " of an arena of " + std::to_string(memory.size()));
  if (loan.number <= last_number_) return invalid_argument("the number of a loan was used before");
  last_number_ = loan.number;
  auto* const buffer = new BorrowedBuffer;
  buffer->data = memory.data() + loan.offset;
  buffer->bytes = bytes;
  buffer->release = [](Buffer* self) { delete static_cast<BorrowedBuffer*>(self); };
  buffer->number = loan.number;
  buffer->mapping = arena->second;
  return buffers_.emplace_back(BufferRef::adopt(buffer));
}

bool Borrowed::return_unused() {
  for (size_t looks = std::min(buffers_.size(), max_looked_at); looks > 0 && !buffers_.empty(); --looks) {
    if (next_ >= buffers_.size()) next_ = 0;
    BufferRef& buffer = buffers_[next_];
    if (!buffer.unique()) {
      ++next_;
      continue;
    }
    const uint64_t number = static_cast<BorrowedBuffer*>(buffer.get())->number;
    const auto written = returns_.write(std::as_bytes(std::span(&number, 1)));
    if (!written || *written == 0) break;  // the peer takes them later
    std::swap(buffer, buffers_.back());
    buffers_.pop_back();
  }
  return returns_.publish();
}

Status Borrowed::keep() {
  std::erase_if(buffers_, [](const BufferRef& buffer) { return buffer.unique(); });
  for (const auto& [id, arena] : arenas_) TROUPE_RETURN_IF_FAILED(keep(arena));
  buffers_.clear();
  arenas_.clear();
  return {};
}

// Replaces the whole mapping by a private one at once, so that other threads may read the tensors meanwhile. Only the pages of the
// tensors take memory.
Status Borrowed::keep(const std::shared_ptr<MappedFile>& arena) {
  const auto is_here = [&](const BufferRef& buffer) {
    return static_cast<const BorrowedBuffer*>(buffer.get())->mapping == arena;
  };
  if (std::ranges::none_of(buffers_, is_here)) return {};
  const auto memory = arena->memory();
  void* const mapped = ::mmap(nullptr, memory.size(), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  Status failed = resource_exhausted("there is no memory to keep the tensors of a peer");
  if (mapped == MAP_FAILED) return failed;
  for (const BufferRef& buffer : buffers_)
    if (is_here(buffer))
      std::memcpy(static_cast<std::byte*>(mapped) + (buffer->data - memory.data()), buffer->data,
                  buffer->bytes);
  if (::mremap(mapped, memory.size(), memory.size(), MREMAP_MAYMOVE | MREMAP_FIXED, memory.data()) !=
      MAP_FAILED)
    return {};
  ::munmap(mapped, memory.size());
  return failed;
}

}  // namespace troupe
