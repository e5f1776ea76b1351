#include "actors/services/queue/element_stack.h"

#include <utility>

namespace troupe {
namespace {

struct Stacking {
  ElementQueue elements;
  std::vector<Tensor> stack;
  Reply reply;
  std::function<AnyMessage(std::vector<Tensor>)> message;

  void finish(Pool& pool) {
    fill_stack(elements, stack, pool);
    reply(message(std::move(stack)));
  }
};

size_t bytes_of(const std::vector<Tensor>& tensors) {
  size_t bytes = 0;
  for (const Tensor& tensor : tensors) bytes += tensor.bytes();
  return bytes;
}

}  // namespace

ElementQueue stack_elements(ActorNode& node, Device& device, ElementQueue elements, Reply reply,
                            std::function<AnyMessage(std::vector<Tensor>)> message) {
  std::vector<Tensor> stack;
  if (elements.pieces().size() == 1) {
    const ElementRows& rows = elements.pieces().front();
    for (const Tensor& component : *rows.components) stack.push_back(component.rows(rows.begin, rows.end));
    reply(message(std::move(stack)));
    return {};
  }
  auto memory = allocate_stack(elements, device.context());
  if (!memory) {
    reply(memory.status());
    return elements;
  }
  const bool small = bytes_of(*memory) <= max_bytes_in_handler;
  Stacking stacking{std::move(elements), std::move(*memory), std::move(reply), std::move(message)};
  if (small)
    stacking.finish(node.pool);
  else
    compute_soon(node.scheduler, make_job([kept = std::make_shared<Stacking>(std::move(stacking)),
                                           &pool = node.pool] { kept->finish(pool); }));
  return {};
}

}  // namespace troupe
