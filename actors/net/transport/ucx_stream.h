// UcxStream: a stream of frames through UCX, in pieces (actors/net/transport/outgoing_pieces.h). The bytes of a large tensor are
// fetched into its own memory, without a copy where the devices allow that. Pieces are numbered, since UCX does not promise to keep
// their order. For ucx_network.cpp and UcxWorker only; on the thread that runs the io_context.
#pragma once

#include <utility>  // Boost.Asio 1.74 wants it first

#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/net/transport/outgoing_pieces.h"
#include "actors/net/transport/ucx_worker.h"
#include "messages/env/network.h"

namespace troupe {

/// A stream is kept alive by its pending operations, so that frames are still sent after its Connection has been destroyed. It
/// ends when both sides have said so, or after some time. Whoever drops a stream without release() must abandon() it.
class UcxStream final : public std::enable_shared_from_this<UcxStream> {
  /// How many pieces of a peer may wait for one before them.
  static constexpr size_t max_waiting = 256;

 public:
  /// Pieces for this stream have `key`; `peer` names the peer for messages to people.
  UcxStream(UcxWorker& worker, std::string key, std::string peer);

  /// Opens the stream to a peer that has made an offer. Calls `opened` once: when the peer has accepted, or at the deadline.
  void open(const TransportOffer& offer, int64_t deadline, std::function<void(const Status&)> opened);
  /// Accepts what open() of the peer has sent: the content of its opening.
  Status accept(std::span<const std::byte> content);

  const std::string& peer() const { return peer_; }
  size_t unsent() const { return outgoing_.unsent(); }
  void start(Connection::Events& events, Allocator& memory, const FrameLimits& limits);
  void welcome(const FrameLimits& limits) { decoder_->set_limits(limits); }
  void send(EncodedFrame frame);
  /// Called when the Connection is destroyed: the stream sends the frames in its queue for at most a second, then closes.
  void release();

  // For UcxWorker.

  ucp_ep_h endpoint() const { return endpoint_; }
  /// Takes a piece that has arrived. Returns whether it keeps `data`, which describes a piece that is to be fetched (`rendezvous`).
  bool arrived(const PieceHeader& header, void* data, size_t bytes, bool rendezvous);
  /// UCX cannot go on with the endpoint.
  void endpoint_failed(ucs_status_t status) { fail_soon(failure(status)); }
  bool is_sending() const { return !outgoing_.all_arrived(); }
  /// Closes at once.
  void abandon() { close(); }

 private:
  struct Operation;
  struct Sending;
  struct Receiving;
  template <class Ended>
  static std::unique_ptr<Ended> end(void* request, void* data);
  /// A piece that cannot be taken yet: its bytes, or what describes them.
  struct Waiting {
    PieceHeader::Kind kind = PieceHeader::Kind::Bytes;
    std::vector<std::byte> bytes;
    void* description = nullptr;
    size_t size = 0;  ///< of what is described
  };

  Status connect(std::string_view address, std::span<const char> peer_key);
  void send_piece(OutgoingPiece piece);
  void begin(unsigned id, std::unique_ptr<Sending> sending);
  void sent(const Sending& sending, ucs_status_t status);
  void flush();
  void say_end();
  bool keep_waiting(const PieceHeader& header, void* data, size_t bytes, bool rendezvous);
  void take_waiting();
  void take(PieceHeader::Kind kind, std::span<const std::byte> bytes);
  void fetch(const Waiting& piece);
  void fetched(const Receiving& receiving, ucs_status_t status);
  void read(std::span<const std::byte> bytes);
  bool advance(size_t count);
  void accepted(const Status& status);
  void peer_ended();
  void close_when_flushed();
  void close_at(std::chrono::steady_clock::time_point time);
  Status failure(ucs_status_t status) const;
  void fail(const Status& reason);
  void fail_soon(const Status& reason);
  void drop_waiting();
  void close();

  UcxWorker& worker_;  ///< until the stream is closed
  const UcxLibrary& ucx_;
  boost::asio::io_context& io_;
  boost::asio::steady_timer timer_;
  const std::string key_, peer_;
  ucp_ep_h endpoint_ = nullptr;
  Connection::Events* events_ = nullptr;
  std::function<void(const Status&)> opened_;
  bool released_ = false, peer_ended_ = false, end_said_ = false, flushing_ = false, closed_ = false;

  std::array<char, 16> peer_key_{};
  OutgoingPieces outgoing_;

  // Receiving.
  std::optional<FrameDecoder> decoder_;
  uint64_t expected_ = 0;  ///< the number of the next piece
  std::map<uint64_t, Waiting> waiting_;
  bool fetching_ = false;         ///< the next piece is being fetched
  std::vector<std::byte> spill_;  ///< for a piece that is fetched, but is no tensor
};

}  // namespace troupe
