// What a reader accepts from outside, set here once (robustness.md R2, R9, R10). Sizes are those announced by
// a sender and are checked before anything is allocated for them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe {

/// Bounds on one incoming frame. A link narrows them to what it
/// knows of the peer: `attachment_bytes` to the credit granted.
struct FrameLimits {
  uint32_t struct_words = 1u << 23;  ///< 64 MiB: the graph of a very large model, its tensors apart
  uint32_t attachments = 1u << 16;
  uint64_t attachment_bytes = uint64_t{1} << 36;  ///< of all attachments together, on the wire and in memory

  /// For a peer that has not said yet who it is: a small struct and no tensor.
  static constexpr FrameLimits before_hello() { return {1024, 0, 0}; }
};

namespace limits {

/// How many words may be visited while a received struct is copied: so many times its size, and so many more.
inline constexpr uint64_t traversal_factor = 8;
inline constexpr uint64_t traversal_extra_words = 1024;
/// Of the tensors that one step pushes to one other process before that has asked for any; a token counts for
/// `token_bytes` at least. What goes beyond is announced, and fetched when it is wanted.
inline constexpr size_t pushed_bytes = size_t{64} << 20;
inline constexpr size_t token_bytes = 1024;
/// How often a link sends at least, in nanoseconds. A peer that says less often is taken to mean the most.
inline constexpr int64_t least_heartbeat = 20'000'000;
inline constexpr int64_t max_heartbeat = 60'000'000'000;
/// A peer that was silent for so many of them counts as dead.
inline constexpr int silent_heartbeats = 5;
/// After so many heartbeats without an answer, or a tensor that is waited for, the other side is asked what became of it.
inline constexpr int patient_heartbeats = 10;
/// Bytes of tensors in a frame beyond which it goes in bulk.
inline constexpr size_t max_by_control = size_t{64} << 10;
/// Structs and lists inside each other: an attribute of a
/// node of the body of a function of a graph needs about ten.
inline constexpr int nesting = 64;
/// A receive buffer starts with this much and at most
/// doubles what has arrived, whatever length was announced.
inline constexpr size_t first_receive_bytes = size_t{64} << 10;

}  // namespace limits
}  // namespace troupe
