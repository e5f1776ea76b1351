#include "tests/support/simulation/simulated_network.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace troupe::test {

/// What the two ends of a connection share.
struct SimulatedNetwork::Wire {
  std::array<std::string, 2> hosts;
  std::array<End*, 2> ends{};     ///< null for an end that is closed
  std::array<int64_t, 2> last{};  ///< the arrival time of the last frame to that end
  std::array<std::vector<std::shared_ptr<std::vector<std::byte>>>, 2> held;  ///< while the hosts are parted
  bool broken = false;
};

class SimulatedNetwork::End final : public Connection {
 public:
  End(SimulatedNetwork& network, std::shared_ptr<Wire> wire, int side)
      : network_(network), wire_(std::move(wire)), side_(side) {
    wire_->ends[static_cast<size_t>(side_)] = this;
  }
  ~End() override {
    wire_->ends[static_cast<size_t>(side_)] = nullptr;
    if (!wire_->broken) network_.close_end(wire_, 1 - side_, {});
  }

  void start(Events& events, Allocator& memory, const FrameLimits& limits) override {
    events_ = &events;
    decoder_.emplace(memory, limits);
  }
  void welcome(const FrameLimits& limits) override { decoder_->set_limits(limits); }
  void send(EncodedFrame frame) override {
    std::vector<std::byte> bytes;
    network_.simulation_.for_free([&] {
      bytes.reserve(frame.bytes());
      for (const auto piece : frame.pieces()) bytes.insert(bytes.end(), piece.begin(), piece.end());
    });
    network_.transmit(wire_, 1 - side_, std::move(bytes));
  }
  size_t unsent() const override {
    size_t bytes = 0;
    for (const auto& frame : wire_->held[static_cast<size_t>(1 - side_)]) bytes += frame->size();
    return bytes;
  }
  const std::string& peer() const override { return wire_->hosts[static_cast<size_t>(1 - side_)]; }

  /// Delivers a frame. The callback may destroy this object.
  void take(std::span<const std::byte> bytes) {
    const auto wire = wire_;
    const auto side = static_cast<size_t>(side_);
    while (!bytes.empty()) {
      const auto wanted = decoder_->wanted();
      const size_t count = std::min(wanted.size(), bytes.size());
      network_.simulation_.for_free([&] { std::memcpy(wanted.data(), bytes.data(), count); });
      bytes = bytes.subspan(count);
      if (const Status status = decoder_->advance(count); !status.ok()) return end(status);
      if (auto frame = decoder_->take()) events_->received(std::move(*frame));
      if (wire->ends[side] != this) return;
    }
  }
  void end(const Status& reason) {
    if (events_) events_->closed(reason);
  }

 private:
  SimulatedNetwork& network_;
  const std::shared_ptr<Wire> wire_;
  const int side_;
  Events* events_ = nullptr;
  std::optional<FrameDecoder> decoder_;
};

/// A host in one of its lives.
class SimulatedNetwork::Member final : public Network {
 public:
  Member(SimulatedNetwork& network, std::string host) : network_(network), host_(std::move(host)) {}
  ~Member() override { *alive_ = false; }

  class Acceptor final : public Listener {
   public:
    Acceptor(Member& member, std::string endpoint) : member_(member), endpoint_(std::move(endpoint)) {}
    ~Acceptor() override {
      member_.network_.listening_.erase(endpoint_);
      member_.accept_ = nullptr;
    }
    const std::string& endpoint() const override { return endpoint_; }

   private:
    Member& member_;
    const std::string endpoint_;
  };

  Result<std::unique_ptr<Listener>> listen(const std::string& endpoint, Accept accept) override {
    if (!network_.listening_.emplace(endpoint, this).second) return already_exists(endpoint + " is in use");
    accept_ = std::move(accept);
    return std::unique_ptr<Listener>(std::make_unique<Acceptor>(*this, endpoint));
  }
  void connect(const std::string& endpoint, int64_t deadline, Connected connected) override {
    network_.connect(host_, endpoint, deadline,
                     [alive = alive_, connected = std::move(connected)](auto connection) {
                       if (*alive) connected(std::move(connection));
                     });
  }

  const std::string& host() const { return host_; }
  const Accept& accept() const { return accept_; }

 private:
  SimulatedNetwork& network_;
  const std::string host_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  Accept accept_;
};

SimulatedNetwork::SimulatedNetwork(Simulation& simulation) : simulation_(simulation) {}
SimulatedNetwork::~SimulatedNetwork() = default;

std::unique_ptr<Network> SimulatedNetwork::join(const std::string& host) {
  return std::make_unique<Member>(*this, host);
}

SimulatedNetwork::Pair SimulatedNetwork::pair_of(const std::string& one, const std::string& other) {
  return {std::min(one, other), std::max(one, other)};
}

int64_t SimulatedNetwork::arrival() {
  const auto spread = static_cast<uint64_t>(faults_.max_delay - faults_.min_delay + 1);
  return simulation_.now() + faults_.min_delay + static_cast<int64_t>(simulation_.draw(spread));
}

uint32_t SimulatedNetwork::number(const Wire& wire, int end) const {
  const auto found = numbers_.find(wire.hosts[static_cast<size_t>(end)]);
  return found == numbers_.end() ? Simulation::everyone : found->second;
}

void SimulatedNetwork::spend_frame(size_t bytes) {
  const SimulatedProcessors* const processors = simulation_.processors();
  if (!processors) return;
  const Costs& costs = processors->costs();
  simulation_.spend(costs.frame + static_cast<int64_t>(costs.byte * static_cast<double>(bytes)));
}

int64_t SimulatedNetwork::arrival(const Wire& wire, int to, size_t bytes) {
  SimulatedProcessors* const processors = simulation_.processors();
  if (!processors) return arrival();
  spend_frame(bytes);
  const int64_t sent = processors->pass(number(wire, 1 - to), true, simulation_.end_of_job(), bytes);
  return processors->pass(number(wire, to), false, sent + arrival() - simulation_.now(), bytes);
}

void SimulatedNetwork::transmit(const std::shared_ptr<Wire>& wire, int to, std::vector<std::byte> bytes) {
  if (!simulation_.processors()) return depart(wire, to, std::move(bytes));
  simulation_.after_job([this, wire, to, bytes = std::move(bytes)] { depart(wire, to, bytes); });
}

void SimulatedNetwork::depart(const std::shared_ptr<Wire>& wire, int to, std::vector<std::byte> bytes) {
  if (wire->broken) return;
  if (damage_) damage_(bytes);
  ++counts_.frames;
  counts_.bytes += bytes.size();
  if (simulation_.chance(faults_.loss)) {
    ++counts_.losses;
    return break_wire(wire, unavailable("the connection was reset"));
  }
  const auto shared = std::make_shared<std::vector<std::byte>>(std::move(bytes));
  int64_t& last = wire->last[static_cast<size_t>(to)];
  const int copies = simulation_.chance(faults_.duplicate) ? 2 : 1;
  counts_.duplicates += static_cast<uint64_t>(copies - 1);
  for (int copy = 0; copy < copies; ++copy) {
    last = std::max(last + 1, arrival(*wire, to, shared->size()));
    simulation_.call_at(last, Simulation::everyone, [this, wire, to, shared] { arrive(wire, to, shared); });
  }
}

/// The receiver takes the frame at once or, if work takes time, when its control thread is free.
void SimulatedNetwork::arrive(const std::shared_ptr<Wire>& wire, int to,
                              const std::shared_ptr<std::vector<std::byte>>& bytes) {
  if (!simulation_.processors()) return deliver(wire, to, bytes);
  simulation_.add(make_job([this, wire, to, bytes] {
                    spend_frame(bytes->size());
                    deliver(wire, to, bytes);
                  }),
                  number(*wire, to));
}

void SimulatedNetwork::deliver(const std::shared_ptr<Wire>& wire, int to,
                               const std::shared_ptr<std::vector<std::byte>>& bytes) {
  End* const end = wire->ends[static_cast<size_t>(to)];
  if (wire->broken || !end) return;
  const bool deaf = deaf_.contains(wire->hosts[static_cast<size_t>(to)]);
  if (deaf || parted_.contains(pair_of(wire->hosts[0], wire->hosts[1]))) {
    wire->held[static_cast<size_t>(to)].push_back(bytes);
    return;
  }
  for (const std::byte byte : std::span(*bytes).first(std::min<size_t>(bytes->size(), frame_header_bytes)))
    simulation_.note(static_cast<uint64_t>(byte));
  end->take(*bytes);
}

void SimulatedNetwork::break_wire(const std::shared_ptr<Wire>& wire, const Status& reason) {
  for (const int end : {0, 1}) close_end(wire, end, reason);
  wire->broken = true;
}

/// Arrives after everything that is on its way to that end.
void SimulatedNetwork::close_end(const std::shared_ptr<Wire>& wire, int end, const Status& reason) {
  const int64_t when = std::max(wire->last[static_cast<size_t>(end)] + 1, arrival());
  simulation_.call_at(when, Simulation::everyone, [wire, end, reason] {
    if (End* const one = wire->ends[static_cast<size_t>(end)]) one->end(reason);
  });
}

void SimulatedNetwork::die(const std::string& host, bool silently) {
  std::erase_if(wires_, [](const auto& wire) { return wire.expired(); });
  for (const auto& weak : wires_) {
    const auto wire = weak.lock();
    for (const int end : {0, 1}) {
      if (wire->broken || wire->hosts[static_cast<size_t>(end)] != host) continue;
      if (!silently) close_end(wire, 1 - end, unavailable("the connection was reset"));
      wire->broken = true;
    }
  }
}

void SimulatedNetwork::part(const std::string& one, const std::string& other) {
  parted_.insert(pair_of(one, other));
}

void SimulatedNetwork::heal(const std::string& one, const std::string& other) {
  parted_.erase(pair_of(one, other));
  for (const auto& weak : std::vector(wires_)) {
    const auto wire = weak.lock();
    if (!wire || pair_of(wire->hosts[0], wire->hosts[1]) != pair_of(one, other)) continue;
    for (const int to : {0, 1})
      for (const auto& bytes : std::exchange(wire->held[static_cast<size_t>(to)], {}))
        deliver(wire, to, bytes);
  }
}

void SimulatedNetwork::connect(const std::string& from, const std::string& endpoint, int64_t deadline,
                               Network::Connected connected) {
  simulation_.call_at(
      arrival(), Simulation::everyone, [this, from, endpoint, deadline, connected = std::move(connected)] {
        const auto at = listening_.find(endpoint);
        if (at == listening_.end()) return connected(unavailable(endpoint + " refused the connection"));
        Member& listener = *at->second;
        if (parted_.contains(pair_of(from, listener.host()))) {
          simulation_.call_at(deadline, Simulation::everyone,
                              [endpoint, connected] { connected(unavailable(endpoint + " is silent")); });
          return;
        }
        auto wire = std::make_shared<Wire>();
        wire->hosts = {from, listener.host()};
        wires_.push_back(wire);
        auto near = std::make_unique<End>(*this, wire, 0);
        listener.accept()(std::make_unique<End>(*this, wire, 1));
        connected(std::unique_ptr<Connection>(std::move(near)));
      });
}

}  // namespace troupe::test
