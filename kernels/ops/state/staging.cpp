// Staging areas: tuples of tensors kept between steps, so that one step can work while another prepares its inputs. The actor
// of the area carries out all of these ops; an op that has to wait is a pending message there and blocks no thread. The ops
// have no handle: nodes with equal (container, shared_name), or else equal node name, share an area.
//   Stage            adds a tuple; waits while the area has `capacity` tuples or the tuple would bring it above `memory_limit`
//                    bytes (0: no limit)
//   Unstage          takes the oldest tuple; waits for it
//   StagePeek        the tuple number `index`, counted from the oldest, which stays; waits for it
//   StageSize        the number of tuples; StageClear: drops them all
//   MapStage         adds the tensors `indices` of the tuple with this key; the tuple is complete when all `dtypes` have come.
//                    A complete tuple waits for `capacity`, any for `memory_limit`
//   MapUnstage       takes the tensors `indices` of the complete tuple with this key; waits for it
//   MapUnstageNoKey  the same of the tuple with the smallest key, which is the first output
//   MapPeek          like MapUnstage, but the tensors stay
//   MapSize          the number of complete tuples; MapIncompleteSize: of the others; MapClear: drops all
// The ops with Ordered before their names do the same.
#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"

namespace troupe {
namespace {

OpDefBuilder staging_op(const std::string& name, ShapeFunction shape) {
  return OpDefBuilder(name)
      .served_by("staging")
      .effect(Effect::State)
      .shape(shape)
      .not_differentiable()
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type)")
      .attr("container: string = ''")
      .attr("shared_name: string = ''");
}

void add_map_ops(OpLibrary& library, const std::string& map) {
  library.op(staging_op(map + "Stage", no_output_shape)
                 .input("key: int64")
                 .input("indices: int32")
                 .input("values: fake_dtypes")
                 .attr("fake_dtypes: list(type)"));
  for (const char* op : {"Peek", "Unstage"})
    library.op(staging_op(map + op, unknown_shape)
                   .input("key: int64")
                   .input("indices: int32")
                   .output("values: dtypes"));
  library.op(staging_op(map + "UnstageNoKey", unknown_shape)
                 .input("indices: int32")
                 .output("key: int64")
                 .output("values: dtypes"));
  for (const char* op : {"Size", "IncompleteSize"})
    library.op(staging_op(map + op, scalar_shape).output("size: int32"));
  library.op(staging_op(map + "Clear", no_output_shape));
}

}  // namespace

void add_staging_ops(OpLibrary& library) {
  library.op(staging_op("Stage", no_output_shape).input("values: dtypes"));
  library.op(staging_op("Unstage", unknown_shape).output("values: dtypes"));
  library.op(staging_op("StagePeek", unknown_shape).input("index: int32").output("values: dtypes"));
  library.op(staging_op("StageSize", scalar_shape).output("size: int32"));
  library.op(staging_op("StageClear", no_output_shape));
  for (const char* map : {"Map", "OrderedMap"}) add_map_ops(library, map);
}

}  // namespace troupe
