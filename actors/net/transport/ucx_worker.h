// UcxWorker: the end of this process for everything that travels through UCX: an address, at which peers reach it, and the thread's
// work of sending and receiving. Bytes travel as pieces (active messages of UCX), each for one stream, which has a key that only
// its peer knows; a piece for no stream is dropped. For the files ucx_* only; made on a thread that may wait, used and destroyed on
// the thread that runs the io_context, which must outlive it.
#pragma once

#include <utility>  // Boost.Asio 1.74 wants it first

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "actors/engine/polled.h"
#include "actors/net/transport/ucx_library.h"

namespace troupe {

class UcxStream;

class UcxWorker final : public Polled, public std::enable_shared_from_this<UcxWorker> {
 public:
  /// The numbers of the two kinds of active messages: what opens a stream (its header is the token of an offer), and pieces.
  static constexpr unsigned opening_id = 0, piece_id = 1;
  /// Called with the token of an offer, and what the peer has sent with it.
  using Opening = std::function<void(std::span<const std::byte> token, std::span<const std::byte> content)>;

  /// What UCX uses while an operation is under way, and the callback at its end.
  struct Operation {
    virtual ~Operation() = default;
  };

  /// Fails with FailedPrecondition if UCX cannot be used, and with Unavailable if it finds no device.
  static Result<std::shared_ptr<UcxWorker>> make(boost::asio::io_context& io);
  /// Ends all streams, after it has given what they are still sending a moment.
  ~UcxWorker();

  const UcxLibrary& ucx() const { return ucx_; }
  ucp_worker_h handle() const { return worker_; }
  boost::asio::io_context& io() const { return io_; }
  /// The address of this worker, for connect() of peers.
  const std::string& address() const { return address_; }
  /// Takes openings from now on; with an empty function drops them.
  void on_opening(Opening opening) { opening_ = std::move(opening); }

  /// Returns an endpoint for sending to the worker with this address, which must come from a peer that has identified itself. Close
  /// it in the end. Fails with DataLoss if the address is damaged.
  Result<ucp_ep_h> connect(std::string_view address);
  /// Closes an endpoint soon, whatever is under way.
  void close(ucp_ep_h endpoint);
  void add(const std::string& key, UcxStream& stream) { streams_.emplace(key, &stream); }
  void remove(const std::string& key);
  /// Keeps what an operation that was begun uses, until end(). If UCX has not ended it when this worker is destroyed, because the
  /// peer has died without UCX noticing it, it is destroyed with the worker.
  void keep(std::unique_ptr<Operation> operation);
  std::unique_ptr<Operation> end(const Operation* operation);
  /// Call after each operation that was begun: it may need this thread to go on.
  void work_soon();

  // For a thread that spins before it sleeps.
  bool is_active() const override { return !streams_.empty(); }
  bool poll() override;
  bool sleep() override;

 private:
  UcxWorker(boost::asio::io_context& io, const UcxLibrary& ucx) : io_(io), ucx_(ucx), wakeup_(io) {}
  Status open();
  Status set_handler(unsigned id, ucp_am_recv_callback_t function);
  void watch();
  bool progress();
  void work();
  void close_now(ucp_ep_h endpoint);
  template <class Function>
  void progress_while(const Function& unfinished);
  static void failed(void* self, ucp_ep_h endpoint, ucs_status_t status);
  static ucs_status_t opened(void* self, const void* header, size_t header_bytes, void* data, size_t bytes,
                             const ucp_am_recv_param_t* param);
  static ucs_status_t arrived(void* self, const void* header, size_t header_bytes, void* data, size_t bytes,
                              const ucp_am_recv_param_t* param);

  boost::asio::io_context& io_;
  const UcxLibrary& ucx_;
  boost::asio::posix::stream_descriptor wakeup_;  ///< belongs to the worker; readable when there is work
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  std::string address_;
  Opening opening_;
  std::map<std::string, UcxStream*, std::less<>> streams_;  ///< by key
  std::unordered_map<const Operation*, std::unique_ptr<Operation>> operations_;
  std::vector<ucp_ep_h> to_close_;
  int closing_ = 0;     ///< endpoints that UCX is closing
  bool spins_ = false;  ///< the thread spins before it sleeps, and calls sleep() then
  bool work_queued_ = false;
};

}  // namespace troupe
