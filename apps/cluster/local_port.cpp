#include "apps/cluster/local_port.h"

#include <netdb.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>

#include "apps/cluster/neighbours.h"
#include "messages/env/descriptor.h"

namespace troupe::cluster {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype([](addrinfo* list) { freeaddrinfo(list); })>;

int error_of_binding(const addrinfo& address) {
  const Descriptor socket(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return errno;
  const int yes = 1;
  ::setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  return ::bind(socket.number(), address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno;
}

}  // namespace

Result<int> error_of_binding(const std::string& endpoint) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const std::string port = endpoint.substr(endpoint.rfind(':') + 1);
  if (const int error = ::getaddrinfo(host_of(endpoint).c_str(), port.c_str(), &hints, &list); error != 0)
    return not_found(endpoint + ": " + ::gai_strerror(error));
  const Addresses addresses(list);
  int result = EADDRNOTAVAIL;
  for (const addrinfo* one = list; one; one = one->ai_next) {
    const int error = error_of_binding(*one);
    if (error == 0) return 0;
    if (error != EADDRNOTAVAIL) result = error;
  }
  return result;
}

}  // namespace troupe::cluster
