// Limits on what a node accepts from others (robustness.md R2, R9, R10). Sizes that a sender announces are checked against them
// before any memory is allocated. Constants; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe {

/// The limits for one incoming frame.
struct FrameLimits {
  uint32_t struct_words = 1u << 23;  ///< 64 MiB: the graph of a very large model, without its tensors
  uint32_t attachments = 1u << 16;
  uint64_t attachment_bytes = uint64_t{1} << 36;  ///< of all attachments together, in the frame and in memory

  /// The limits for a peer that has not identified itself yet: a small struct and no tensor.
  static constexpr FrameLimits before_hello() { return {1024, 0, 0}; }
};

namespace limits {

/// While a received struct of n words is copied, at most traversal_factor * n + traversal_extra_words words are visited.
inline constexpr uint64_t traversal_factor = 8;
inline constexpr uint64_t traversal_extra_words = 1024;
/// The bytes of tensors that one step may push to one process before that process asks for any. Each token counts as `token_bytes`
/// at least. Further tensors are announced, and the receiver fetches them when it needs them.
inline constexpr size_t pushed_bytes = size_t{64} << 20;
inline constexpr size_t token_bytes = 1024;
/// The interval at which a link sends at least one frame, in nanoseconds. A longer interval of a peer counts as max_heartbeat.
inline constexpr int64_t min_heartbeat = 20'000'000;
inline constexpr int64_t max_heartbeat = 60'000'000'000;
/// A peer from which nothing arrived for this many heartbeats counts as dead.
inline constexpr int silent_heartbeats = 5;
/// A peer that sends but for this many heartbeats has read nothing of what waits for it counts as dead, too.
inline constexpr int unread_heartbeats = 150;
/// After this many heartbeats without a reply, or without a tensor that is needed, a node asks the other side what became of it.
inline constexpr int patient_heartbeats = 10;
/// A frame whose attachments have more bytes than this goes over the bulk connection, not over the control connection.
inline constexpr size_t max_by_control = size_t{64} << 10;
/// How deep structs and lists may be nested. An attribute of a node in the body of a function of a graph needs about ten levels.
inline constexpr int nesting = 64;
/// The size of a receive buffer at first. It grows to at most twice the bytes that have arrived, whatever length was announced.
inline constexpr size_t first_receive_bytes = size_t{64} << 10;

}  // namespace limits
}  // namespace troupe
