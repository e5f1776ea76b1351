#include "actors/net/transport/loans.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace troupe {
namespace {

constexpr size_t max_arenas = 256;    // of one peer: one for each of its devices
constexpr size_t max_looked_at = 64;  // buffers per call of return_unused()

}  // namespace

Status send_packet(int socket, const LoanPacket& packet, int descriptor) {
  return send_packet(socket, std::as_bytes(std::span(&packet, 1)), descriptor);
}

// Lending.

std::optional<Loan> Lent::lend(const Tensor& tensor) {
  if (!arenas_ || tensor.buffer()->arena == 0) return std::nullopt;
  const bool on_gpu = tensor.memory() == MemoryKind::Device;
  if (on_gpu ? !mapped_.contains(tensor.buffer()->arena) : tensor.bytes() < min_lent) return std::nullopt;
  const auto place = arenas_->lend(tensor.data(), tensor.bytes());
  if (!place || !send_parts(place->arena, place->parts)) return std::nullopt;
  tensors_.emplace(++last_number_, tensor);
  return Loan{last_number_, place->offset, place->arena};
}

/// Returns whether the peer has the first `count` parts of the arena.
bool Lent::send_parts(uint32_t arena, uint32_t count) {
  for (uint32_t& sent = sent_[arena]; sent < count; ++sent) {
    const auto part = arenas_->part(arena, sent);
    if (!part) return false;
    const LoanPacket packet{part->on_gpu ? LoanPacket::Type::GpuPart : LoanPacket::Type::HostPart, arena,
                            part->offset, part->bytes, part->arena_bytes};
    if (!send_packet(socket_, packet, part->descriptor.number()).ok()) return false;
  }
  return true;
}

bool Lent::lends_gpu_memory() {
  if (!arenas_ || !peer_has_gpus_) return false;
  const auto gpus = arenas_->gpu_arenas();
  bool all = !gpus.empty();
  for (const uint32_t arena : gpus) {
    if (mapped_.contains(arena)) continue;
    all = false;
    (void)send_parts(arena, 1);
  }
  return all;
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
  PeerArena mapping;
};

Status Borrowed::add_part(uint32_t arena, const ArenaPart& part) {
  Status mapped = map_part(arena, part);
  if (!mapped.ok() && unmapped_.size() < max_arenas) unmapped_.emplace(arena, mapped);
  return mapped;
}

Status Borrowed::map_part(uint32_t arena, const ArenaPart& part) {
  if (!arenas_.contains(arena) && arenas_.size() >= max_arenas)
    return invalid_argument("the peer sent more than " + std::to_string(max_arenas) + " arenas");
  if (part.on_gpu) return map_gpu_part(arena, part);
  if (arenas_.contains(arena)) return invalid_argument("the peer sent an arena twice");
  TROUPE_ASSIGN(MappedFile file, MappedFile::map(part.descriptor.number(), 0, false));
  arenas_[arena].file = std::make_shared<MappedFile>(std::move(file));
  return {};
}

Status Borrowed::map_gpu_part(uint32_t arena, const ArenaPart& part) {
  const auto known = arenas_.find(arena);
  if (known != arenas_.end())
    return known->second.gpu ? known->second.gpu->add(part)
                             : invalid_argument("the peer sent an arena twice");
  if (!own_) return unavailable("this process shares no memory of GPUs");
  TROUPE_ASSIGN(auto memory, own_->map_gpu_memory(part.arena_bytes));
  TROUPE_RETURN_IF_FAILED(memory->add(part));
  arenas_[arena].gpu = std::move(memory);
  return {};
}

Result<std::byte*> Borrowed::find(const Loan& loan, size_t bytes) const {
  const auto arena = arenas_.find(loan.arena);
  if (arena == arenas_.end()) {
    const std::string lent = "a tensor is lent from arena " + std::to_string(loan.arena) + ", which ";
    if (const auto why = unmapped_.find(loan.arena); why != unmapped_.end())
      return Status(why->second.code(), lent + "is not mapped: " + why->second.text());
    return invalid_argument(lent + "the peer has not sent");
  }
  if (arena->second.gpu) return arena->second.gpu->find(loan.offset, bytes);
  const auto memory = arena->second.file->memory();
  if (loan.offset > memory.size() || bytes > memory.size() - loan.offset)
    return invalid_argument("a tensor of " + std::to_string(bytes) + " bytes is lent at offset " +
                            std::to_string(loan.offset) + " of an arena of " + std::to_string(memory.size()));
  return memory.data() + loan.offset;
}

Result<BufferRef> Borrowed::borrow(const Loan& loan, size_t bytes) {
  TROUPE_ASSIGN(std::byte* const data, find(loan, bytes));
  if (loan.number <= last_number_) return invalid_argument("the number of a loan was used before");
  last_number_ = loan.number;
  auto* const buffer = new BorrowedBuffer;
  buffer->data = data;
  buffer->bytes = bytes;
  buffer->release = [](Buffer* self) { delete static_cast<BorrowedBuffer*>(self); };
  buffer->number = loan.number;
  buffer->mapping = arenas_.at(loan.arena);
  if (buffer->mapping.gpu) {
    buffer->kind = MemoryKind::Device;
    buffer->device = PeerGpuMemory::ordinal;
  }
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
  for (const auto& [id, arena] : arenas_)
    if (arena.file) TROUPE_RETURN_IF_FAILED(keep(arena.file));
  std::erase_if(buffers_, [](const BufferRef& buffer) { return buffer->kind != MemoryKind::Device; });
  arenas_.clear();
  return {};
}

bool Borrowed::is_gpu_memory_used() {
  std::erase_if(buffers_, [](const BufferRef& buffer) { return buffer.unique(); });
  return !buffers_.empty();
}

// Replaces the whole mapping by a private one at once, so that other threads may read the tensors meanwhile. Only the pages of the
// tensors take memory.
Status Borrowed::keep(const std::shared_ptr<MappedFile>& arena) {
  const auto is_here = [&](const BufferRef& buffer) {
    return static_cast<const BorrowedBuffer*>(buffer.get())->mapping.file == arena;
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
