// ListeningSocket: a socket that listens at a port of the loopback interface before the program that will use it starts, so
// that the port is known and no other program can take it. Whoever gets listen() owns the socket; this class never closes it.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace troupe::test {

struct ListeningSocket {
  /// Port 0 means any free port.
  explicit ListeningSocket(uint16_t port = 0) : descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    socklen_t size = sizeof address;
    const int reuse = 1;
    ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
    if (::bind(descriptor, generic(), size) != 0 || ::listen(descriptor, SOMAXCONN) != 0 ||
        ::getsockname(descriptor, generic(), &size) != 0)
      throw std::system_error(errno, std::generic_category(), "cannot listen at a port of 127.0.0.1");
  }

  uint16_t port() const { return ntohs(address.sin_port); }
  /// Returns the address to connect to.
  std::string endpoint() const { return "127.0.0.1:" + std::to_string(port()); }
  /// Returns the address to listen at, which passes on the socket.
  std::string listen() const { return "fd:" + std::to_string(descriptor); }
  sockaddr* generic() { return reinterpret_cast<sockaddr*>(&address); }

  int descriptor;
  sockaddr_in address{};
};

}  // namespace troupe::test
