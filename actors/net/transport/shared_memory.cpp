#include "actors/net/transport/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

namespace troupe {
namespace {

Status failure(const std::string& what) {
  return unavailable(what + ": " + std::error_code(errno, std::generic_category()).message());
}

Result<sockaddr_un> address_of(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.empty() || name.size() + 1 > sizeof address.sun_path)
    return invalid_argument("the name of a Unix socket has " + std::to_string(name.size()) + " bytes");
  std::memcpy(address.sun_path + 1, name.data(), name.size());  // the first byte is 0: an abstract name
  return address;
}

socklen_t size_of_address(const std::string& name) {
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

Descriptor new_socket() {
  return Descriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

}  // namespace

std::string sharing_place() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  struct stat space {};
  if (boot.empty() || ::stat("/proc/self/ns/net", &space) != 0) return {};
  return boot + '/' + std::to_string(::getuid()) + '/' + std::to_string(space.st_ino);
}

Result<Descriptor> listen_locally(const std::string& name) {
  TROUPE_ASSIGN(const sockaddr_un address, address_of(name));
  Descriptor socket = new_socket();
  if (!socket ||
      ::bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), size_of_address(name)) != 0 ||
      ::listen(socket.number(), SOMAXCONN) != 0)
    return failure("cannot listen at a Unix socket");
  return socket;
}

Result<Descriptor> connect_locally(const std::string& name) {
  TROUPE_ASSIGN(const sockaddr_un address, address_of(name));
  Descriptor socket = new_socket();
  if (!socket ||
      ::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), size_of_address(name)) != 0)
    return failure("cannot connect to the Unix socket of the peer");
  TROUPE_RETURN_IF_FAILED(check_same_user(socket.number()).status());
  return socket;
}

Result<Descriptor> accept_locally(int listening) {
  Descriptor socket(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket && errno != EAGAIN && errno != ECONNABORTED)
    return failure("cannot accept a connection at a Unix socket");
  return socket;
}

Result<int> check_same_user(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    return failure("the system does not tell whose process is at the other end of a Unix socket");
  if (peer.uid != ::getuid())
    return Status(Code::PermissionDenied, "process " + std::to_string(peer.pid) + " belongs to user " +
                                              std::to_string(peer.uid) + ", this process to user " +
                                              std::to_string(::getuid()));
  return peer.pid;
}

Status send_packet(int socket, std::span<const std::byte> bytes, int descriptor) {
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = room.data();
    message.msg_controllen = room.size();
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
  }
  if (::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
    return failure("the Unix socket of a peer");
  return {};
}

Receipt receive_packet(int socket, Packet& packet) {
  iovec part{packet.data.data(), packet.data.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room.data();
  message.msg_controllen = room.size();
  const ssize_t count = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return Receipt::Nothing;
  if (count <= 0) return Receipt::End;
  packet.size = static_cast<size_t>(count);
  packet.descriptor = Descriptor();
  // There is room for one descriptor; the system closes any others.
  if (const cmsghdr* const head = CMSG_FIRSTHDR(&message);
      head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(head), sizeof number);
    packet.descriptor = Descriptor(number);
  }
  return Receipt::Packet;
}

MappedFile::~MappedFile() {
  if (!memory_.empty()) ::munmap(memory_.data(), memory_.size());
}

Result<MappedFile> MappedFile::map(int descriptor, size_t size, bool writable) {
  struct stat info {};
  const int seals = ::fcntl(descriptor, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || ::fstat(descriptor, &info) != 0)
    return invalid_argument("the peer sent a file that is no memory file sealed against shrinking");
  const auto found = static_cast<size_t>(info.st_size);
  if (found == 0 || (size != 0 && found != size))
    return invalid_argument("the peer sent a memory file of " + std::to_string(found) + " bytes");
  void* const mapped = ::mmap(nullptr, found, writable ? PROT_READ | PROT_WRITE : PROT_READ,
                              MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (mapped == MAP_FAILED) return failure("cannot map the memory of a peer");
  MappedFile file;
  file.memory_ = {static_cast<std::byte*>(mapped), found};
  return file;
}

Result<std::pair<SharedRings, Descriptor>> SharedRings::make() {
  Descriptor file(::memfd_create("troupe-rings", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ::ftruncate(file.number(), total_bytes) != 0 ||
      ::fcntl(file.number(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return failure("cannot make a memory file");
  TROUPE_ASSIGN(SharedRings rings, map(file.number()));
  return std::pair(std::move(rings), std::move(file));
}

Result<SharedRings> SharedRings::map(int descriptor) {
  static_assert(2 * sizeof(Direction) <= head_bytes);
  TROUPE_ASSIGN(MappedFile file, MappedFile::map(descriptor, total_bytes, true));
  return SharedRings(std::move(file));
}

}  // namespace troupe
