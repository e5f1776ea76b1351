#include "actors/net/transport/shared_stream.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include <boost/asio/post.hpp>

namespace troupe {
namespace {

using namespace std::chrono_literals;
using SocketError = boost::system::error_code;
constexpr std::chrono::seconds shared_farewell{1};
/// How often unused loans are looked for when no frame is sent: this long after a loan at first, then less and less often.
constexpr std::chrono::milliseconds min_return_pause{1}, max_return_pause{200};

}  // namespace

bool SharedStreams::poll() {
  spins = true;
  bool found = false;
  // A stream may end while it delivers its frames, and others may begin.
  for (size_t i = 0; i < all.size(); ++i) found |= all[i]->poll();
  return found;
}

bool SharedStreams::sleep() {
  bool quiet = true;
  for (SharedStream* const stream : all) quiet &= stream->sleep();
  return quiet;
}

SharedStream::SharedStream(boost::asio::io_context& io, std::shared_ptr<SharedStreams> streams,
                           std::shared_ptr<SharedArenas> arenas, Descriptor socket, SharedRings rings,
                           int side, std::string peer)
    : io_(io), streams_(std::move(streams)), socket_(io, socket.release()), timer_(io), return_timer_(io),
      rings_(std::move(rings)), writer_(rings_.frames_from(side)), reader_(rings_.frames_to(side)),
      lent_(arenas, socket_.native_handle(), rings_.returns_to(side)),
      borrowed_(std::move(arenas), rings_.returns_from(side)), peer_(std::move(peer)) {
  streams_->all.push_back(this);
}

SharedStream::~SharedStream() { std::erase(streams_->all, this); }

void SharedStream::start(Connection::Events& events, Allocator& memory, const FrameLimits& limits) {
  events_ = &events;
  decoder_.emplace(memory, limits, static_cast<Borrower*>(this));
  if (borrowed_.has_gpus())
    (void)send_packet(socket_.native_handle(), LoanPacket{.type = LoanPacket::Type::HasGpus});
  watch();
  work_soon();
}

void SharedStream::release() {
  events_ = nullptr;
  flush();
  if (queue_.empty()) return close();
  timer_.expires_after(shared_farewell);
  timer_.async_wait([self = shared_from_this()](const SocketError& error) {
    if (!error) self->close();
  });
}

// The socket.

void SharedStream::watch() {
  socket_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                     [self = shared_from_this()](const SocketError& error) {
                       if (error) return;
                       self->drain_socket();
                       self->work();
                       if (!self->peer_ended_) self->watch();
                     });
}

void SharedStream::drain_socket() {
  Packet packet;
  while (!peer_ended_) {
    const Receipt receipt = receive_packet(socket_.native_handle(), packet);
    if (receipt == Receipt::Nothing) return;
    if (receipt == Receipt::Packet) take(packet);
    peer_ended_ = receipt == Receipt::End;
  }
}

/// Takes what concerns loans. Other packets only wake this side. A part that cannot be mapped is missing when something in it is
/// lent.
void SharedStream::take(Packet& received) {
  LoanPacket packet;
  if (closed_ || received.size != sizeof packet) return;
  std::memcpy(&packet, received.data.data(), sizeof packet);
  const bool on_gpu = packet.type == LoanPacket::Type::GpuPart;
  switch (packet.type) {
    case LoanPacket::Type::HostPart:
    case LoanPacket::Type::GpuPart: {
      const Status added = borrowed_.add_part(
          packet.arena,
          {on_gpu, packet.offset, packet.bytes, packet.arena_bytes, std::move(received.descriptor)});
      if (on_gpu && added.ok() && packet.offset == 0)
        (void)send_packet(socket_.native_handle(), LoanPacket{LoanPacket::Type::GpuMapped, packet.arena});
      return;
    }
    case LoanPacket::Type::HasGpus: return lent_.peer_has_gpus();
    case LoanPacket::Type::GpuMapped: return lent_.peer_maps(packet.arena);
  }
}

/// If the packet does not fit in the socket's buffer, the peer has others to wake it.
void SharedStream::wake() {
  const std::byte packet{};
  (void)send_packet(socket_.native_handle(), {&packet, 1});
}

// Writing.

void SharedStream::send(EncodedFrame frame) {
  if (closed_) return;
  unsent_ += frame.bytes();
  queue_.push_back(std::move(frame));
  if (queue_.size() == 1) flush();
}

void SharedStream::flush() {
  bool woken = !borrowed_.empty() && borrowed_.return_unused();
  while (!queue_.empty() && !closed_) {
    const auto pieces = queue_.front().pieces();
    if (piece_ == pieces.size()) {
      queue_.pop_front();
      piece_ = 0;
      continue;
    }
    const auto rest = pieces[piece_].subspan(offset_);
    const auto written = writer_.write(rest);
    if (!written) return fail_soon(written.status());
    unsent_ -= *written;
    offset_ += *written;
    if (*written == rest.size()) {
      ++piece_;
      offset_ = 0;
    } else if (writer_.publish()) {
      wake();
    } else if (*written == 0 && !writer_.wait_for_room()) {
      return;
    }
  }
  if (writer_.publish() || woken) wake();
  if (!events_) close();
}

// Reading.

bool SharedStream::poll() {
  if (!events_ || reading_ || (!reader_.ready() && !lent_.has_returns())) return false;
  const auto self = shared_from_this();
  work();
  return true;
}

bool SharedStream::sleep() {
  if (!events_) return true;
  const bool quiet = reader_.sleep();
  return lent_.sleep() && quiet;
}

void SharedStream::work_soon() {
  if (std::exchange(work_queued_, true)) return;
  boost::asio::post(io_, [self = shared_from_this()] {
    self->work_queued_ = false;
    self->work();
  });
}

void SharedStream::work() {
  if (closed_) return finish();
  lent_.stay_awake();
  if (const Status status = lent_.take_returns(); !status.ok()) return fail(status);
  if (!queue_.empty()) flush();
  if (events_) return read();
  if (peer_ended_) close();
}

void SharedStream::read() {
  reader_.stay_awake();
  reading_ = true;
  size_t unreleased = 0;
  for (size_t left = max_per_turn; left != 0;) {
    const auto wanted = decoder_->wanted();
    const auto count = reader_.read(wanted.first(std::min(wanted.size(), left)));
    if (!count) {
      reading_ = false;
      return fail(count.status());
    }
    if (*count == 0) break;
    left -= *count;
    unreleased += *count;
    if (unreleased >= release_bytes && reader_.release()) wake();
    if (unreleased >= release_bytes) unreleased = 0;
    if (!advance(*count)) {
      reading_ = false;
      return;
    }
  }
  reading_ = false;
  if (reader_.release()) wake();
  if (reader_.ready()) return work_soon();
  if (peer_ended_) return fail({});
  if (!streams_->spins && !sleep()) work_soon();
}

/// The part of the arena was sent before the frame, but may still wait in the socket.
Result<BufferRef> SharedStream::borrow(const Loan& loan, size_t bytes) {
  if (!borrowed_.reaches(loan, bytes)) drain_socket();
  const bool first = std::exchange(return_pause_, min_return_pause).count() == 0;
  if (first) return_later();
  return borrowed_.borrow(loan, bytes);
}

void SharedStream::return_later() {
  return_timer_.expires_after(return_pause_);
  return_timer_.async_wait([weak = weak_from_this()](const SocketError& error) {
    const auto self = weak.lock();
    if (error || !self || self->closed_) return;
    if (self->borrowed_.return_unused()) self->wake();
    self->return_pause_ = self->borrowed_.empty() ? 0ms : std::min(2 * self->return_pause_, max_return_pause);
    if (!self->borrowed_.empty()) self->return_later();
  });
}

/// Tells the decoder that `count` bytes have arrived. Returns false if the stream has ended or has no receiver any more.
bool SharedStream::advance(size_t count) {
  if (Status status = decoder_->advance(count); !status.ok()) {
    fail(status);
    return false;
  }
  if (auto frame = decoder_->take()) events_->received(std::move(*frame));
  return events_ != nullptr;
}

// The end.

void SharedStream::fail(const Status& reason) {
  const auto self = shared_from_this();
  close();
  if (Connection::Events* const events = std::exchange(events_, nullptr)) events->closed(reason);
}

void SharedStream::fail_soon(const Status& reason) {
  boost::asio::post(io_, [self = shared_from_this(), reason] { self->fail(reason); });
}

void SharedStream::close() {
  if (std::exchange(closed_, true)) return;
  queue_.clear();
  unsent_ = 0;
  timer_.cancel();
  return_timer_.cancel();
  if (!borrowed_.keep().ok()) {
    (void)socket_
        .release();  // stays open while this process lives: the peer must not overwrite what is read here
    return;
  }
  leave();
}

/// Tells the peer that nothing of it is read here any more, as soon as that is so.
void SharedStream::leave() {
  left_ = !borrowed_.is_gpu_memory_used();
  if (left_) {
    ::shutdown(socket_.native_handle(), SHUT_WR);
  } else {
    return_timer_.expires_after(min_return_pause);
    return_timer_.async_wait([self = shared_from_this()](const SocketError&) { self->leave(); });
  }
  finish();
}

/// Closes the socket if neither side reads any more what the other one has lent.
void SharedStream::finish() {
  if (peer_ended_) lent_.clear();
  if (!left_ || !lent_.empty()) return;
  SocketError ignored;
  socket_.close(ignored);
}

}  // namespace troupe
