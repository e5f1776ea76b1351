// SimulatedNetwork: the network of a simulated cluster. Frames are really encoded and decoded. Each frame takes some
// time, may arrive twice, and may be lost, which breaks its connection. Two hosts can be cut off from each other, and
// a host can die with or without a reset of its connections. The simulation draws all random numbers. One thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "messages/env/network.h"
#include "tests/support/simulation/simulation.h"

namespace troupe::test {

struct NetworkFaults {
  int64_t min_delay = 20'000, max_delay = 200'000;  ///< the time that a frame takes, in nanoseconds
  double duplicate = 0;                             ///< the probability that a frame arrives twice
  double loss = 0;  ///< the probability that a frame is lost, together with its connection
};

struct NetworkCounts {
  uint64_t frames = 0, bytes = 0, duplicates = 0, losses = 0;
};

class SimulatedNetwork {
 public:
  explicit SimulatedNetwork(Simulation& simulation);
  ~SimulatedNetwork();

  /// Returns the network as one life of a host sees it. It must be destroyed when the host dies.
  std::unique_ptr<Network> join(const std::string& host);
  /// Says the number of a host in the simulation, on whose processors its frames take time.
  void set_number(const std::string& host, uint32_t number) { numbers_[host] = number; }
  /// Sends no more frames of the host. Its peers learn that the connection was reset, or if `silently`, nothing.
  void die(const std::string& host, bool silently);

  void set_faults(const NetworkFaults& faults) { faults_ = faults; }
  /// Frames between the two hosts wait, and neither can connect to the other, until heal().
  void part(const std::string& one, const std::string& other);
  void heal(const std::string& one, const std::string& other);
  /// The host reads nothing any more. What is sent to it stays unsent; what it sends arrives.
  void stop_reading(const std::string& host) { deaf_.insert(host); }
  const NetworkCounts& counts() const { return counts_; }
  /// A function that sees every frame before it is sent, and may change it.
  using Damage = std::function<void(std::vector<std::byte>& frame)>;
  void set_damage(Damage damage) { damage_ = std::move(damage); }

 private:
  struct Wire;
  class End;
  class Member;
  using Pair = std::pair<std::string, std::string>;
  static Pair pair_of(const std::string& one, const std::string& other);

  int64_t arrival();
  /// Returns when a frame that is sent now arrives.
  int64_t arrival(const Wire& wire, int to, size_t bytes);
  /// Takes the time of a frame at one of its ends.
  void spend_frame(size_t bytes);
  uint32_t number(const Wire& wire, int end) const;
  void transmit(const std::shared_ptr<Wire>& wire, int to, std::vector<std::byte> bytes);
  void depart(const std::shared_ptr<Wire>& wire, int to, std::vector<std::byte> bytes);
  void arrive(const std::shared_ptr<Wire>& wire, int to,
              const std::shared_ptr<std::vector<std::byte>>& bytes);
  void deliver(const std::shared_ptr<Wire>& wire, int to,
               const std::shared_ptr<std::vector<std::byte>>& bytes);
  void break_wire(const std::shared_ptr<Wire>& wire, const Status& reason);
  void close_end(const std::shared_ptr<Wire>& wire, int end, const Status& reason);
  void connect(const std::string& from, const std::string& endpoint, int64_t deadline,
               Network::Connected connected);

  Simulation& simulation_;
  NetworkFaults faults_;
  Damage damage_;
  NetworkCounts counts_;
  std::set<Pair> parted_;
  std::set<std::string> deaf_;                ///< hosts that read nothing
  std::map<std::string, Member*> listening_;  ///< by endpoint
  std::vector<std::weak_ptr<Wire>> wires_;
  std::map<std::string, uint32_t> numbers_;
};

}  // namespace troupe::test
