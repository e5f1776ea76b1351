#include "actors/step/executor/tokens_wire.h"

#include <algorithm>

#include "messages/wire/limits.h"

namespace troupe {

Result<AnyMessage> tokens_found(wire::FindTokens::Reader request,
                                const std::vector<wire::TokensFound::TokenState>& states) {
  Draft<wire::TokensFound> draft;
  auto found = draft->initTokens(static_cast<uint32_t>(states.size()));
  for (uint32_t i = 0; i < found.size(); ++i) found.set(i, states[i]);
  if (!request.getBulk()) return AnyMessage(draft.finish());
  TROUPE_ASSIGN(auto zeros,
                Tensor::allocate(DType::UInt8, Shape{static_cast<int64_t>(limits::max_by_control) + 1}));
  std::ranges::fill(zeros.write<uint8_t>(), uint8_t{0});
  return AnyMessage(draft.finish({std::move(zeros)}));
}

}  // namespace troupe
