#include "actors/net/transport/outgoing_pieces.h"

#include <algorithm>

namespace troupe {

void OutgoingPieces::push(EncodedFrame frame) {
  unsent_ += frame.bytes();
  queue_.push_back(std::make_shared<EncodedFrame>(std::move(frame)));
}

OutgoingPiece OutgoingPieces::next() {
  OutgoingPiece piece;
  number(piece.header);
  if (const auto bytes = rest(); bytes.size() >= min_direct) {
    piece.frame = queue_.front();
    piece.direct = bytes.first(std::min(bytes.size(), max_direct));
    skip(piece.direct.size());
  } else {
    join(piece.joined);
  }
  return piece;
}

/// Takes small parts of frames up to the next large one.
void OutgoingPieces::join(std::vector<std::byte>& piece) {
  while (!queue_.empty() && piece.size() < max_joined) {
    const auto bytes = rest();
    if (bytes.size() >= min_direct) return;
    const auto some = bytes.first(std::min(bytes.size(), max_joined - piece.size()));
    piece.insert(piece.end(), some.begin(), some.end());
    skip(some.size());
  }
}

OutgoingPiece OutgoingPieces::mark(PieceHeader::Kind kind) {
  OutgoingPiece piece;
  piece.header.kind = kind;
  number(piece.header);
  return piece;
}

void OutgoingPieces::number(PieceHeader& header) {
  header.number = first_ + under_way_.size();
  under_way_.push_back(true);
}

void OutgoingPieces::arrived(const OutgoingPiece& piece) {
  unsent_ -= std::min(unsent_, piece.bytes().size());
  under_way_[piece.header.number - first_] = false;
  for (; !under_way_.empty() && !under_way_.front(); ++first_) under_way_.pop_front();
}

void OutgoingPieces::clear() {
  queue_.clear();
  part_ = offset_ = unsent_ = 0;
}

/// Returns what is left of the part of a frame that comes next.
std::span<const std::byte> OutgoingPieces::rest() { return queue_.front()->pieces()[part_].subspan(offset_); }

/// Goes on behind `bytes` bytes of that part.
void OutgoingPieces::skip(size_t bytes) {
  offset_ += bytes;
  const auto parts = queue_.front()->pieces();
  if (offset_ < parts[part_].size()) return;
  offset_ = 0;
  if (++part_ < parts.size()) return;
  part_ = 0;
  queue_.pop_front();
}

}  // namespace troupe
