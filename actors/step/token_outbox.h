// TokenOutbox: what the Sends of one step have for other executors: tokens that are ready together travel together, one
// TensorsArrived per receiver, large tensors at once; and how much may go to another process unasked (messages/wire/limits.h). Owned by
// the step; on the thread that drives it.
#pragma once

#include <optional>
#include <unordered_set>
#include <vector>

#include "actors/engine/node.h"
#include "devices/spin_lock.h"
#include "kernels/runtime/step_context.h"

namespace troupe {

/// A token of one edge in one iteration.
struct TokenKey {
  uint64_t edge = 0, frame = 0, iteration = 0;
  friend bool operator==(const TokenKey&, const TokenKey&) = default;
};
struct TokenKeyHash {
  size_t operator()(const TokenKey& key) const {
    return std::hash<uint64_t>{}(key.edge ^ (key.frame * 0x9e3779b97f4a7c15u) ^ (key.iteration << 17));
  }
};

class TokenOutbox {
 public:
  struct Token {
    TokenKey key;
    bool dead = false, announced = false;  ///< then it has no tensor
  };

  TokenOutbox(ActorNode& node, const StepInfo& info) : node_(node), info_(info) {}

  /// Whether a tensor of this size may go there before it is asked for, which then counts. Within the process it always may.
  bool may_push(const Address& to, size_t bytes);
  /// That peer has asked for a tensor, so it has seen what went before: it may be sent as much again.
  void renew(const Address& to);
  /// True: so much has come together that it should leave. Unavailable when nobody has the address, an object by which its
  /// executor is known to this step.
  Result<bool> add(const Address& to, const Token& token, std::optional<Tensor> tensor);
  /// Whether this token has left for another process. Any thread.
  bool has_sent(const TokenKey& key) const;
  /// Sends what others may be waiting for. Before a short kernel, what goes to another process and is little still waits for more.
  void flush(FlushReason what);

 private:
  struct Parcel {
    const Address* to;
    ActorRef peer;
    bool here = false;  ///< in this process
    size_t pushed = 0;
    size_t bytes = 0;  ///< of the tensors
    std::vector<Token> tokens;
    std::vector<Tensor> tensors;
  };
  static bool is_full(const Parcel& parcel);
  Result<Parcel*> parcel_for(const Address& to);
  void send(Parcel& parcel);

  ActorNode& node_;
  const StepInfo& info_;
  std::vector<Parcel> parcels_;
  mutable SpinLock lock_;  ///< guards what follows
  std::unordered_set<TokenKey, TokenKeyHash> sent_;
};

}  // namespace troupe
