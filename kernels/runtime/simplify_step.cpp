#include "kernels/runtime/simplify_step.h"

#include "graph/passes/simplify/combine_products.h"
#include "graph/passes/simplify/loop_layouts.h"
#include "graph/passes/simplify/simplify.h"
#include "graph/passes/simplify/stabilize.h"
#include "kernels/runtime/evaluate.h"
#include "messages/values/memory_claims.h"

namespace troupe {
namespace {

/// Heap memory for folding constants. A request larger than any folded constant may need is refused.
class FoldingMemory final : public Allocator, public MemoryClaims {
 public:
  Result<BufferRef> allocate(size_t bytes) override {
    if (bytes > max_) return refused(bytes);
    return heap_allocator().allocate(bytes);
  }
  Result<BufferRef> claim(size_t bytes) override {
    if (bytes > max_) return refused(bytes);
    return BufferRef();
  }

 private:
  static Status refused(size_t bytes) {
    return resource_exhausted("a constant of " + std::to_string(bytes) + " bytes is too large to be folded");
  }
  const size_t max_ = 4 * SimplifyOptions().largest_constant;  ///< includes scratch memory of the kernel
};

}  // namespace

Status simplify_step(Subgraph& subgraph, const OpLibrary& library) {
  const Evaluate folded = [&](const Graph& graph, const Node& node, std::span<const Tensor> inputs) {
    InlinePool pool;
    FoldingMemory memory;
    DeviceContext context(memory, pool);
    return evaluate(library, graph, node, inputs, context);
  };
  TROUPE_RETURN_IF_FAILED(simplify(subgraph, {folded}).status());
  TROUPE_ASSIGN(const size_t replaced, stabilize(subgraph));
  TROUPE_ASSIGN(const size_t combined, combine_products(subgraph));
  TROUPE_ASSIGN(const size_t laid_out, lay_out_loops(subgraph));
  return replaced + combined + laid_out == 0 ? Status{} : simplify(subgraph, {folded}).status();
}

}  // namespace troupe
