// Loans: tensors that two processes lend each other instead of their bytes. The lender keeps a tensor until the borrower has
// returned its number, or is gone; so nobody overwrites it. The borrower maps the arena of the tensor for reading. Both belong
// to one connection through shared memory; on the thread that runs its io_context. Units: bytes.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "actors/net/shared_memory.h"
#include "devices/shared_arenas.h"
#include "messages/wire/frame.h"

namespace troupe {

/// Smaller tensors are copied: that is faster than to lend them.
inline constexpr size_t min_lent = size_t{32} << 10;

/// The packet with which a lender sends the memory file of an arena.
struct ArenaPacket {
  static constexpr uint32_t type_of_packet = 1;
  uint32_t type = type_of_packet;
  uint32_t arena = 0;
};

class Lent final : public Lender {
 public:
  /// `arenas` may be null: then nothing is lent. `socket` is used to send arenas.
  Lent(std::shared_ptr<SharedArenas> arenas, int socket, RingReader returns)
      : arenas_(std::move(arenas)), socket_(socket), returns_(returns) {}

  /// Sends the arena of the tensor to the peer first, if the peer does not have it.
  std::optional<Loan> lend(const Tensor& tensor) override;
  /// Drops the tensors that have been returned. Fails with DataLoss if the peer returns what it does not have.
  Status take_returns();
  bool has_returns() const { return returns_.ready(); }
  bool sleep() { return returns_.sleep(); }
  void stay_awake() { returns_.stay_awake(); }
  bool empty() const { return tensors_.empty(); }
  /// Drops all tensors. The peer must not read them any more.
  void clear() { tensors_.clear(); }

 private:
  bool send_arena(const SharedArenas::Place& place);

  const std::shared_ptr<SharedArenas> arenas_;
  const int socket_;
  RingReader returns_;
  std::unordered_map<uint64_t, Tensor> tensors_;  ///< by number
  std::set<uint32_t> sent_;                       ///< the arenas that the peer has
  uint64_t last_number_ = 0;
};

class Borrowed final : public Borrower {
 public:
  explicit Borrowed(RingWriter returns) : returns_(returns) {}
  ~Borrowed() { (void)keep(); }

  void add_arena(uint32_t arena, MappedFile file);
  bool has_arena(uint32_t arena) const { return arenas_.contains(arena); }
  Result<BufferRef> borrow(const Loan& loan, size_t bytes) override;
  bool empty() const { return buffers_.empty(); }
  /// Returns loans that nobody uses any more, of those that it looks at. Returns true if the peer must be woken.
  bool return_unused();
  /// Gives tensors that are still in use memory of their own at the same addresses, after which the peer may do with its memory
  /// what it likes. Nothing can be borrowed afterwards. Fails with ResourceExhausted, and must be called again, if there is no
  /// memory.
  Status keep();

 private:
  struct BorrowedBuffer;
  Status keep(const std::shared_ptr<MappedFile>& arena);

  RingWriter returns_;
  std::map<uint32_t, std::shared_ptr<MappedFile>> arenas_;
  /// The buffers that are borrowed, each with a reference of its own, so that they are not unique while others use them.
  std::vector<BufferRef> buffers_;
  size_t next_ = 0;  ///< the buffer that return_unused() looks at next
  uint64_t last_number_ = 0;
};

}  // namespace troupe
