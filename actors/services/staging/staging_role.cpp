#include "actors/services/staging/staging_role.h"

#include "messages/schemas/staging.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {

uint64_t bytes_of(const std::vector<Tensor>& tensors) {
  uint64_t bytes = 0;
  for (const Tensor& tensor : tensors) bytes += tensor.bytes();
  return bytes;
}

StagingRole::StagingRole(ActorNode& node, const StagingSpec& spec)
    : WaitingRole(node, "staging area '" + spec.name + "'") {
  on<wire::ClearStaging>([this](const auto&, Reply reply) {
    clear();
    bytes_ = 0;
    reply(Draft<wire::StagingCleared>().finish());
    advance();
  });
  on<wire::GetStagingSize>([this](const auto&, Reply reply) {
    Draft<wire::StagingSize> draft;
    draft->setComplete(complete());
    draft->setIncomplete(incomplete());
    reply(draft.finish());
  });
}

void StagingRole::add(WaitingPut put, const AnyMessage& message) {
  const auto tensors = message.attachments();
  put.tensors.assign(tensors.begin(), tensors.end());
  put.bytes = bytes_of(put.tensors);
  if (put.limits.bytes != 0 && put.bytes > put.limits.bytes)
    return put.reply(resource_exhausted("the tensors have " + std::to_string(put.bytes) + " bytes, but " +
                                        what() + " may hold " + std::to_string(put.limits.bytes) +
                                        " (attribute memory_limit)"));
  puts_.push_back(std::move(put));
  advance();
}

void StagingRole::add(WaitingTake take) {
  takes_.push_back(std::move(take));
  advance();
}

Status StagingRole::check_types(const WaitingTake& take, const std::vector<const Tensor*>& tensors) const {
  bool same = tensors.size() == take.types.size();
  for (size_t i = 0; same && i < tensors.size(); ++i)
    same = static_cast<uint32_t>(tensors[i]->dtype()) == take.types[i];
  if (same) return {};
  std::string types;
  for (const Tensor* tensor : tensors)
    types += (types.empty() ? "" : ", ") + std::string(name(tensor->dtype()));
  return invalid_argument(what() + " has (" + types + ") there, but the op yields " +
                          std::to_string(take.types.size()) + " tensors of other types or number");
}

Progress StagingRole::give(WaitingTake& take, std::vector<Tensor> tensors, int64_t key) {
  Draft<wire::TupleTaken> draft;
  draft->setKey(key);
  take.reply(draft.finish(std::move(tensors)));
  return Progress::Complete;
}

Progress StagingRole::refuse(WaitingRequest& request, Status status) {
  request.reply(std::move(status));
  return Progress::Complete;
}

Progress StagingRole::staged(WaitingPut& put) {
  put.reply(Draft<wire::TupleStaged>().finish());
  return Progress::Complete;
}

void StagingRole::end_waiting(const Concerned& concerned, const Status& reason) {
  const auto ended = [&](WaitingRequest& request) { finish(request, reason); };
  puts_.remove(concerned, ended);
  takes_.remove(concerned, ended);
  advance();
}

/// Carries out puts and takes until all of them must wait.
void StagingRole::advance() {
  const auto put = [this](WaitingPut& entry) { return try_put(entry); };
  const auto take = [this](WaitingTake& entry) { return try_take(entry); };
  const auto completed = [](const WaitingRequest&) {};
  bool moved = true;
  while (moved) {
    moved = keeps_order() ? puts_.advance(put, completed) : puts_.advance_each(put, completed);
    moved |= takes_.advance_each(take, completed);
  }
}

}  // namespace troupe
