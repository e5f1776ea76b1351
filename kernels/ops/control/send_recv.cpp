// Edges between partitions, and the arguments and results of functions. The step itself runs them.
//   _Send(tensor), _Recv    one edge from `send_device` to `recv_device`, named `tensor_name`. The executor matches the two by
//                           step, name, frame and iteration. client_terminated: the other end is a feed or a fetch
//   _HostSend, _HostRecv    like _Send and _Recv, with the tensor in host memory at this end; recv_on_host tells _Send of it
//   _RefSend                announces the value of a variable; the value is read only when the _Recv requests it
//   _Arg, _Retval           argument and result number `index` of the body of a function
#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"

namespace troupe {
namespace {

OpDefBuilder end_of_edge(std::string name) {
  return OpDefBuilder(std::move(name))
      .attr("tensor_name: string")
      .attr("send_device: string")
      .attr("send_device_incarnation: int")
      .attr("recv_device: string")
      .attr("client_terminated: bool = false")
      .served_by_step()
      .effect(Effect::Step)
      .not_differentiable();
}

}  // namespace

void add_send_recv_ops(OpLibrary& library) {
  const auto send = [](const char* name) {
    return end_of_edge(name).input("tensor: T").attr("T: type").shape(no_output_shape);
  };
  library.op(send("_Send").attr("recv_on_host: bool = false"));
  library.op(send("_HostSend"));
  library.op(end_of_edge("_RefSend")
                 .input("tensor: Ref(T)")
                 .attr("T: type")
                 .allows_uninitialized_input()
                 .shape(no_output_shape));
  for (const char* name : {"_Recv", "_HostRecv"})
    library.op(
        end_of_edge(name).output("tensor: tensor_type").attr("tensor_type: type").shape(unknown_shape));
  library.op(OpDefBuilder("_Arg")
                 .output("output: T")
                 .attr("T: type")
                 .attr("index: int >= 0")
                 .served_by_step()
                 .effect(Effect::Step)
                 .shape(unknown_shape)
                 .not_differentiable());
  library.op(OpDefBuilder("_Retval")
                 .input("input: T")
                 .attr("T: type")
                 .attr("index: int >= 0")
                 .served_by_step()
                 .effect(Effect::Step)
                 .shape(no_output_shape)
                 .not_differentiable());
}

}  // namespace troupe
