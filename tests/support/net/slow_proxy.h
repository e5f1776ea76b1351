// SlowProxy: forwards connections to an endpoint, and limits the bytes per second back to the caller on each
// connection, so that the caller is like a peer that reads slowly. It has a thread of its own until it is destroyed.
#pragma once

#include <utility>  // Boost.Asio 1.74 wants it first

#include <algorithm>
#include <array>
#include <boost/asio.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

namespace troupe::test {

class SlowProxy {
 public:
  SlowProxy(uint16_t port, size_t bytes_a_second)
      : port_(port), slice_(std::max<size_t>(1, bytes_a_second / 10)) {
    accept();
    thread_ = std::thread([this] { io_.run(); });
  }
  ~SlowProxy() {
    io_.stop();
    thread_.join();
  }
  std::string endpoint() const { return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()); }

 private:
  using Socket = boost::asio::ip::tcp::socket;
  using SocketError = boost::system::error_code;

  struct Pair {
    explicit Pair(Socket from)
        : caller(std::move(from)), called(caller.get_executor()), pause(caller.get_executor()) {}
    Socket caller, called;
    boost::asio::steady_timer pause;
    std::array<char, 4096> up{}, down{};
  };

  void accept() {
    acceptor_.async_accept([this](const SocketError& error, Socket socket) {
      if (error) return;
      // The buffers must be small, because otherwise the proxy would read fast until they are full.
      socket.set_option(boost::asio::socket_base::send_buffer_size(4096));
      const auto pair = std::make_shared<Pair>(std::move(socket));
      pair->called.open(boost::asio::ip::tcp::v4());
      pair->called.set_option(boost::asio::socket_base::receive_buffer_size(4096));
      pair->called.connect({boost::asio::ip::address_v4::loopback(), port_});
      forward_up(pair);
      forward_down(pair);
      accept();
    });
  }

  void forward_up(const std::shared_ptr<Pair>& pair) {
    pair->caller.async_read_some(
        boost::asio::buffer(pair->up), [this, pair](const SocketError& error, size_t count) {
          SocketError failed = error;
          if (!failed) boost::asio::write(pair->called, boost::asio::buffer(pair->up, count), failed);
          if (failed) return end(*pair);
          forward_up(pair);
        });
  }

  void forward_down(const std::shared_ptr<Pair>& pair) {
    const auto into = boost::asio::buffer(pair->down, std::min(slice_, pair->down.size()));
    pair->called.async_read_some(into, [this, pair](const SocketError& error, size_t count) {
      SocketError failed = error;
      if (!failed) boost::asio::write(pair->caller, boost::asio::buffer(pair->down, count), failed);
      if (failed) return end(*pair);
      pair->pause.expires_after(std::chrono::milliseconds(100));
      pair->pause.async_wait([this, pair](const SocketError& stopped) {
        if (!stopped) forward_down(pair);
      });
    });
  }

  static void end(Pair& pair) {
    SocketError ignored;
    pair.caller.close(ignored);
    pair.called.close(ignored);
  }

  const uint16_t port_;
  const size_t slice_;  ///< the bytes forwarded ten times per second
  boost::asio::io_context io_;
  boost::asio::ip::tcp::acceptor acceptor_{io_, {boost::asio::ip::address_v4::loopback(), 0}};
  std::thread thread_;
};

}  // namespace troupe::test
