// OutgoingPieces: cuts the frames that a UcxStream sends into numbered pieces, and knows which are under way. Small parts of frames
// are joined to pieces, which are copied; the bytes of a large tensor are pieces of their own, which are not. Owned by the stream.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "messages/wire/frame.h"

namespace troupe {

/// What a piece says about itself. Its receiver trusts nothing of it.
struct PieceHeader {
  enum class Kind : uint32_t { Bytes, Accepted, End };
  std::array<char, 16> key{};  ///< of the receiving stream
  uint64_t number = 0;         ///< of the piece in its stream, from 0
  Kind kind = Kind::Bytes;
  uint32_t reserved = 0;
};

struct OutgoingPiece {
  PieceHeader header;
  std::vector<std::byte> joined;        ///< the bytes, or:
  std::shared_ptr<EncodedFrame> frame;  ///< the frame that keeps them
  std::span<const std::byte> direct;
  std::span<const std::byte> bytes() const { return frame ? direct : std::span<const std::byte>(joined); }
};

class OutgoingPieces {
 public:
  /// The most that is joined to one piece, and the most of a tensor in one piece, so that no connection delays the others.
  static constexpr size_t max_joined = size_t{128} << 10, max_direct = size_t{4} << 20;
  /// Bytes in a row are a piece of their own if there are at least so many.
  static constexpr size_t min_direct = size_t{128} << 10;
  /// How many pieces are sent before the oldest of them has arrived.
  static constexpr size_t max_under_way = 16;

  void push(EncodedFrame frame);
  /// Returns whether next() may be called.
  bool ready() const { return !queue_.empty() && under_way_.size() < max_under_way; }
  OutgoingPiece next();
  /// Returns a piece without bytes.
  OutgoingPiece mark(PieceHeader::Kind kind);
  /// Call when a piece is no longer under way.
  void arrived(const OutgoingPiece& piece);

  size_t unsent() const { return unsent_; }  ///< in bytes, with those under way
  bool all_taken() const { return queue_.empty(); }
  bool all_arrived() const { return queue_.empty() && under_way_.empty(); }
  /// Drops what was not taken.
  void clear();

 private:
  void join(std::vector<std::byte>& piece);
  std::span<const std::byte> rest();
  void skip(size_t bytes);
  void number(PieceHeader& header);

  std::deque<std::shared_ptr<EncodedFrame>> queue_;
  size_t part_ = 0, offset_ = 0;  ///< the next byte, in the first frame of the queue
  size_t unsent_ = 0;
  uint64_t first_ = 0;          ///< the number of the oldest piece that is under way
  std::deque<bool> under_way_;  ///< for each piece from that one on
};

}  // namespace troupe
