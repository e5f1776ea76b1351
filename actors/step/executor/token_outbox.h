// TokenOutbox: the tokens that the Sends of one step have for other executors. Tokens that are ready together travel together, in
// one TensorsArrived per receiver. It also limits the bytes that may be sent to another process unasked (messages/wire/limits.h).
// Owned by the step; used by the thread that drives the step, except has_sent().
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
    bool dead = false, announced = false;  ///< if either is true the token has no tensor
  };

  TokenOutbox(ActorNode& node, const StepInfo& info) : node_(node), info_(info) {}

  // `to` is always the same object for the same executor.

  /// Returns whether a tensor of this size may be sent there before the receiver asks for it. If so, its bytes count against the
  /// limit. Within a process there is no limit.
  bool may_push(const Address& to, size_t bytes);
  /// Resets the limit, because the receiver has asked for a tensor and so has seen the earlier ones.
  void renew(const Address& to);
  /// Adds a token. Returns true if so much has been collected for this receiver that it should be sent. Fails with Unavailable if
  /// there is no actor with this address.
  Result<bool> add(const Address& to, const Token& token, std::optional<Tensor> tensor);
  /// Whether this token has been sent to another process. Any thread.
  bool has_sent(const TokenKey& key) const;
  /// Sends the collected tokens. If a short kernel runs next (FlushReason::Kernel), few tokens for another process wait for more.
  void flush(FlushReason what);

 private:
  struct Parcel {
    const Address* to;
    ActorRef peer;
    bool here = false;  ///< the receiver is in this process
    size_t pushed = 0;  ///< bytes that count against the limit
    size_t bytes = 0;   ///< bytes of `tensors`
    std::vector<Token> tokens;
    std::vector<Tensor> tensors;
  };
  static bool is_full(const Parcel& parcel);
  Result<Parcel*> parcel_for(const Address& to);
  void send(Parcel& parcel);

  ActorNode& node_;
  const StepInfo& info_;
  std::vector<Parcel> parcels_;
  mutable SpinLock lock_;  ///< guards the members below
  std::unordered_set<TokenKey, TokenKeyHash> sent_;
};

}  // namespace troupe
