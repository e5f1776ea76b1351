#include "actors/net/transport/ucx_network.h"

#include "actors/net/transport/offers.h"
#include "actors/net/transport/ucx_stream.h"
#include "actors/net/transport/ucx_worker.h"

#include <boost/asio/io_context.hpp>

namespace troupe {
namespace {

class UcxConnection final : public Connection {
 public:
  UcxConnection(std::shared_ptr<UcxWorker> worker, std::shared_ptr<UcxStream> stream,
                std::optional<std::string> proven_task)
      : worker_(std::move(worker)), stream_(std::move(stream)), proven_task_(std::move(proven_task)) {}
  ~UcxConnection() override { stream_->release(); }
  void start(Events& events, Allocator& memory, const FrameLimits& limits) override {
    stream_->start(events, memory, limits);
  }
  void welcome(const FrameLimits& limits) override { stream_->welcome(limits); }
  void send(EncodedFrame frame) override { stream_->send(std::move(frame)); }
  size_t unsent() const override { return stream_->unsent(); }
  const std::string& peer() const override { return stream_->peer(); }
  std::optional<std::string> proven_task() const override { return proven_task_; }
  bool is_offered() const override { return true; }

 private:
  const std::shared_ptr<UcxWorker> worker_;
  const std::shared_ptr<UcxStream> stream_;
  const std::optional<std::string> proven_task_;
};

class WithUcx final : public Network {
 public:
  WithUcx(std::unique_ptr<Network> others, std::shared_ptr<UcxWorker> worker)
      : others_(std::move(others)), worker_(std::move(worker)) {
    unsigned major = 0, minor = 0, patch = 0;
    worker_->ucx().get_version(&major, &minor, &patch);
    place_ = "ucx " + std::to_string(major) + "." + std::to_string(minor);
  }

  Result<std::unique_ptr<Listener>> listen(const std::string& endpoint, Accept accept) override;
  void connect(const std::string& endpoint, int64_t deadline, Connected connected) override {
    others_->connect(endpoint, deadline, std::move(connected));
  }
  std::string offered_transport() const override { return "UCX"; }
  /// Processes with equal versions of UCX understand each other.
  std::string place() const override { return place_; }
  std::optional<TransportOffer> make_offer(const std::optional<std::string>& proven_task) override {
    if (!open_->accept) return std::nullopt;
    return TransportOffer{worker_->address(), open_->offers.add(proven_task)};
  }
  void accept_offer(const TransportOffer& offer, const std::optional<std::string>& proven_task,
                    int64_t deadline, Connected connected) override;

 private:
  /// While the node listens.
  struct Open {
    Accept accept;
    Offers offers;
  };
  class UcxListener;

  static std::string name_of(const std::optional<std::string>& proven_task) {
    return proven_task && !proven_task->empty() ? *proven_task + " through UCX" : "UCX";
  }
  static void admit(UcxWorker& worker, Open& open, std::span<const std::byte> token,
                    std::span<const std::byte> content);

  const std::unique_ptr<Network> others_;
  const std::shared_ptr<UcxWorker> worker_;
  const std::shared_ptr<Open> open_ = std::make_shared<Open>();
  std::string place_;
};

class WithUcx::UcxListener final : public Listener {
 public:
  UcxListener(std::unique_ptr<Listener> others, std::shared_ptr<UcxWorker> worker, std::shared_ptr<Open> open)
      : others_(std::move(others)), worker_(std::move(worker)), open_(std::move(open)) {
    worker_->on_opening([&worker = *worker_, open = open_](auto token, auto content) {
      admit(worker, *open, token, content);
    });
  }
  ~UcxListener() override {
    worker_->on_opening(nullptr);
    *open_ = {};
  }
  const std::string& endpoint() const override { return others_->endpoint(); }

 private:
  const std::unique_ptr<Listener> others_;
  const std::shared_ptr<UcxWorker> worker_;
  const std::shared_ptr<Open> open_;
};

Result<std::unique_ptr<Network::Listener>> WithUcx::listen(const std::string& endpoint, Accept accept) {
  TROUPE_ASSIGN(auto others, others_->listen(endpoint, accept));
  open_->accept = std::move(accept);
  return std::unique_ptr<Listener>(std::make_unique<UcxListener>(std::move(others), worker_, open_));
}

/// Opens a stream for a peer that has the token of an offer. Others get no answer.
void WithUcx::admit(UcxWorker& worker, Open& open, std::span<const std::byte> token,
                    std::span<const std::byte> content) {
  const auto offer = open.offers.take(token);
  if (!offer) return;
  const auto stream = std::make_shared<UcxStream>(worker, offer->token, name_of(offer->proven_task));
  if (!stream->accept(content).ok()) return stream->abandon();
  const Accept accept = open.accept;  // which may be dropped meanwhile
  accept(std::make_unique<UcxConnection>(worker.shared_from_this(), stream, offer->proven_task));
}

void WithUcx::accept_offer(const TransportOffer& offer, const std::optional<std::string>& proven_task,
                           int64_t deadline, Connected connected) {
  const auto stream =
      std::make_shared<UcxStream>(*worker_, random_bytes(Offers::token_bytes), name_of(proven_task));
  stream->open(
      offer, deadline,
      [worker = worker_, stream, proven_task, connected = std::move(connected)](const Status& status) {
        if (!status.ok()) return connected(status);
        connected(std::unique_ptr<Connection>(std::make_unique<UcxConnection>(worker, stream, proven_task)));
      });
}

}  // namespace

bool has_ucx() { return true; }

Result<UcxNetwork> make_ucx_network(boost::asio::io_context& io, std::unique_ptr<Network> others) {
  TROUPE_ASSIGN(auto worker, UcxWorker::make(io));
  auto network = std::make_unique<WithUcx>(std::move(others), worker);
  return UcxNetwork{std::move(network), std::move(worker)};
}

}  // namespace troupe
