// SharedNetwork: connections through shared memory between the processes of one host and one user, and those of another network
// with all others. Two nodes always meet on the other network. When they have identified each other there, the node that listens
// offers shared memory (Network::make_offer). Used on the thread that runs the io_context.
#pragma once

#include <memory>
#include <string>

#include "actors/engine/polled.h"
#include "devices/shared_arenas.h"
#include "messages/env/network.h"

namespace boost::asio {
class io_context;
}

namespace troupe {

class SharedNetwork final : public Network {
 public:
  /// The io_context must outlive the network and its connections.
  /// Lends tensors that lie in `arenas`, which may be null.
  SharedNetwork(boost::asio::io_context& io, std::unique_ptr<Network> others,
                std::shared_ptr<SharedArenas> arenas = nullptr);
  ~SharedNetwork() override;

  Result<std::unique_ptr<Listener>> listen(const std::string& endpoint, Accept accept) override;
  void connect(const std::string& endpoint, int64_t deadline, Connected connected) override;
  std::string offered_transport() const override;
  std::string place() const override;
  std::optional<TransportOffer> make_offer(const std::optional<std::string>& proven_task) override;
  void accept_offer(const TransportOffer& offer, const std::optional<std::string>& proven_task,
                    int64_t deadline, Connected connected) override;

  /// Delivers frames that have arrived. From the first poll() on, sleep() must be called before the thread sleeps.
  std::shared_ptr<Polled> streams() const;

 private:
  struct Shared;
  class Acceptor;
  class Greeting;
  const std::shared_ptr<Shared> shared_;
  const std::unique_ptr<Network> others_;
};

}  // namespace troupe
