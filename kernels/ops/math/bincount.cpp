// How often numbers come, or the sum of their weights.
//   Bincount(arr, size, weights)         bins[k] counts the elements of arr that are k, for k < size; others count nowhere. With
//                                        weights, one for each element, it is the sum of theirs; without elements weights are left
//                                        out
//   DenseBincount(input, size, weights)  the same, of a matrix for each row; with binary_output 1 where a number comes, else 0
// InvalidArgument for a negative number. Sums are added in an order that depends on shapes alone; integers wrap around.
#include "kernels/ops/math/bincount.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/combine.h"
#include "kernels/loops/strided_copy.h"

namespace troupe {
namespace {

using NumberedTypes = TypeList<int32_t, int64_t>;
using WeightTypes = TypeList<int32_t, int64_t, float, double>;

bool is_dense(const Node& node) { return node.type() == "DenseBincount"; }
const char* numbers_name(const Node& node) { return is_dense(node) ? "input" : "arr"; }

Status check_size(int64_t size) {
  return size >= 0 ? Status{} : invalid_argument("size is " + std::to_string(size));
}

/// The dimensions of the result; unknown ones stay unknown. InvalidArgument for too many dimensions of DenseBincount.
Result<Dims> bins_dims(const Node& node, std::span<const int64_t> numbers, int64_t size) {
  if (!is_dense(node) || numbers.size() < 2) return Dims{size};
  if (numbers.size() == 2) return Dims{numbers[0], size};
  return invalid_argument("input of shape " + partial(numbers).text() + " is of rank 3 or more");
}

Status bincount_shape(ShapeContext& context) {
  const PartialShape& numbers = context.input(0);
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 0).status());
  const auto size = constant_integer(context, 1);
  if (size) TROUPE_RETURN_IF_FAILED(check_size(*size));
  if (is_dense(context.node()) && !numbers.known_rank()) return {};
  TROUPE_ASSIGN(const Dims dims, bins_dims(context.node(), numbers.dims(), size.value_or(unknown_dim)));
  context.set_output(0, partial(dims));
  return {};
}

/// Counts elements [begin, end) into `bins`. False when one is negative.
template <class Number, class T>
bool count(const BincountArguments& arguments, size_t begin, size_t end, std::span<T> bins) {
  const auto numbers = arguments.numbers.as<Number>();
  const T* const weights = arguments.weights ? arguments.weights->as<T>().data() : nullptr;
  Number bits = 0;
  for (size_t i = begin; i < end; ++i) {
    const Number number = numbers[i];
    bits |= number;
    if (std::cmp_less(number, 0) || std::cmp_greater_equal(number, bins.size())) continue;
    T& bin = bins[static_cast<size_t>(number)];
    bin = arguments.binary ? T{1} : Add::apply(bin, weights ? weights[i] : T{1});
  }
  return bits >= 0;
}

constexpr size_t max_parts = 16;

/// A list is cut in parts with bins of their own, which are then added in order. Sets `good` to false for a negative number.
template <class Number, class T>
Status count_list(const BincountArguments& arguments, DeviceContext& device, std::atomic<bool>& good) {
  const auto elements = static_cast<size_t>(arguments.numbers.elements());
  const auto bins = arguments.bins.write<T>();
  const size_t least = std::max<size_t>(block_cost / sizeof(Number), 4 * arguments.size);
  const size_t parts = arguments.binary ? 1 : std::clamp<size_t>(elements / least, 1, max_parts);
  TROUPE_ASSIGN(const Shape shape,
                Shape::make(Dims{static_cast<int64_t>(parts - 1), arguments.bins.elements()}, dtype_of<T>));
  TROUPE_ASSIGN(Tensor others, Tensor::allocate(dtype_of<T>, shape, device.memory()));
  fill(device.pool(), others);
  const auto bins_of = [&](size_t part) {
    return part == 0 ? bins : others.write<T>().subspan((part - 1) * bins.size(), bins.size());
  };
  device.pool().chunks(parts, [&](size_t part) {
    if (!count<Number, T>(arguments, part * elements / parts, (part + 1) * elements / parts, bins_of(part)))
      good = false;
  });
  for (size_t part = 1; part < parts; ++part) combine_into<Add, T>(bins, bins_of(part));
  return {};
}

template <class Number, class T>
Status count_rows(const BincountArguments& arguments, DeviceContext& device, std::atomic<bool>& good) {
  const auto bins = arguments.bins.write<T>();
  const size_t row = static_cast<size_t>(arguments.numbers.elements()) / arguments.rows;
  parallel_rows(device.pool(), arguments.rows, 2 * row * (sizeof(Number) + sizeof(T)),
                [&](size_t begin, size_t end) {
                  for (size_t i = begin; i < end; ++i)
                    if (!count<Number, T>(arguments, i * row, (i + 1) * row,
                                          bins.subspan(i * arguments.size, arguments.size)))
                      good = false;
                });
  return {};
}

/// InvalidArgument for the first negative number; there is one.
template <class Number>
Status refuse_negative(const BincountArguments& arguments) {
  const auto numbers = arguments.numbers.as<Number>();
  const auto found = std::ranges::find_if(numbers, [](Number number) { return number < 0; });
  return invalid_argument(element_name(arguments.name, arguments.numbers.shape(), found - numbers.begin()) +
                          " = " + std::to_string(*found) + " is negative");
}

Status compute_bincount(const BincountArguments& arguments, DeviceContext& device) {
  fill(device.pool(), arguments.bins);
  if (arguments.numbers.elements() == 0) return {};
  Status status;
  std::atomic<bool> good = true;
  with_type(NumberedTypes{}, arguments.numbers.dtype(), [&]<class Number>(std::type_identity<Number>) {
    with_type(WeightTypes{}, arguments.bins.dtype(), [&]<class T>(std::type_identity<T>) {
      status = arguments.rows == 1 ? count_list<Number, T>(arguments, device, good)
                                   : count_rows<Number, T>(arguments, device, good);
    });
    if (!good) status = refuse_negative<Number>(arguments);
  });
  return status;
}

}  // namespace

Result<BincountArguments> check_bincount(KernelContext& context) {
  const Node& node = context.node();
  const Tensor &numbers = context.input(0), &weights = context.input(2);
  if (!context.input(1).shape().is_scalar())
    return invalid_argument("size of shape " + context.input(1).shape().text() + " is not a scalar");
  TROUPE_ASSIGN(const int64_t size, integer_scalar(context.input(1), "size"));
  TROUPE_RETURN_IF_FAILED(check_size(size));
  if (weights.elements() != 0 && weights.elements() != numbers.elements())
    return invalid_argument("weights of shape " + weights.shape().text() + " for " + numbers_name(node) +
                            " of shape " + numbers.shape().text());
  TROUPE_ASSIGN(const Dims dims, bins_dims(node, numbers.shape().dims(), size));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, weights.dtype()));
  TROUPE_ASSIGN(Tensor* const bins, context.output(0, shape));
  return BincountArguments{numbers,
                           weights.elements() == 0 ? nullptr : &weights,
                           *bins,
                           numbers_name(node),
                           dims.size() == 2 ? static_cast<size_t>(dims[0]) : 1,
                           static_cast<size_t>(size),
                           is_dense(node) && node.attrs.get<bool>("binary_output")};
}

void add_bincount_ops(OpLibrary& library) {
  library.op(OpDefBuilder("Bincount")
                 .input("arr: int32")
                 .host_input("size: int32")
                 .input("weights: T")
                 .output("bins: T")
                 .attr("T: {int32, int64, float, double}")
                 .constructor("bincount(arr, size, weights)")
                 .shape(bincount_shape));
  library.op(OpDefBuilder("DenseBincount")
                 .input("input: Tidx")
                 .host_input("size: Tidx")
                 .input("weights: T")
                 .output("output: T")
                 .attr("Tidx: {int32, int64}")
                 .attr("T: {int32, int64, float, double}")
                 .attr("binary_output: bool = false")
                 .constructor("dense_bincount(input, size, weights, binary_output)")
                 .shape(bincount_shape));
  for (const char* name : {"Bincount", "DenseBincount"})
    library.kernel(cpu_kernel(name, check_bincount, compute_bincount));
}

}  // namespace troupe
