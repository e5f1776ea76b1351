// DamagingProxy: forwards the connections to an endpoint, and lets a function change each frame on the way, in both directions. It
// has threads of its own until it is destroyed.
#pragma once

#include <utility>  // Boost.Asio 1.74 wants it first

#include <boost/asio.hpp>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace troupe::test {

class DamagingProxy {
 public:
  /// `damage` is called by any thread, also by several at the same time.
  using Damage = std::function<void(std::vector<std::byte>& frame)>;

  /// `endpoint`: "127.0.0.1:4242".
  DamagingProxy(const std::string& endpoint, Damage damage);
  ~DamagingProxy();
  DamagingProxy(const DamagingProxy&) = delete;
  DamagingProxy& operator=(const DamagingProxy&) = delete;

  std::string endpoint() const;

 private:
  using Socket = boost::asio::ip::tcp::socket;
  struct Pair {
    Socket caller, called;
  };

  void serve();
  void forward(Pair& pair, Socket& from, Socket& to);

  const boost::asio::ip::tcp::endpoint target_;
  const Damage damage_;
  boost::asio::io_context io_;
  boost::asio::ip::tcp::acceptor acceptor_{io_, {boost::asio::ip::address_v4::loopback(), 0}};
  std::mutex mutex_;  ///< guards the next three
  std::list<Pair> pairs_;
  std::vector<std::thread> forwarders_;
  bool ending_ = false;
  std::thread server_;  // the last member: it uses the others
};

}  // namespace troupe::test
