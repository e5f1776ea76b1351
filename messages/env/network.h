// Network: the interface to connections that carry frames to other nodes. It is injected, so that a simulated network can delay,
// lose and duplicate frames and cut nodes off. All calls and callbacks happen on the control thread. Endpoints are "host:port".
// Times are those of the node's Clock, in nanoseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "messages/wire/frame.h"

namespace troupe {

/// An ordered stream of frames to and from one peer. A Network makes
/// it, and its user owns it. It may be destroyed within a callback.
class Connection {
 public:
  /// The callbacks of a connection. They are never called from within a call to the connection.
  class Events {
   public:
    /// A frame has arrived.
    virtual void received(Frame frame) = 0;
    /// Bytes have arrived from another host, perhaps of a frame that is not complete yet.
    virtual void receiving() {}
    /// The last callback. The reason is Ok if the peer closed the connection. Frames that were sent without a reply may be lost.
    virtual void closed(Status reason) = 0;

   protected:
    ~Events() = default;
  };

  /// Closes: drops the frames that were not sent yet, and calls back no more.
  virtual ~Connection() = default;
  /// Begins to read frames; their tensors are allocated from `memory`. Call it once, before the other functions.
  virtual void start(Events& events, Allocator& memory, const FrameLimits& limits) = 0;
  /// Sets the limits for all later frames. Call it when the peer has identified itself and is accepted.
  virtual void welcome(const FrameLimits& limits) = 0;
  /// Sends a frame. Never blocks: keeps what cannot be sent at once, and counts it in unsent().
  virtual void send(EncodedFrame frame) = 0;
  virtual size_t unsent() const = 0;            ///< in bytes
  virtual const std::string& peer() const = 0;  ///< the endpoint of the peer, for messages to people
  /// The task that the peer's certificate names, empty if it names none. Nothing if the transport does not authenticate peers.
  virtual std::optional<std::string> proven_task() const { return std::nullopt; }
  /// Whether the connection results from an offer (Network::make_offer). Then it carries all frames of its link for actors.
  virtual bool is_offered() const { return false; }
  /// What lends tensors to the peer; null if all bytes are sent. Frames that use it must be sent in the order of their encoding.
  virtual Lender* lender() { return nullptr; }
};

/// What a node tells a peer, over a connection on which they have identified each other: an address at which the two can also
/// connect through another transport, and the token that opens one connection there.
struct TransportOffer {
  std::string address, token;
};

class Network {
 public:
  using Accept = std::function<void(std::unique_ptr<Connection>)>;
  using Connected = std::function<void(Result<std::unique_ptr<Connection>>)>;

  /// Listens as long as it lives.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual const std::string& endpoint() const = 0;  ///< with the actual port, if port 0 was asked for
  };

  virtual ~Network() = default;
  /// Listens at an endpoint and calls `accept` for each connection. Port
  /// 0 means any free port. Fails if the endpoint is not available.
  virtual Result<std::unique_ptr<Listener>> listen(const std::string& endpoint, Accept accept) = 0;
  /// Connects to a node and calls `connected` once, by `deadline`. An Unavailable says whether the name is unknown, the peer
  /// refused the connection, or did not answer in time.
  virtual void connect(const std::string& endpoint, int64_t deadline, Connected connected) = 0;

  /// Returns the name of the transport that this node offers to its peers besides the one of connect(): "shared memory".
  virtual std::string offered_transport() const { return {}; }
  /// Returns where this node can be met through the offered transport: equal for two nodes that can meet there. Empty: nowhere.
  virtual std::string place() const { return {}; }
  /// Makes an offer to the peer whose connection has this proven_task(). The connection that results goes to the `accept` of
  /// listen(), and has the same proven_task(). Returns nothing if this node has no place or does not listen.
  virtual std::optional<TransportOffer> make_offer(const std::optional<std::string>&) { return std::nullopt; }
  /// Accepts the offer of the peer whose connection has this proven_task(), as connect() does. Any failure means that this peer
  /// is to be reached without the offered transport.
  virtual void accept_offer(const TransportOffer&, const std::optional<std::string>&, int64_t,
                            Connected connected) {
    const Connected done = std::move(connected);
    done(unavailable("this node accepts no offers"));
  }
};

}  // namespace troupe
