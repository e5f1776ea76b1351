#include "actors/services/barrier/barrier_spec.h"

#include "kernels/core/state.h"

namespace troupe {

std::string BarrierSpec::text() const {
  std::string type_list, shape_list;
  for (size_t i = 0; i < types.size(); ++i) {
    type_list += (i == 0 ? "" : ", ") + std::string(troupe::name(types[i]));
    shape_list += (i == 0 ? "" : ", ") + shapes[i].text();
  }
  return "component types (" + type_list + "), component shapes (" + shape_list + ")";
}

Result<BarrierSpec> barrier_spec(const Node& handle) {
  BarrierSpec spec;
  spec.name = state_name(handle);
  spec.types = handle.attrs.get<std::vector<DType>>("component_types");
  const auto& shapes = handle.attrs.get<std::vector<PartialShape>>("shapes");
  if (shapes.size() != spec.types.size())
    return invalid_argument("all of the component shapes must be specified: there are " +
                            std::to_string(shapes.size()) + " for " + std::to_string(spec.types.size()) +
                            " components");
  for (size_t i = 0; i < shapes.size(); ++i) {
    TROUPE_ASSIGN(Shape shape, shapes[i].to_shape(spec.types[i]));
    spec.shapes.push_back(std::move(shape));
  }
  if (const int64_t capacity = handle.attrs.get<int64_t>("capacity"); capacity != -1)
    return invalid_argument("capacity is " + std::to_string(capacity) +
                            ", but a barrier only accepts -1: a queue before it can limit the elements");
  return spec;
}

}  // namespace troupe
