// TokenOutbox: what the Sends of one step have for other executors: tokens that are ready together travel together, one
// TensorsArrived per receiver, large tensors at once. Owned by the step; on the thread that drives it.
#pragma once

#include <optional>
#include <vector>

#include "actors/engine.h"
#include "kernels/step_context.h"

namespace troupe {

class TokenOutbox {
 public:
  struct Token {
    uint64_t edge = 0, frame = 0, iteration = 0;
    bool dead = false, announced = false;  ///< then it has no tensor
  };

  TokenOutbox(Engine& engine, const StepInfo& info) : engine_(engine), info_(info) {}

  void add(const ActorRef& peer, const Token& token, std::optional<Tensor> tensor);
  void flush();

 private:
  struct Parcel {
    ActorRef peer;
    std::vector<Token> tokens;
    std::vector<Tensor> tensors;
  };
  void send(Parcel& parcel);

  Engine& engine_;
  const StepInfo& info_;
  std::vector<Parcel> parcels_;
};

}  // namespace troupe
