// Frames: how messages travel as bytes between nodes. Every transport,
// also the simulated one of the tests, sends these parts in order:
//   header, 72 bytes
//   struct: the message, in words of 8 bytes
//   table: dtype, shape and length of each attachment
//   attachments: plain tensors as they lie in memory; of a tensor of strings first all lengths, then all bytes
// A tensor may be lent instead, if sender and receiver share memory: then the table says where its bytes are, and none are sent.
// Only so can a tensor in the memory of a GPU travel; it arrives as one in device memory, too.
// All numbers are little-endian. Plain tensors are sent from, and read into, their own memory. The decoder trusts no peer: it
// checks each length before it allocates memory for it. One thread at a time may use an object.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "messages/wire/limits.h"
#include "messages/wire/message.h"

namespace troupe {

inline constexpr size_t frame_header_bytes = 72;

/// What a link needs to know about a message without reading its
/// struct. The step of the message and its deadline are in the struct.
struct FrameHeader {
  /// The number that the sender has bound to an actor (link.capnp); 0: the link itself.
  uint64_t receiver = 0;
  /// The number of the frame at its sender: odd on the control connection, even on the bulk one.
  uint64_t sequence = 0;
  /// The sequence number of the request to which this is the reply; 0: this is no reply.
  uint64_t answers = 0;
  uint64_t incarnation = 0;  ///< of the sending process
  bool request = false;      ///< true if the receiver must send exactly one reply

  friend bool operator==(const FrameHeader&, const FrameHeader&) = default;
};

/// Where a process finds the bytes of a tensor that another process has lent to it.
struct Loan {
  uint64_t number = 0;  ///< chosen by the lender, greater than those before
  uint64_t offset = 0;  ///< of the first byte in the arena
  uint32_t arena = 0;   ///< chosen by the lender
};

/// Lends tensors to one peer.
class Lender {
 public:
  /// Lends the tensor, and keeps it until the peer has returned the loan or is gone. Returns nothing if its bytes are to be sent.
  virtual std::optional<Loan> lend(const Tensor& tensor) = 0;
  /// Returns whether lend() also takes tensors in the memory of any GPU of this process. If not, prepares it: the answer may
  /// change later.
  virtual bool lends_gpu_memory() { return false; }

 protected:
  ~Lender() = default;
};

/// Borrows tensors from one peer, which may say anything about them.
class Borrower {
 public:
  /// Returns the bytes of a loan. They must not be written: the buffer is never unique while it is borrowed. Fails with
  /// InvalidArgument if there are no such bytes.
  virtual Result<BufferRef> borrow(const Loan& loan, size_t bytes) = 0;

 protected:
  ~Borrower() = default;
};

/// A frame ready to be sent, as pieces of memory in order. Most pieces
/// are the memory of the message, which this object keeps alive.
class EncodedFrame {
 public:
  EncodedFrame(EncodedFrame&&) = default;
  EncodedFrame& operator=(EncodedFrame&&) = default;

  std::span<const std::span<const std::byte>> pieces() const { return pieces_; }
  size_t bytes() const { return bytes_; }

 private:
  friend Result<EncodedFrame> encode(const FrameHeader& header, AnyMessage message, Lender* lender);
  EncodedFrame() = default;
  void add(std::span<const std::byte> piece);

  AnyMessage message_;
  std::vector<std::byte> own_;  // header, table and strings; never resized once a piece refers to it
  std::vector<std::span<const std::byte>> pieces_;
  size_t bytes_ = 0;
};

/// Makes the frame of a message. Fails with FailedPrecondition if an attachment cannot be
/// sent: if it lies in device memory and cannot be lent, is still being computed, has an opaque
/// layout, or is a resource or variant. Fails with ResourceExhausted if the message exceeds
/// FrameLimits. The `lender` of the connection, if there is one, is asked about every plain tensor.
Result<EncodedFrame> encode(const FrameHeader& header, AnyMessage message, Lender* lender = nullptr);

/// A decoded frame. Its `words` are not checked yet: receive<T>() of message_reader.h checks them and makes the message.
struct Frame {
  FrameHeader header;
  uint64_t schema_id = 0;
  std::vector<uint64_t> words;
  std::vector<Tensor> attachments;
  /// Not Ok if there was no memory for all attachments: those that lack are empty tensors. ResourceExhausted.
  Status shortage = {};
};

/// Turns a stream of bytes into frames:
///   read at most decoder.wanted().size() bytes into decoder.wanted();
///   decoder.advance(bytes read);
///   if (auto frame = decoder.take()) ...
class FrameDecoder {
 public:
  /// The decoder allocates tensors from `allocator`, which must outlive it, as must `borrower`, which may be null.
  explicit FrameDecoder(Allocator& allocator, const FrameLimits& limits = {}, Borrower* borrower = nullptr)
      : allocator_(&allocator), borrower_(borrower), limits_(limits) {}

  /// Sets the limits that hold from the next header on.
  void set_limits(const FrameLimits& limits) { limits_ = limits; }
  /// Returns the memory for the next bytes of the stream. It is empty while a whole frame waits for take(), and after a failure.
  std::span<std::byte> wanted();
  /// Call after `bytes` bytes, at most wanted().size(), were put into wanted(). Fails with
  /// InvalidArgument for a malformed frame, and with ResourceExhausted, naming the limit,
  /// for one that is too large. After a failure the stream cannot be read any further. If there is no memory for an attachment, the
  /// bytes of the frame are read and dropped (Frame::shortage).
  Status advance(size_t bytes);
  /// Returns the frame if it is whole.
  std::optional<Frame> take();

 private:
  struct Incoming {
    DType dtype = DType::Invalid;
    Shape shape;
    size_t bytes = 0;
    std::optional<Loan> loan = {};
  };
  enum class Stage : uint8_t { Header, StructAndTable, Attachments, Whole, Failed };

  Status proceed();
  Status read_header();
  Status read_table();
  Result<Incoming> announced(uint8_t dtype_number, std::span<const int64_t> dims, uint64_t bytes) const;
  Status read_loan(uint16_t flags, Incoming& attachment, std::span<const uint64_t>& table) const;
  Status begin_attachment();
  Status allocate_attachment(const Incoming& next);
  Status end_attachment();

  Allocator* allocator_;
  Borrower* borrower_;
  FrameLimits limits_;
  Stage stage_ = Stage::Header;
  Status failure_;
  size_t filled_ = 0;  // the bytes of the current part that have arrived
  std::array<std::byte, frame_header_bytes> header_{};
  size_t struct_words_ = 0, table_words_ = 0, attachments_ = 0;
  uint64_t attachment_bytes_ = 0;
  std::vector<Incoming> incoming_;  // what the table says about each attachment
  Frame frame_;                     // the parts that have arrived
  Tensor tensor_;                   // the attachment that is arriving; of strings their bytes
  std::vector<std::byte> dropped_;  // what arrives of attachments for which there is no memory
};

}  // namespace troupe
