// Calls of functions of the graph's library (graph/build/functions.h). The executor runs the function as a step inside the step.
//   PartitionedCall(args) -> output            calls function `f`, a function of its arguments
//   StatefulPartitionedCall(args) -> output    calls function `f`, which may change state, have effects or draw random numbers
#include "graph/build/functions.h"
#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"

namespace troupe {

void add_call_ops(OpLibrary& library) {
  for (const auto& [name, effect] :
       {std::pair{"PartitionedCall", Effect::Pure}, std::pair{"StatefulPartitionedCall", Effect::State}})
    library.op(OpDefBuilder(name)
                   .input("args: Tin")
                   .output("output: Tout")
                   .attr("Tin: list(type)")
                   .attr("Tout: list(type)")
                   .attr("f: func")
                   .served_by("function")
                   .effect(effect)
                   .shape(unknown_shape)
                   .gradient(call_gradient));
}

}  // namespace troupe
