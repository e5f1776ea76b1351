// Network: streams of frames to other nodes, injected so that a simulated network can delay, lose, duplicate
// and part. All calls and all callbacks on the control thread. Endpoints are "host:port"; times those of the
// node's Clock, nanoseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "messages/wire/frame.h"

namespace troupe {

/// An ordered stream of frames to one peer, until it closes. Made by a Network, owned by who uses it; may be destroyed
/// within a call to its Events.
class Connection {
 public:
  /// What happens to a connection: never from within a call to it.
  class Events {
   public:
    virtual void received(Frame frame) = 0;
    /// The last call: Ok when the peer closed, otherwise what went wrong. Frames sent and not answered may be
    /// lost.
    virtual void closed(Status reason) = 0;

   protected:
    ~Events() = default;
  };

  virtual ~Connection() = default;  ///< closes: frames not yet sent are dropped, and Events hears no more
  /// Once, before anything else: from now on frames are read, their tensors into `memory`.
  virtual void start(Events& events, Allocator& memory, const FrameLimits& limits) = 0;
  /// The peer has said who it is and is welcome: from the next frame on these limits hold.
  virtual void welcome(const FrameLimits& limits) = 0;
  /// Never blocks: what cannot be sent at once is kept and counted by unsent(); who sends bounds it.
  virtual void send(EncodedFrame frame) = 0;
  virtual size_t unsent() const = 0;            ///< bytes
  virtual const std::string& peer() const = 0;  ///< its endpoint, for texts
  /// The task that the certificate of the peer names, empty when it names none; nothing where the transport proves nothing.
  virtual std::optional<std::string> proven_task() const { return std::nullopt; }
};

class Network {
 public:
  using Accept = std::function<void(std::unique_ptr<Connection>)>;
  using Connected = std::function<void(Result<std::unique_ptr<Connection>>)>;

  /// Listens while it lives.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual const std::string& endpoint() const = 0;  ///< with the port really taken, where 0 was asked for
  };

  virtual ~Network() = default;
  virtual Result<std::unique_ptr<Listener>> listen(const std::string& endpoint, Accept accept) = 0;
  /// Calls `connected` once, by `deadline`; Unavailable says whether the name is unknown, the peer refused or
  /// was silent.
  virtual void connect(const std::string& endpoint, int64_t deadline, Connected connected) = 0;
};

}  // namespace troupe
