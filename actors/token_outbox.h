// TokenOutbox: what the Sends of one step have for other executors: tokens that are ready together travel together, one
// TensorsArrived per receiver, large tensors at once. Owned by the step; on the thread that drives it.
#pragma once

#include <optional>
#include <vector>

#include "actors/node.h"
#include "kernels/step_context.h"

namespace troupe {

class TokenOutbox {
 public:
  struct Token {
    uint64_t edge = 0, frame = 0, iteration = 0;
    bool dead = false, announced = false;  ///< then it has no tensor
  };

  TokenOutbox(ActorNode& node, const StepInfo& info) : node_(node), info_(info) {}

  /// True: so much has come together that it should leave. Unavailable when nobody has the address, an object by which its
  /// executor is known to this step.
  Result<bool> add(const Address& to, const Token& token, std::optional<Tensor> tensor);
  void flush();

 private:
  struct Parcel {
    const Address* to;
    ActorRef peer;
    std::vector<Token> tokens;
    std::vector<Tensor> tensors;
  };
  Result<Parcel*> parcel_for(const Address& to);
  void send(Parcel& parcel);

  ActorNode& node_;
  const StepInfo& info_;
  std::vector<Parcel> parcels_;
};

}  // namespace troupe
