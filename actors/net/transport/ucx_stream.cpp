#include "actors/net/transport/ucx_stream.h"

#include <algorithm>
#include <cstring>

#include <boost/asio/post.hpp>

namespace troupe {
namespace {

using SocketError = boost::system::error_code;
constexpr std::chrono::seconds ucx_farewell{1};

}  // namespace

/// An operation of a stream, which it keeps alive.
struct UcxStream::Operation : UcxWorker::Operation {
  explicit Operation(std::shared_ptr<UcxStream> of) : stream(std::move(of)) {}
  const std::shared_ptr<UcxStream> stream;
};

/// A message that is being sent, and what opens a stream if it does.
struct UcxStream::Sending final : Operation {
  Sending(std::shared_ptr<UcxStream> of, OutgoingPiece what, std::string opening = {})
      : Operation(std::move(of)), piece(std::move(what)), token(std::move(opening)) {}
  OutgoingPiece piece;
  const std::string token;
};

/// A piece that is being fetched, into the memory that the decoder wants filled, or into the spill.
struct UcxStream::Receiving final : Operation {
  Receiving(std::shared_ptr<UcxStream> of, size_t count, bool is_direct)
      : Operation(std::move(of)), bytes(count), direct(is_direct) {}
  const size_t bytes;
  const bool direct;
};

/// Ends an operation whose callback UCX has called, with what was given to it as `data`.
template <class Ended>
std::unique_ptr<Ended> UcxStream::end(void* request, void* data) {
  const auto* const ended = static_cast<Ended*>(data);
  UcxStream& stream = *ended->stream;
  stream.ucx_.request_free(request);
  return std::unique_ptr<Ended>(static_cast<Ended*>(stream.worker_.end(ended).release()));
}

UcxStream::UcxStream(UcxWorker& worker, std::string key, std::string peer)
    : worker_(worker), ucx_(worker.ucx()), io_(worker.io()), timer_(io_), key_(std::move(key)),
      peer_(std::move(peer)) {
  worker_.add(key_, *this);
}

// The beginning.

Status UcxStream::connect(std::string_view address, std::span<const char> peer_key) {
  std::ranges::copy(peer_key, peer_key_.begin());
  TROUPE_ASSIGN(endpoint_, worker_.connect(address));
  return {};
}

void UcxStream::open(const TransportOffer& offer, int64_t deadline,
                     std::function<void(const Status&)> opened) {
  opened_ = std::move(opened);
  Status status;
  if (offer.token.size() != peer_key_.size())
    status =
        invalid_argument("the token of an offer of UCX has " + std::to_string(offer.token.size()) + " bytes");
  if (status.ok()) status = connect(offer.address, offer.token);
  if (!status.ok())
    return boost::asio::post(io_, [self = shared_from_this(), status] { self->fail(status); });
  timer_.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(deadline)));
  timer_.async_wait([self = shared_from_this()](const SocketError& error) {
    if (!error) self->fail(unavailable("the peer has not accepted a connection through UCX in time"));
  });
  const auto content = key_ + worker_.address();
  const auto bytes = std::as_bytes(std::span(content));
  OutgoingPiece piece;
  piece.joined.assign(bytes.begin(), bytes.end());
  begin(UcxWorker::opening_id, std::make_unique<Sending>(shared_from_this(), std::move(piece), offer.token));
}

Status UcxStream::accept(std::span<const std::byte> content) {
  const std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
  if (text.size() < peer_key_.size()) return invalid_argument("the opening of a stream has no key");
  TROUPE_RETURN_IF_FAILED(connect(text.substr(peer_key_.size()), text.substr(0, peer_key_.size())));
  send_piece(outgoing_.mark(PieceHeader::Kind::Accepted));
  return {};
}

void UcxStream::accepted(const Status& status) {
  if (const auto opened = std::exchange(opened_, nullptr)) {
    timer_.cancel();
    opened(status);
  }
}

void UcxStream::start(Connection::Events& events, Allocator& memory, const FrameLimits& limits) {
  events_ = &events;
  decoder_.emplace(memory, limits);
  boost::asio::post(io_, [self = shared_from_this()] { self->take_waiting(); });
}

// Sending.

void UcxStream::send(EncodedFrame frame) {
  if (closed_ || peer_ended_) return;
  outgoing_.push(std::move(frame));
  flush();
}

void UcxStream::flush() {
  while (!closed_ && outgoing_.ready()) send_piece(outgoing_.next());
  if (released_ && outgoing_.all_taken()) say_end();
}

void UcxStream::send_piece(OutgoingPiece piece) {
  piece.header.key = peer_key_;
  begin(UcxWorker::piece_id, std::make_unique<Sending>(shared_from_this(), std::move(piece)));
}

void UcxStream::begin(unsigned id, std::unique_ptr<Sending> sending) {
  const OutgoingPiece& piece = sending->piece;
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  param.flags = piece.frame ? UCP_AM_SEND_FLAG_RNDV : UCP_AM_SEND_FLAG_EAGER;
  param.user_data = sending.get();
  param.cb.send = [](void* request, ucs_status_t status, void* data) {
    const auto done = end<Sending>(request, data);
    done->stream->sent(*done, status);
    done->stream->flush();
  };
  const auto header = sending->token.empty() ? std::as_bytes(std::span(&piece.header, 1))
                                             : std::as_bytes(std::span(sending->token));
  const auto bytes = piece.bytes();
  const auto request =
      ucx_.am_send_nbx(endpoint_, id, header.data(), header.size(), bytes.data(), bytes.size(), &param);
  worker_.work_soon();
  if (UCS_PTR_IS_PTR(request))
    worker_.keep(std::move(sending));
  else
    sent(*sending, UCS_PTR_RAW_STATUS(request));
}

void UcxStream::sent(const Sending& sending, ucs_status_t status) {
  if (closed_) return;
  if (status != UCS_OK) return fail_soon(failure(status));
  if (sending.token.empty()) outgoing_.arrived(sending.piece);
}

// Receiving.

bool UcxStream::arrived(const PieceHeader& header, void* data, size_t bytes, bool rendezvous) {
  if (closed_ || peer_ended_) return false;
  if (released_) {
    if (header.kind == PieceHeader::Kind::End) peer_ended();
    return false;
  }
  const auto self = shared_from_this();
  const bool possible = header.number >= expected_ && header.number - expected_ < max_waiting &&
                        !waiting_.contains(header.number) &&
                        bytes <= (rendezvous ? OutgoingPieces::max_direct : OutgoingPieces::max_joined);
  if (!possible) {
    fail_soon(invalid_argument("the peer has sent a piece of a stream that cannot be there"));
    return false;
  }
  const bool next = header.number == expected_ && !fetching_ && (decoder_ || opened_);
  if (rendezvous || !next) return keep_waiting(header, data, bytes, rendezvous);
  ++expected_;
  take(header.kind, {static_cast<const std::byte*>(data), bytes});
  take_waiting();
  return false;
}

bool UcxStream::keep_waiting(const PieceHeader& header, void* data, size_t bytes, bool rendezvous) {
  Waiting& piece = waiting_[header.number];
  piece.kind = header.kind;
  piece.size = bytes;
  if (rendezvous)
    piece.description = data;
  else
    piece.bytes.assign(static_cast<const std::byte*>(data), static_cast<const std::byte*>(data) + bytes);
  take_waiting();
  return rendezvous;
}

/// Takes the pieces whose turn it is.
void UcxStream::take_waiting() {
  while (events_ && !fetching_) {
    const auto next = waiting_.find(expected_);
    if (next == waiting_.end()) return;
    const Waiting piece = std::move(next->second);
    waiting_.erase(next);
    ++expected_;
    if (piece.description)
      fetch(piece);
    else
      take(piece.kind, piece.bytes);
  }
}

void UcxStream::take(PieceHeader::Kind kind, std::span<const std::byte> bytes) {
  switch (kind) {
    case PieceHeader::Kind::Bytes: return read(bytes);
    case PieceHeader::Kind::Accepted: return accepted({});
    case PieceHeader::Kind::End: return peer_ended();
  }
  fail_soon(invalid_argument("the peer has sent a piece of a stream of an unknown kind"));
}

void UcxStream::fetch(const Waiting& piece) {
  const auto wanted = decoder_->wanted();
  const bool direct = wanted.size() >= piece.size;
  if (!direct) spill_.resize(piece.size);
  auto receiving = std::make_unique<Receiving>(shared_from_this(), piece.size, direct);
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.user_data = receiving.get();
  param.cb.recv_am = [](void* request, ucs_status_t status, size_t, void* data) {
    const auto done = end<Receiving>(request, data);
    done->stream->fetched(*done, status);
    done->stream->take_waiting();
  };
  fetching_ = true;
  const auto request = ucx_.am_recv_data_nbx(worker_.handle(), piece.description,
                                             direct ? wanted.data() : spill_.data(), piece.size, &param);
  worker_.work_soon();
  if (UCS_PTR_IS_PTR(request))
    worker_.keep(std::move(receiving));
  else
    fetched(*receiving, UCS_PTR_RAW_STATUS(request));
}

void UcxStream::fetched(const Receiving& receiving, ucs_status_t status) {
  fetching_ = false;
  if (!events_) return;
  if (status != UCS_OK) return fail_soon(failure(status));
  if (receiving.direct)
    (void)advance(receiving.bytes);
  else
    read(std::span(spill_).first(receiving.bytes));
}

void UcxStream::read(std::span<const std::byte> bytes) {
  while (events_ && !bytes.empty()) {
    const auto wanted = decoder_->wanted();
    const size_t some = std::min(wanted.size(), bytes.size());
    std::memcpy(wanted.data(), bytes.data(), some);
    bytes = bytes.subspan(some);
    if (!advance(some)) return;
  }
  if (events_) events_->receiving();
}

/// Tells the decoder that `count` bytes have arrived. Returns false if the stream has ended or has no receiver any more.
bool UcxStream::advance(size_t count) {
  if (Status status = decoder_->advance(count); !status.ok()) {
    fail(status);
    return false;
  }
  if (auto frame = decoder_->take()) events_->received(std::move(*frame));
  return events_ != nullptr;
}

// The end.

void UcxStream::release() {
  events_ = nullptr;
  released_ = true;
  if (closed_) return;
  drop_waiting();
  flush();
  close_at(std::chrono::steady_clock::now() + ucx_farewell);
}

void UcxStream::say_end() {
  if (closed_ || std::exchange(end_said_, true)) return;
  send_piece(outgoing_.mark(PieceHeader::Kind::End));
  close_at(std::chrono::steady_clock::now() + ucx_farewell);
}

void UcxStream::peer_ended() {
  const auto self = shared_from_this();
  peer_ended_ = true;
  outgoing_.clear();
  say_end();
  close_when_flushed();
  if (Connection::Events* const events = std::exchange(events_, nullptr)) events->closed({});
}

/// Closes when everything that was sent is on its way.
void UcxStream::close_when_flushed() {
  if (closed_ || std::exchange(flushing_, true)) return;
  auto flushing = std::make_unique<Operation>(shared_from_this());
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.user_data = flushing.get();
  param.cb.send = [](void* request, ucs_status_t, void* data) {
    end<Operation>(request, data)->stream->close();
  };
  const auto request = ucx_.ep_flush_nbx(endpoint_, &param);
  worker_.work_soon();
  if (UCS_PTR_IS_PTR(request))
    worker_.keep(std::move(flushing));
  else
    close();
}

void UcxStream::close_at(std::chrono::steady_clock::time_point time) {
  timer_.expires_at(time);
  timer_.async_wait([self = shared_from_this()](const SocketError& error) {
    if (!error) self->close();
  });
}

Status UcxStream::failure(ucs_status_t status) const {
  return unavailable(peer_ + ": " + ucx_.status_string(status));
}

void UcxStream::fail_soon(const Status& reason) {
  boost::asio::post(io_, [self = shared_from_this(), reason] { self->fail(reason); });
}

void UcxStream::fail(const Status& reason) {
  const auto self = shared_from_this();
  close();
  accepted(reason);
  if (Connection::Events* const events = std::exchange(events_, nullptr)) events->closed(reason);
}

void UcxStream::drop_waiting() {
  for (const auto& [number, piece] : std::exchange(waiting_, {}))
    if (piece.description) ucx_.am_data_release(worker_.handle(), piece.description);
}

void UcxStream::close() {
  if (std::exchange(closed_, true)) return;
  timer_.cancel();
  outgoing_.clear();
  drop_waiting();
  worker_.remove(key_);
  if (endpoint_) worker_.close(std::exchange(endpoint_, nullptr));
}

}  // namespace troupe
