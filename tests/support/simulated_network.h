// SimulatedNetwork: the network of a simulated cluster. Frames are really encoded and decoded, byte by byte; each takes its time,
// may come twice, and any may be the one that breaks its connection; two hosts can be parted, and a host can die loudly or in
// silence. All chance is the simulation's. One thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "messages/env/network.h"
#include "tests/support/simulation.h"

namespace troupe::test {

struct NetworkFaults {
  int64_t least_delay = 20'000, max_delay = 200'000;  ///< nanoseconds that a frame is on its way
  double duplicate = 0;                               ///< how likely a frame comes twice
  double loss = 0;  ///< how likely a frame is lost, and its connection with it
};

struct NetworkCounts {
  uint64_t frames = 0, bytes = 0, duplicates = 0, losses = 0;
};

class SimulatedNetwork {
 public:
  explicit SimulatedNetwork(Simulation& simulation);
  ~SimulatedNetwork();

  /// The network as one life of a host sees it: gone when the host dies.
  std::unique_ptr<Network> join(const std::string& host);
  /// No frame of its goes out any more. Its peers are told that the connection was reset, or nothing at all.
  void die(const std::string& host, bool silently);

  void set_faults(const NetworkFaults& faults) { faults_ = faults; }
  /// Frames between the two wait, and nobody can connect, until they are joined again.
  void part(const std::string& one, const std::string& other);
  void heal(const std::string& one, const std::string& other);
  const NetworkCounts& counts() const { return counts_; }
  /// Sees every frame before it is sent, and may make another of it.
  using Damage = std::function<void(std::vector<std::byte>& frame)>;
  void set_damage(Damage damage) { damage_ = std::move(damage); }

 private:
  struct Wire;
  class End;
  class Member;
  using Pair = std::pair<std::string, std::string>;
  static Pair pair_of(const std::string& one, const std::string& other);

  int64_t arrival();
  void transmit(const std::shared_ptr<Wire>& wire, int to, std::vector<std::byte> bytes);
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
  std::map<std::string, Member*> listening_;  ///< by endpoint
  std::vector<std::weak_ptr<Wire>> wires_;
};

}  // namespace troupe::test
