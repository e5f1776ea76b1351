#include "apps/config/example_feature.h"

#include "kernels/constructors.h"

namespace troupe::config {
namespace {

DType feature_type(const ExampleFeature& feature) {
  if (feature.dtype == "string") return DType::String;
  return feature.dtype == "int64" ? DType::Int64 : DType::Float;
}

}  // namespace

Output example_feature(const Scope& scope, Output records, const ExampleFeature& feature) {
  const PartialShape& given = scope.shape(records);
  if (scope.dtype(records) != DType::String || !given.known_rank() || given.rank() > 1)
    throw Error(invalid_argument("nn.example_feature: Examples are a string or a vector of strings, not " +
                                 std::string(name(scope.dtype(records))) + given.text()));
  const bool is_single = given.rank() == 0;
  const DType dtype = feature_type(feature);
  const PartialShape shape = feature.size == 0 ? PartialShape::scalar() : PartialShape::vector(feature.size);
  const Output without_default = scope.constant(value_or_throw(Tensor::allocate(dtype, Shape{0})));
  const Output batch = is_single ? expand_dims(scope, records, 0) : records;
  const Output names = scope.constant(value_or_throw(Tensor::allocate(DType::String, Shape{0})));
  const Output key = scope.constant(Tensor::scalar<std::string>(feature.name));
  const Output parsed = scope.add_one("ParseExample", {batch, names, key, without_default},
                                      {{"Nsparse", int64_t{0}},
                                       {"Ndense", int64_t{1}},
                                       {"sparse_types", std::vector<DType>{}},
                                       {"Tdense", std::vector<DType>{dtype}},
                                       {"dense_shapes", std::vector<PartialShape>{shape}}});
  return is_single ? squeeze(scope, parsed, {0}) : parsed;
}

}  // namespace troupe::config
