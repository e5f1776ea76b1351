#include "actors/engine/gather.h"

#include <atomic>
#include <memory>

namespace troupe {
namespace {

struct Gathered {
  Answers answers;
  std::atomic<size_t> pending;
  std::atomic<bool> has_failed{false};
  AllAnswered then;
  RequestFailed failed;

  Gathered(size_t size, AllAnswered when_all, RequestFailed when_failed)
      : answers(size, AnyMessage{}), pending(size), then(std::move(when_all)),
        failed(std::move(when_failed)) {}

  void answered(size_t request, Result<AnyMessage> answer) {
    answers[request] = std::move(answer);
    if (failed && !answers[request] && !has_failed.exchange(true)) failed(request, answers[request].status());
    if (pending.fetch_sub(1) == 1) then(std::move(answers));
  }
};

}  // namespace

std::vector<Answer> gather(size_t size, AllAnswered then, RequestFailed failed) {
  std::vector<Answer> callbacks;
  if (size == 0) {
    then({});
    return callbacks;
  }
  const auto gathered = std::make_shared<Gathered>(size, std::move(then), std::move(failed));
  for (size_t i = 0; i < size; ++i)
    callbacks.emplace_back(
        [gathered, i](Result<AnyMessage> answer) { gathered->answered(i, std::move(answer)); });
  return callbacks;
}

}  // namespace troupe
