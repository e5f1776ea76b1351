// Timestamp(): the time of the machine that carries out the node, in seconds since 1970 (UTC). Not folded, and not shared by nodes.
#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"

namespace troupe {

void add_timestamp(OpLibrary& library) {
  library.op(OpDefBuilder("Timestamp")
                 .output("ts: double")
                 .served_by("clock")
                 .effect(Effect::Io)
                 .shape(scalar_shape)
                 .not_differentiable());
}

}  // namespace troupe
