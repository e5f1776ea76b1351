// SharedStream: a stream of frames through rings in memory that two processes share. A Unix socket wakes a process that sleeps, and
// ends when the other process does. For shared_network.cpp only; on the thread that runs the io_context.
#pragma once

#include <utility>  // Boost.Asio 1.74 wants it first

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "actors/engine/polled.h"
#include "actors/net/transport/loans.h"
#include "actors/net/transport/shared_memory.h"
#include "messages/env/network.h"

namespace troupe {

class SharedStream;

/// The streams of a network. A thread that spins asks them whether frames have arrived, so that their peers need not wake it.
struct SharedStreams final : Polled {
  bool is_active() const override { return !all.empty(); }
  bool poll() override;
  bool sleep() override;

  std::vector<SharedStream*> all;
  bool spins = false;  ///< the thread spins before it sleeps, and calls sleep() then
};

/// A stream is kept alive by its pending operations, so that frames are still sent after its Connection has been destroyed. A
/// stream that has ended, but has lent tensors, waits until the peer's socket is closed: then the peer does not read them any
/// more. One that has borrowed from the memory of the peer's GPUs keeps its socket open while its own GPUs may read there.
class SharedStream final : public std::enable_shared_from_this<SharedStream>, private Borrower {
  /// The most that one turn reads, so that no connection delays the others.
  static constexpr size_t max_per_turn = SharedRings::frame_bytes;
  /// The writer gets room again after this much was read.
  static constexpr size_t release_bytes = SharedRings::frame_bytes / 8;

 public:
  SharedStream(boost::asio::io_context& io, std::shared_ptr<SharedStreams> streams,
               std::shared_ptr<SharedArenas> arenas, Descriptor socket, SharedRings rings, int side,
               std::string peer);
  ~SharedStream();

  const std::string& peer() const { return peer_; }
  size_t unsent() const { return unsent_; }
  void start(Connection::Events& events, Allocator& memory, const FrameLimits& limits);
  void welcome(const FrameLimits& limits) { decoder_->set_limits(limits); }
  void send(EncodedFrame frame);
  Lender& lender() { return lent_; }
  /// Called when the Connection is destroyed: the stream sends the frames in its queue for at most a second, then closes.
  void release();

  /// If frames have arrived, delivers them and returns true.
  bool poll();
  /// From now on the peer wakes this side. Returns false if frames or returns have arrived meanwhile.
  bool sleep();

 private:
  Result<BufferRef> borrow(const Loan& loan, size_t bytes) override;
  void return_later();
  void watch();
  void drain_socket();
  void take(Packet& packet);
  void work_soon();
  void work();
  void flush();
  void read();
  bool advance(size_t count);
  void wake();
  void fail(const Status& reason);
  void fail_soon(const Status& reason);
  void close();
  void leave();
  void finish();

  boost::asio::io_context& io_;
  const std::shared_ptr<SharedStreams> streams_;
  boost::asio::posix::stream_descriptor socket_;
  boost::asio::steady_timer timer_, return_timer_;
  const SharedRings rings_;
  RingWriter writer_;
  RingReader reader_;
  Lent lent_;
  Borrowed borrowed_;
  std::chrono::milliseconds return_pause_{0};  ///< until unused loans are looked for; 0: nothing is borrowed
  const std::string peer_;
  Connection::Events* events_ = nullptr;
  std::optional<FrameDecoder> decoder_;
  std::deque<EncodedFrame> queue_;
  size_t piece_ = 0, offset_ = 0, unsent_ = 0;  ///< the next byte to write, in the first frame of the queue
  bool reading_ = false, peer_ended_ = false, closed_ = false, left_ = false, work_queued_ = false;
};

}  // namespace troupe
