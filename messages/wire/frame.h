// Frames: messages as bytes between nodes. Every transport, simulated ones included, sends and reads exactly
// these, in order:
//   header, 72 bytes
//   struct, words of 8 bytes
//   table: dtype, shape and length of each attachment
//   attachments: plain tensors as they lie in memory, strings as all lengths and then all bytes
// Little-endian. A plain tensor is sent from and read into its own memory. One thread at a time per object.
// A frame is hostile until decoded: lengths are checked before memory is taken.
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

/// What a link says about a message, and can act on without reading it. To which step a message belongs, and how much time is left
/// for it, its struct says.
struct FrameHeader {
  uint64_t receiver = 0;  ///< number that the sender has bound to an actor (link.capnp); 0: the link itself
  uint64_t sequence = 0;  ///< counts the frames of one sender: 1, 3, 5, ... by control, 2, 4, 6, ... in bulk
  uint64_t answers = 0;   ///< sequence of the request that this is the reply to; 0: none
  uint64_t incarnation = 0;  ///< of the sending process
  bool request = false;      ///< exactly one reply is owed

  friend bool operator==(const FrameHeader&, const FrameHeader&) = default;
};

/// A frame ready to be written: its pieces in order, most of
/// them the memory of the message itself, which it keeps alive.
class EncodedFrame {
 public:
  EncodedFrame(EncodedFrame&&) = default;
  EncodedFrame& operator=(EncodedFrame&&) = default;

  std::span<const std::span<const std::byte>> pieces() const { return pieces_; }
  size_t bytes() const { return bytes_; }
  /// Of these, what credits count.
  size_t attachment_bytes() const { return attachment_bytes_; }

 private:
  friend Result<EncodedFrame> encode(const FrameHeader& header, AnyMessage message);
  EncodedFrame() = default;
  void add(std::span<const std::byte> piece);

  AnyMessage message_;
  std::vector<std::byte> own_;  // header, table, strings: never resized once a piece refers to it
  std::vector<std::span<const std::byte>> pieces_;
  size_t bytes_ = 0, attachment_bytes_ = 0;
};

/// FailedPrecondition when an attachment is not what a node may send: in device memory, still being computed,
/// in an opaque layout, or a resource.
Result<EncodedFrame> encode(const FrameHeader& header, AnyMessage message);

/// A decoded frame. `words` may hold anything: receive<T>()
/// of message_reader.h checks them and makes the message.
struct Frame {
  FrameHeader header;
  uint64_t schema_id = 0;
  std::vector<uint64_t> words;
  std::vector<Tensor> attachments;
};

/// Turns a stream of bytes into frames:
///   read at most decoder.wanted().size() bytes into decoder.wanted();
///   decoder.advance(bytes read);
///   if (auto frame = decoder.take()) ...
class FrameDecoder {
 public:
  /// Tensors come from `allocator`, which must outlive the decoder.
  explicit FrameDecoder(Allocator& allocator, const FrameLimits& limits = {})
      : allocator_(&allocator), limits_(limits) {}

  /// From the next header on.
  void set_limits(const FrameLimits& limits) { limits_ = limits; }
  /// Where the next bytes of the stream belong. Empty while
  /// a whole frame waits to be taken, and after a failure.
  std::span<std::byte> wanted();
  /// `bytes`, at most wanted().size(), have been put there. InvalidArgument, or ResourceExhausted naming the
  /// limit: the stream cannot be read on.
  Status advance(size_t bytes);
  /// The frame, once it is whole.
  std::optional<Frame> take();

 private:
  struct Incoming {
    DType dtype = DType::Invalid;
    Shape shape;
    size_t bytes = 0;
  };
  enum class Stage : uint8_t { Header, StructAndTable, Attachments, Whole, Failed };

  Status proceed();
  Status read_header();
  Status read_table();
  Result<Incoming> announced(uint8_t dtype_number, std::span<const int64_t> dims, uint64_t bytes) const;
  Status begin_attachment();
  Status end_attachment();

  Allocator* allocator_;
  FrameLimits limits_;
  Stage stage_ = Stage::Header;
  Status failure_;
  size_t filled_ = 0;  // bytes of the current piece that have arrived
  std::array<std::byte, frame_header_bytes> header_{};
  size_t struct_words_ = 0, table_words_ = 0, attachments_ = 0;
  uint64_t attachment_bytes_ = 0;
  std::vector<Incoming> incoming_;
  Frame frame_;                     // as far as it has arrived
  Tensor tensor_;                   // the attachment that is arriving
  std::vector<std::byte> strings_;  // or its strings, as they come
};

}  // namespace troupe
