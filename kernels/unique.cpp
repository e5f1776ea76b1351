// Unique(x): the values of a vector, each once, in the order of their first places; idx says for each element of x which of them it
// is. Two NaN are two values, as they are not equal.
#include <algorithm>
#include <unordered_map>

#include "graph/shape_context.h"
#include "kernels/all_ops.h"
#include "kernels/dims.h"
#include "kernels/type_dispatch.h"

namespace troupe {
namespace {

using UniqueTypes =
    TypeList<float, double, int32_t, int64_t, int8_t, uint8_t, int16_t, uint16_t, std::string>;

/// For each element the number of its value, and the first place of each value.
struct Values {
  std::vector<int64_t> numbers;
  std::vector<size_t> first;
};

template <class T>
Values values_of(std::span<const T> elements) {
  Values values;
  std::unordered_map<T, int64_t> known;
  for (size_t i = 0; i < elements.size(); ++i) {
    const auto [at, is_new] = known.try_emplace(elements[i], static_cast<int64_t>(values.first.size()));
    if (is_new) values.first.push_back(i);
    values.numbers.push_back(at->second);
  }
  return values;
}

Values values_of(const Tensor& x) {
  Values values;
  with_type(UniqueTypes{}, x.dtype(),
            [&]<class T>(std::type_identity<T>) { values = values_of<T>(x.as<T>()); });
  return values;
}

Status unique_shape(ShapeContext& context) {
  TROUPE_ASSIGN(auto shape, context.with_rank(0, 1));
  const Tensor* const x = context.constant(0);
  const int64_t count = x ? static_cast<int64_t>(values_of(*x).first.size()) : unknown_dim;
  context.set_output(0, PartialShape::vector(count));
  context.set_output(1, std::move(shape));
  return {};
}

Status run_unique(KernelContext& context) {
  const Tensor& x = context.input(0);
  if (x.shape().rank() != 1) return invalid_argument("x of shape " + x.shape().text() + " is not a vector");
  const Values values = values_of(x);
  TROUPE_ASSIGN(const Shape shape, Shape::make(Dims{static_cast<int64_t>(values.first.size())}, x.dtype()));
  TROUPE_ASSIGN(Tensor* const y, context.output(0, shape));
  with_type(UniqueTypes{}, x.dtype(), [&]<class T>(std::type_identity<T>) {
    for (size_t i = 0; i < values.first.size(); ++i) y->write<T>()[i] = x.as<T>()[values.first[i]];
  });
  TROUPE_ASSIGN(Tensor* const idx, context.output(1, x.shape()));
  with_type(TypeList<int32_t, int64_t>{}, idx->dtype(), [&]<class T>(std::type_identity<T>) {
    std::ranges::transform(values.numbers, idx->write<T>().begin(),
                           [](int64_t number) { return static_cast<T>(number); });
  });
  return {};
}

}  // namespace

void add_unique(OpLibrary& library) {
  library.op(OpDefBuilder("Unique")
                 .input("x: T")
                 .output("y: T")
                 .output("idx: out_idx")
                 .attr("T: type")
                 .attr("out_idx: {int32, int64} = int32")
                 .shape(unique_shape)
                 .not_differentiable());
  library.kernel(cpu_kernel("Unique", run_unique).on("T", dtypes(UniqueTypes{})));
}

}  // namespace troupe
