// ListeningSocket: a socket that listens at a port of the loopback interface, so that the port is known, and is nobody else's, before
// whoever will listen there starts. Its owner is who is given listen(); nothing is closed here.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace troupe::test {

struct ListeningSocket {
  /// Port 0: a free one.
  explicit ListeningSocket(uint16_t port = 0) : descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    socklen_t size = sizeof address;
    const int reuse = 1;
    ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
    if (::bind(descriptor, generic(), size) != 0 || ::listen(descriptor, SOMAXCONN) != 0 ||
        ::getsockname(descriptor, generic(), &size) != 0)
      throw std::system_error(errno, std::generic_category(), "no socket to listen at");
  }

  uint16_t port() const { return ntohs(address.sin_port); }
  /// To connect to.
  std::string endpoint() const { return "127.0.0.1:" + std::to_string(port()); }
  /// To listen at.
  std::string listen() const { return "fd:" + std::to_string(descriptor); }
  sockaddr* generic() { return reinterpret_cast<sockaddr*>(&address); }

  int descriptor;
  sockaddr_in address{};
};

}  // namespace troupe::test
