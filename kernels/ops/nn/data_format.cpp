// Translate between the orders of the dimensions of images, for layouts such as "NHWC" and "NCHW". Integers; not differentiable.
//   DataFormatDimMap(x)      each element, the number of a dimension in src_format, becomes the number of that dimension in
//                            dst_format. Negative numbers count from the end.
//   DataFormatVecPermute(x)  x has a number, or a row of two, for each dimension, or for H and W alone, in the order of src_format;
//                            y has them in the order of dst_format
// Fail with InvalidArgument unless both formats have the same letters, once each; DataFormatDimMap also unless there are four or
// five.
#include <algorithm>

#include "graph/build/shape_context.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/type_dispatch.h"

namespace troupe {
namespace {

using IndexTypes = TypeList<int32_t, int64_t>;

struct Formats {
  std::string from, to;
};

Result<Formats> formats_of(const Node& node) {
  Formats formats{node.attrs.get<std::string>("src_format"), node.attrs.get<std::string>("dst_format")};
  const auto letters = [](std::string format) {
    std::ranges::sort(format);
    return format;
  };
  const std::string from = letters(formats.from);
  if (from != letters(formats.to) || std::ranges::adjacent_find(from) != from.end())
    return invalid_argument("src_format '" + formats.from + "' and dst_format '" + formats.to +
                            "' must have the same letters, once each");
  return formats;
}

/// Returns the positions in `from` of the letters of `to`.
std::vector<size_t> sources(const Formats& formats) {
  std::vector<size_t> result;
  for (const char letter : formats.to) result.push_back(formats.from.find(letter));
  return result;
}

struct FormatArguments {
  const Tensor& x;
  Tensor& y;
  Formats formats;
};

Result<FormatArguments> check_dim_map(KernelContext& context) {
  TROUPE_ASSIGN(Formats formats, formats_of(context.node()));
  if (formats.from.size() != 4 && formats.from.size() != 5)
    return invalid_argument("src_format is '" + formats.from + "'; it must have four or five letters");
  TROUPE_ASSIGN(Tensor* const y, context.output(0, context.input(0).shape()));
  return FormatArguments{context.input(0), *y, std::move(formats)};
}

template <class T>
Status map_dims(const FormatArguments& arguments) {
  const Formats& formats = arguments.formats;
  const auto x = arguments.x.as<T>();
  const auto y = arguments.y.write<T>();
  const auto dims = static_cast<T>(formats.from.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const T dim = x[i] < 0 ? x[i] + dims : x[i];
    if (dim < 0 || dim >= dims)
      return invalid_argument("dimension " + std::to_string(x[i]) + " is not in [-" + std::to_string(dims) +
                              ", " + std::to_string(dims) + "), the dimensions of '" + formats.from + "'");
    y[i] = static_cast<T>(formats.to.find(formats.from[static_cast<size_t>(dim)]));
  }
  return {};
}

Status compute_dim_map(const FormatArguments& arguments, DeviceContext&) {
  return arguments.x.dtype() == DType::Int32 ? map_dims<int32_t>(arguments) : map_dims<int64_t>(arguments);
}

/// Returns the formats of the spatial dimensions alone.
Formats spatial(Formats formats) {
  for (std::string* const format : {&formats.from, &formats.to})
    std::erase_if(*format, [](char letter) { return letter == 'N' || letter == 'C'; });
  return formats;
}

/// Fails with InvalidArgument unless a tensor of the shape can have a number, or a row of two, for each dimension or for the
/// spatial ones.
Status check_numbers(const Formats& formats, const PartialShape& shape) {
  if (!shape.known_rank()) return {};
  const auto all = static_cast<int64_t>(formats.from.size()),
             few = static_cast<int64_t>(spatial(formats).from.size());
  const auto is = [&](size_t i, int64_t size) { return shape[i] == unknown_dim || shape[i] == size; };
  const bool has_rows = shape.rank() == 1 || (shape.rank() == 2 && is(1, 2));
  if (has_rows && (is(0, all) || is(0, few))) return {};
  return invalid_argument("x has shape " + shape.text() + "; for the format '" + formats.from +
                          "' it must be a vector or a matrix of two columns with " + std::to_string(all) +
                          " or " + std::to_string(few) + " rows");
}

Status vec_permute_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const Formats formats, formats_of(context.node()));
  TROUPE_RETURN_IF_FAILED(check_numbers(formats, context.input(0)));
  return unchanged_shape(context);
}

Result<FormatArguments> check_vec_permute(KernelContext& context) {
  TROUPE_ASSIGN(Formats formats, formats_of(context.node()));
  const Tensor& x = context.input(0);
  TROUPE_RETURN_IF_FAILED(check_numbers(formats, x.shape()));
  if (x.shape()[0] != static_cast<int64_t>(formats.from.size())) formats = spatial(std::move(formats));
  TROUPE_ASSIGN(Tensor* const y, context.output(0, x.shape()));
  return FormatArguments{x, *y, std::move(formats)};
}

void compute_vec_permute(const FormatArguments& arguments, DeviceContext&) {
  const std::vector<size_t> from = sources(arguments.formats);
  with_type(IndexTypes{}, arguments.x.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto x = arguments.x.as<T>();
    const auto y = arguments.y.write<T>();
    if (x.empty()) return;
    const size_t row = x.size() / from.size();
    for (size_t i = 0; i < from.size(); ++i) std::copy_n(&x[from[i] * row], row, &y[i * row]);
  });
}

OpDefBuilder format_op(const char* name, const char* constructor) {
  return OpDefBuilder(name)
      .input("x: T")
      .output("y: T")
      .attr("T: {int32, int64} = int32")
      .attr("src_format: string = 'NHWC'")
      .attr("dst_format: string = 'NCHW'")
      .constructor(std::string(constructor) + "(x, src_format, dst_format)")
      .not_differentiable();
}

}  // namespace

void add_data_format_ops(OpLibrary& library) {
  library.op(format_op("DataFormatDimMap", "data_format_dim_map").shape(unchanged_shape));
  library.kernel(cpu_kernel("DataFormatDimMap", check_dim_map, compute_dim_map));
  library.op(format_op("DataFormatVecPermute", "data_format_vec_permute").shape(vec_permute_shape));
  library.kernel(cpu_kernel("DataFormatVecPermute", check_vec_permute, compute_vec_permute));
}

}  // namespace troupe
