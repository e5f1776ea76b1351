// What two processes of one host exchange besides frames: descriptors over a Unix socket, and the memory of their rings. A socket
// has an abstract name, exists only in its network namespace, and takes only processes of the same user. Units: bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "actors/net/transport/shared_ring.h"
#include "messages/env/descriptor.h"

namespace troupe {

/// Returns where this process can share memory, equal for two processes exactly if they can share it: of one boot of one host, one
/// user, and one network namespace. Empty if the system does not tell.
std::string sharing_place();

// Sockets. None of these functions blocks. Every packet has a type in its first byte.

inline constexpr size_t max_packet = 64;
/// A packet, and the descriptor that came with it.
struct Packet {
  std::array<std::byte, max_packet> data;
  size_t size = 0;
  Descriptor descriptor;
  std::span<const std::byte> bytes() const { return std::span(data).first(size); }
};

Result<Descriptor> listen_locally(const std::string& name);
Result<Descriptor> connect_locally(const std::string& name);
/// Returns the next waiting connection; an empty Descriptor if there is none.
Result<Descriptor> accept_locally(int listening);
/// Returns the id of the process at the other end. Fails with PermissionDenied if it belongs to another user.
Result<int> check_same_user(int socket);
/// Fails with Unavailable if the other side has closed, or has not taken what was sent before.
Status send_packet(int socket, std::span<const std::byte> bytes, int descriptor = -1);
enum class Receipt : uint8_t { Packet, Nothing, End };
Receipt receive_packet(int socket, Packet& packet);

/// A mapped memory file whose size nobody can reduce.
class MappedFile {
 public:
  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept : memory_(std::exchange(other.memory_, {})) {}
  MappedFile& operator=(MappedFile other) noexcept {
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~MappedFile();

  /// Maps a whole file that a peer has sent. Fails with InvalidArgument unless it is a memory file, sealed against shrinking, and
  /// of `size` bytes (0: of any size).
  static Result<MappedFile> map(int descriptor, size_t size, bool writable);
  std::span<std::byte> memory() const { return memory_; }

 private:
  std::span<std::byte> memory_;
};

/// The rings of one connection. Side 0 has accepted the connection, side 1 has made it.
class SharedRings {
 public:
  static constexpr size_t frame_bytes = size_t{256} << 10, return_bytes = size_t{32} << 10;

  /// Makes new rings. The descriptor is for the other side.
  static Result<std::pair<SharedRings, Descriptor>> make();
  /// Maps the rings that the other side has made.
  static Result<SharedRings> map(int descriptor);

  RingWriter frames_from(int side) const { return {directions(side).frames, frame_memory(side)}; }
  RingReader frames_to(int side) const { return {directions(1 - side).frames, frame_memory(1 - side)}; }
  /// The numbers of loans that a side has returned.
  RingWriter returns_from(int side) const { return {directions(side).returns, return_memory(side)}; }
  RingReader returns_to(int side) const { return {directions(1 - side).returns, return_memory(1 - side)}; }

 private:
  struct Direction {
    RingState frames, returns;
  };
  static constexpr size_t head_bytes = 4096, total_bytes = head_bytes + 2 * (frame_bytes + return_bytes);
  explicit SharedRings(MappedFile file) : file_(std::move(file)) {}
  Direction& directions(int side) const { return reinterpret_cast<Direction*>(file_.memory().data())[side]; }
  std::span<std::byte> frame_memory(int side) const {
    return file_.memory().subspan(head_bytes + static_cast<size_t>(side) * frame_bytes, frame_bytes);
  }
  std::span<std::byte> return_memory(int side) const {
    return file_.memory().subspan(head_bytes + 2 * frame_bytes + static_cast<size_t>(side) * return_bytes,
                                  return_bytes);
  }

  MappedFile file_;
};

}  // namespace troupe
