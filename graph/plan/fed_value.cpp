#include "graph/plan/fed_value.h"

#include <algorithm>

namespace troupe {
namespace {

bool fits(const Shape& shape, const PartialShape& expected) {
  if (!expected.known_rank()) return true;
  return std::ranges::equal(shape.dims(), expected.dims(),
                            [](int64_t is, int64_t wanted) { return wanted == unknown_dim || wanted == is; });
}

}  // namespace

Status check_fed_value(const Tensor& value, DType dtype, const PartialShape& shape,
                       const std::string& output) {
  if (value.dtype() == dtype && fits(value.shape(), shape)) return {};
  return invalid_argument("the value fed for " + output + " is " + value.signature() + "; expected " +
                          std::string(name(dtype)) + shape.text());
}

}  // namespace troupe
