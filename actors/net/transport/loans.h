// Loans: tensors that two processes lend each other instead of their bytes. The lender keeps a tensor until the borrower has
// returned its number, or is gone; so nobody overwrites it. The borrower maps the arena of the tensor for reading; one in the
// memory of a GPU is mapped for the borrower's GPUs. Both belong to one connection through shared memory; on the thread that runs
// its io_context. Units: bytes.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "actors/net/transport/shared_memory.h"
#include "devices/shared_arenas.h"
#include "messages/wire/frame.h"

namespace troupe {

/// Smaller tensors in host memory are copied: that is faster than to lend them.
inline constexpr size_t min_lent = size_t{32} << 10;

/// What the two sides tell each other beside the frames.
struct LoanPacket {
  enum class Type : uint32_t {
    HostPart = 1,  ///< the lender sends a part of an arena in host memory, whose memory file comes along
    GpuPart,       ///< the lender sends a part of an arena in the memory of a GPU
    HasGpus,       ///< the borrower has GPUs, and may be able to map the memory of others
    GpuMapped,     ///< the borrower has mapped the first part of an arena for its GPUs
  };
  Type type{};
  uint32_t arena = 0;
  // Of a part, see ArenaPart.
  uint64_t offset = 0, bytes = 0, arena_bytes = 0;
};
static_assert(sizeof(LoanPacket) <= max_packet);
Status send_packet(int socket, const LoanPacket& packet, int descriptor = -1);

class Lent final : public Lender {
 public:
  /// `arenas` may be null: then nothing is lent. `socket` is used to send arenas.
  Lent(std::shared_ptr<SharedArenas> arenas, int socket, RingReader returns)
      : arenas_(std::move(arenas)), socket_(socket), returns_(returns) {}

  /// Sends the parts of the tensor's arena to the peer first that the peer does not have.
  std::optional<Loan> lend(const Tensor& tensor) override;
  /// Returns true if this process has GPUs, and the GPUs of the peer read the memory of all of them. Offers it to the peer if it
  /// has not been offered.
  bool lends_gpu_memory() override;
  void peer_has_gpus() { peer_has_gpus_ = true; }
  void peer_maps(uint32_t arena) { mapped_.insert(arena); }
  /// Drops the tensors that have been returned. Fails with DataLoss if the peer returns what it does not have.
  Status take_returns();
  bool has_returns() const { return returns_.ready(); }
  bool sleep() { return returns_.sleep(); }
  void stay_awake() { returns_.stay_awake(); }
  bool empty() const { return tensors_.empty(); }
  /// Drops all tensors. The peer must not read them any more.
  void clear() { tensors_.clear(); }

 private:
  bool send_parts(uint32_t arena, uint32_t count);

  const std::shared_ptr<SharedArenas> arenas_;
  const int socket_;
  RingReader returns_;
  std::unordered_map<uint64_t, Tensor> tensors_;  ///< by number
  std::map<uint32_t, uint32_t> sent_;             ///< by arena: how many of its parts the peer has
  bool peer_has_gpus_ = false;
  std::set<uint32_t> mapped_;  ///< the arenas of GPUs that the peer's GPUs can read
  uint64_t last_number_ = 0;
};

class Borrowed final : public Borrower {
 public:
  /// `own` are the arenas of this process, whose GPUs read what is borrowed; may be null.
  Borrowed(std::shared_ptr<SharedArenas> own, RingWriter returns) : own_(std::move(own)), returns_(returns) {}
  ~Borrowed() { (void)keep(); }

  bool has_gpus() const { return own_ && !own_->gpu_arenas().empty(); }
  /// Maps a part that the peer has sent. Fails with InvalidArgument if the part is wrong, and with Unavailable if it cannot be
  /// mapped.
  Status add_part(uint32_t arena, const ArenaPart& part);
  /// Returns whether the bytes of a loan are mapped.
  bool reaches(const Loan& loan, size_t bytes) const { return find(loan, bytes).ok(); }
  Result<BufferRef> borrow(const Loan& loan, size_t bytes) override;
  bool empty() const { return buffers_.empty(); }
  /// Returns loans that nobody uses any more, of those that it looks at. Returns true if the peer must be woken.
  bool return_unused();
  /// Gives tensors in host memory that are still in use memory of their own at the same addresses, after which the peer may do with
  /// its host memory what it likes. Nothing can be borrowed afterwards. Fails with ResourceExhausted, and must be called again, if
  /// there is no memory.
  Status keep();
  /// Returns whether tensors in the memory of the peer's GPUs are still in use, after keep().
  bool is_gpu_memory_used();

 private:
  struct BorrowedBuffer;
  Status map_part(uint32_t arena, const ArenaPart& part);
  Status map_gpu_part(uint32_t arena, const ArenaPart& part);
  Result<std::byte*> find(const Loan& loan, size_t bytes) const;
  Status keep(const std::shared_ptr<MappedFile>& arena);

  /// An arena of the peer; one of the two is set.
  struct PeerArena {
    std::shared_ptr<MappedFile> file;
    std::shared_ptr<PeerGpuMemory> gpu;
  };
  const std::shared_ptr<SharedArenas> own_;
  RingWriter returns_;
  std::map<uint32_t, PeerArena> arenas_;
  std::map<uint32_t, Status> unmapped_;  ///< why parts of these arenas are not mapped
  /// The buffers that are borrowed, each with a reference of its own, so that they are not unique while others use them.
  std::vector<BufferRef> buffers_;
  size_t next_ = 0;  ///< the buffer that return_unused() looks at next
  uint64_t last_number_ = 0;
};

}  // namespace troupe
