#include "apps/http/known_host.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>

namespace troupe::http {

bool is_known_host(const std::string& host, const std::vector<std::string>& hosts) {
  const size_t end = host.find(host.starts_with('[') ? ']' : ':');
  const std::string name = !host.starts_with('[')     ? host.substr(0, end)
                           : end == std::string::npos ? std::string()
                                                      : host.substr(1, end - 1);
  boost::system::error_code error;
  boost::asio::ip::make_address(name, error);
  return !error || name == "localhost" || std::ranges::count(hosts, name) > 0;
}

}  // namespace troupe::http
