// ReservedPort: a port of the loopback interface that no other program can take as long as this object lives,
// but at which a program under test can listen: the socket here is bound and does not listen. One thread.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace troupe::test {

class ReservedPort {
 public:
  explicit ReservedPort(std::string host = "127.0.0.1")
      : host_(std::move(host)), descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    ::inet_pton(AF_INET, host_.c_str(), &address.sin_addr);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    const int reuse = 1;
    ::setsockopt(descriptor_, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
    if (::bind(descriptor_, generic, size) != 0 || ::getsockname(descriptor_, generic, &size) != 0)
      throw std::system_error(errno, std::generic_category(), "cannot reserve a port of " + host_);
    port_ = ntohs(address.sin_port);
  }
  ~ReservedPort() { ::close(descriptor_); }
  ReservedPort(const ReservedPort&) = delete;
  ReservedPort& operator=(const ReservedPort&) = delete;

  std::string endpoint() const { return host_ + ":" + std::to_string(port_); }
  /// Makes this socket listen.
  void listen() { ::listen(descriptor_, 1); }

 private:
  const std::string host_;
  const int descriptor_;
  uint16_t port_ = 0;
};

}  // namespace troupe::test
