#include "tests/support/net/damaging_proxy.h"

#include <array>

#include "actors/net/peer_messages.h"
#include "messages/wire/frame.h"

namespace troupe::test {
namespace {

using boost::asio::ip::tcp;

tcp::endpoint parse(const std::string& endpoint) {
  const size_t colon = endpoint.rfind(':');
  return {boost::asio::ip::make_address(endpoint.substr(0, colon)),
          static_cast<uint16_t>(std::stoi(endpoint.substr(colon + 1)))};
}

std::vector<std::byte> encoded(Frame frame) {
  const FrameHeader header = frame.header;
  const auto message = value_or_throw(encode(header, value_or_throw(receive_from_peer(std::move(frame)))));
  std::vector<std::byte> bytes;
  for (const auto piece : message.pieces()) bytes.insert(bytes.end(), piece.begin(), piece.end());
  return bytes;
}

void shut(tcp::socket& socket) {
  boost::system::error_code ignored;
  socket.shutdown(tcp::socket::shutdown_both, ignored);
}

}  // namespace

DamagingProxy::DamagingProxy(const std::string& endpoint, Damage damage)
    : target_(parse(endpoint)), damage_(std::move(damage)), server_([this] { serve(); }) {}

DamagingProxy::~DamagingProxy() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    for (Pair& pair : pairs_) {
      shut(pair.caller);
      shut(pair.called);
    }
  }
  boost::system::error_code ignored;
  Socket last(io_);
  last.connect(acceptor_.local_endpoint(), ignored);  // ends the wait of the server
  server_.join();
  for (std::thread& forwarder : forwarders_) forwarder.join();
}

std::string DamagingProxy::endpoint() const {
  return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
}

void DamagingProxy::serve() {
  for (;;) {
    boost::system::error_code error;
    Pair made{Socket(io_), Socket(io_)};
    acceptor_.accept(made.caller, error);
    if (!error) made.called.connect(target_, error);
    for (Socket* socket : {&made.caller, &made.called})
      if (!error) socket->set_option(tcp::no_delay(true), error);
    const std::lock_guard lock(mutex_);
    if (ending_) return;
    if (error) continue;
    Pair& pair = pairs_.emplace_back(std::move(made));
    forwarders_.emplace_back([this, &pair] { forward(pair, pair.caller, pair.called); });
    forwarders_.emplace_back([this, &pair] { forward(pair, pair.called, pair.caller); });
  }
}

void DamagingProxy::forward(Pair& pair, Socket& from, Socket& to) {
  try {
    FrameDecoder decoder(heap_allocator());
    for (;;) {
      const auto wanted = decoder.wanted();
      throw_if_failed(decoder.advance(from.read_some(boost::asio::buffer(wanted.data(), wanted.size()))));
      auto frame = decoder.take();
      if (!frame) continue;
      auto bytes = encoded(std::move(*frame));
      damage_(bytes);
      boost::asio::write(to, boost::asio::buffer(bytes));
    }
  } catch (const std::exception&) {  // a connection has ended, or a node has sent what no node accepts
    shut(pair.caller);
    shut(pair.called);
  }
}

}  // namespace troupe::test
