// StringNGrams(data, data_splits): of rows of strings, row i being
// data[splits[i]] to data[splits[i + 1] - 1], the n-grams: for each of
// ngram_widths all runs of so many strings, joined by `separator`. Before and
// behind a row stand pad_width times left_pad and right_pad; if that is
// negative, and at most, one less than the width. With preserve_short_sequences
// a row that has strings, but no n-grams, has one: all its strings, with the
// pads. Without data there are no n-grams. InvalidArgument for splits that do
// not ascend from 0 to the number of strings. ResourceExhausted for n-grams
// that are much longer than their strings.
#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/ops/ragged/splits.h"
#include "kernels/ops/sparse/sparse_tensor.h"
#include "kernels/ops/strings/elements.h"

namespace troupe {
namespace {

/// The n-grams take at most so many bytes, or so many for each byte of the data
/// and their strings.
constexpr double most_bytes = double{1 << 30}, most_for_each_byte = 64;
/// The maximum width and number of pads: numbers below its square fit an int64.
constexpr int64_t most_strings = int64_t{1} << 30;

/// The attributes.
struct Grams {
  std::string_view separator, left, right;
  std::span<const int64_t> widths;
  int64_t pads;  ///< negative: as many as fit
  bool keeps_short;

  /// Returns the pads on one side of a row, for a width.
  int64_t pads_for(int64_t width) const { return pads < 0 ? width - 1 : std::min(pads, width - 1); }
  int64_t count(int64_t size, int64_t width) const {
    return std::max<int64_t>(0, size + 2 * pads_for(width) - width + 1);
  }
  /// Returns the pads on one side of a row that has no n-grams.
  int64_t pads_of_short() const { return std::max<int64_t>(pads, 0); }
};

Grams grams_of(const Node& node) {
  const auto text = [&](const char* name) { return std::string_view(node.attrs.get<std::string>(name)); };
  return {text("separator"),
          text("left_pad"),
          text("right_pad"),
          node.attrs.get<std::vector<int64_t>>("ngram_widths"),
          std::min(node.attrs.get<int64_t>("pad_width"), most_strings),
          node.attrs.get<bool>("preserve_short_sequences")};
}

Status ngrams_shape(ShapeContext& context) {
  for (const int64_t width : grams_of(context.node()).widths)
    if (width < 1 || width > most_strings)
      return invalid_argument("ngram_widths has " + std::to_string(width) + "; widths must be in [1, " +
                              std::to_string(most_strings) + "]");
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 1).status());
  TROUPE_ASSIGN(PartialShape splits, context.with_rank(1, 1));
  context.set_output(0, PartialShape::vector(unknown_dim));
  context.set_output(1, std::move(splits));
  return {};
}

/// Measuring reads the splits and makes those of the result; computing makes
/// the n-grams.
struct NGramsArguments {
  Grams grams;
  const Tensor &data, &splits;
  Dims from = {}, to = {};  ///< the splits of the data and of the result
  Tensor* ngrams = nullptr;
  Tensor* ngrams_splits = nullptr;
};

Result<NGramsArguments> check_ngrams(KernelContext& context) {
  for (size_t i = 0; i < 2; ++i) TROUPE_RETURN_IF_FAILED(check_rank(context, i, 1));
  return NGramsArguments{grams_of(context.node()), context.input(0), context.input(1)};
}

/// Returns the number of bytes in strings.
double bytes_of(std::span<const std::string> strings) {
  size_t bytes = 0;
  for (const std::string& text : strings) bytes += text.size();
  return static_cast<double>(bytes);
}

/// Counts the n-grams of each row. Fails with ResourceExhausted if there are
/// too many, or they have too many bytes.
Status measure_ngrams(NGramsArguments& arguments, DeviceContext&) {
  const Grams& grams = arguments.grams;
  const auto data = arguments.data.as<std::string>();
  arguments.from = integers(arguments.splits);
  if (arguments.from.empty() && data.empty()) return {};
  TROUPE_RETURN_IF_FAILED(check_splits(arguments.from, arguments.data.elements(), "data_splits"));
  arguments.to = Dims(arguments.from.size());
  if (data.empty()) return {};
  const auto joint =
      static_cast<double>(grams.separator.size() + std::max(grams.left.size(), grams.right.size()));
  const double limit =
      std::max(most_bytes, most_for_each_byte * (bytes_of(data) + static_cast<double>(data.size_bytes())));
  double most = 0;  // bytes of the n-grams, with the objects that hold them
  for (size_t i = 1; i < arguments.from.size(); ++i) {
    const int64_t size = arguments.from[i] - arguments.from[i - 1];
    const double bytes =
        bytes_of(data.subspan(static_cast<size_t>(arguments.from[i - 1]), static_cast<size_t>(size)));
    int64_t in_row = 0;
    const auto add = [&](int64_t count, int64_t width) {
      in_row += count;
      most += static_cast<double>(count) * (sizeof(std::string) + static_cast<double>(width) * joint) +
              static_cast<double>(std::min(width, count)) * bytes;
    };
    for (const int64_t width : grams.widths) add(grams.count(size, width), width);
    if (grams.keeps_short && size > 0 && in_row == 0) add(1, size + 2 * grams.pads_of_short());
    if (most > limit)
      return resource_exhausted("the n-grams of ngram_widths " + text_of(grams.widths) +
                                " may take more than " + std::to_string(static_cast<uint64_t>(limit)) +
                                " bytes");
    arguments.to[i] = arguments.to[i - 1] + in_row;
  }
  return {};
}

Status allocate_ngrams(NGramsArguments& arguments, KernelContext& context) {
  const int64_t count = arguments.to.empty() ? 0 : arguments.to.back();
  if (arguments.splits.dtype() == DType::Int32 && count > std::numeric_limits<int32_t>::max())
    return invalid_argument(std::to_string(count) + " n-grams are too many for splits of int32");
  TROUPE_ASSIGN(arguments.ngrams, vector_output(context, 0, count));
  TROUPE_ASSIGN(arguments.ngrams_splits, context.output(1, arguments.splits.shape()));
  return {};
}

/// Writes `count` n-grams of a row between `pads` pads.
void write_ngrams(const Grams& grams, std::span<const std::string> row, int64_t width, int64_t pads,
                  std::span<std::string> to) {
  const auto count = static_cast<int64_t>(to.size());
  for (int64_t i = 0; i < count; ++i) {
    std::string& text = to[static_cast<size_t>(i)];
    const int64_t left = std::max<int64_t>(0, pads - i), right = std::max<int64_t>(0, pads - (count - 1 - i));
    const int64_t strings = width - left - right;
    const auto first = static_cast<size_t>(std::max<int64_t>(0, i - pads));
    bool is_first = true;
    const auto add = [&](std::string_view part) {
      if (!is_first) text += grams.separator;
      is_first = false;
      text += part;
    };
    for (int64_t k = 0; k < left; ++k) add(grams.left);
    for (int64_t k = 0; k < strings; ++k) add(row[first + static_cast<size_t>(k)]);
    for (int64_t k = 0; k < right; ++k) add(grams.right);
  }
}

void compute_row(const NGramsArguments& arguments, size_t i) {
  const Grams& grams = arguments.grams;
  const auto part = [](auto whole, int64_t begin, int64_t end) {
    return whole.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  };
  const auto row = part(arguments.data.as<std::string>(), arguments.from[i], arguments.from[i + 1]);
  auto to = part(arguments.ngrams->write<std::string>(), arguments.to[i], arguments.to[i + 1]);
  const auto size = static_cast<int64_t>(row.size());
  for (const int64_t width : grams.widths) {
    const auto count = static_cast<size_t>(grams.count(size, width));
    write_ngrams(grams, row, width, grams.pads_for(width), to.first(count));
    to = to.subspan(count);
  }
  if (!to.empty()) write_ngrams(grams, row, size + 2 * grams.pads_of_short(), grams.pads_of_short(), to);
}

void compute_ngrams(const NGramsArguments& arguments, DeviceContext& device) {
  with_type(SplitTypes{}, arguments.splits.dtype(), [&]<class T>(std::type_identity<T>) {
    std::ranges::transform(arguments.to, arguments.ngrams_splits->write<T>().begin(),
                           [](int64_t split) { return static_cast<T>(split); });
  });
  const auto ngrams = static_cast<size_t>(arguments.ngrams->elements());
  if (ngrams == 0) return;
  const size_t rows = arguments.from.size() - 1;
  parallel_rows(device.pool(), rows, string_cost * (ngrams / rows + 1), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) compute_row(arguments, i);
  });
}

}  // namespace

void add_string_ngrams(OpLibrary& library) {
  library.op(OpDefBuilder("StringNGrams")
                 .input("data: string")
                 .input("data_splits: Tsplits")
                 .output("ngrams: string")
                 .output("ngrams_splits: Tsplits")
                 .attr("separator: string")
                 .attr("ngram_widths: list(int) >= 0")
                 .attr("left_pad: string")
                 .attr("right_pad: string")
                 .attr("pad_width: int")
                 .attr("preserve_short_sequences: bool")
                 .attr("Tsplits: {int32, int64} = int64")
                 .shape(ngrams_shape)
                 .not_differentiable());
  library.kernel(
      measured_cpu_kernel("StringNGrams", check_ngrams, measure_ngrams, allocate_ngrams, compute_ngrams));
}

}  // namespace troupe
