// StringToNumber(string_tensor): the number that each string says, of type out_type (kernels/core/text.h). InvalidArgument for any
// other text, and for an integer outside the range.
#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/each_string.h"
#include "kernels/ops/strings/elements.h"

namespace troupe {
namespace {

using ParsedTypes = TypeList<float, double, int32_t, int64_t, uint32_t, uint64_t>;

Status compute_string_to_number(const ElementsArguments& arguments, DeviceContext& device) {
  const auto x = arguments.x.as<std::string>();
  const DType dtype = arguments.y.dtype();
  const auto fail = [&](size_t i) {
    return invalid_argument(element_name("string_tensor", arguments.x.shape(), static_cast<int64_t>(i)) +
                            " = " + quoted(x[i]) + " is not a number of type " + std::string(name(dtype)));
  };
  Status status;
  with_type(ParsedTypes{}, dtype, [&]<class T>(std::type_identity<T>) {
    const auto y = arguments.y.write<T>();
    status = for_each_string(device.pool(), x.size(), string_cost,
                             [&](size_t i) { return parse_number(x[i], y[i]) ? ok_status() : fail(i); });
  });
  return status;
}

}  // namespace

void add_string_to_number(OpLibrary& library) {
  library.op(OpDefBuilder("StringToNumber")
                 .input("string_tensor: string")
                 .output("output: out_type")
                 .attr("out_type: {float, double, int32, int64, uint32, uint64} = float")
                 .constructor("string_to_number(string_tensor, out_type)")
                 .shape(unchanged_shape)
                 .not_differentiable());
  library.kernel(cpu_kernel("StringToNumber", check_elements, compute_string_to_number));
}

}  // namespace troupe
