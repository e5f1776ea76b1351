#include "graph/build/row_slice.h"

#include "graph/build/graph.h"

namespace troupe {

void set_row_slice(Attributes& attrs, const RowSlice& slice) {
  attrs.set(slice_of_attr, slice.of);
  attrs.set(slice_attr, std::vector<int64_t>{slice.rows, slice.first, slice.stride, slice.count});
}

std::optional<RowSlice> row_slice_of(const Node& node) {
  const AttrValue *const whole = node.attrs.find(slice_of_attr), *const numbers = node.attrs.find(slice_attr);
  const auto* const name = whole ? std::get_if<std::string>(whole) : nullptr;
  const auto* const list = numbers ? std::get_if<std::vector<int64_t>>(numbers) : nullptr;
  if (!name || !list || list->size() != 4 || node.output_shapes.empty()) return {};
  const RowSlice slice{*name, (*list)[0], (*list)[1], (*list)[2], (*list)[3]};
  const PartialShape& shape = node.output_shapes.at(0);
  const bool fits = shape.known_rank() && shape.rank() > 0 && shape[0] == slice.count && slice.is_valid();
  return fits ? std::optional(slice) : std::nullopt;
}

}  // namespace troupe
