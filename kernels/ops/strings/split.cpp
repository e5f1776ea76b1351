// Strings cut into parts, as a sparse matrix: row i has the parts of string i of the vector `input`, from column 0 on.
//   StringSplit(input, delimiter)  cuts at each byte that is in `delimiter`, or after every byte if it is empty; leaves out empty
//                                  parts if `skip_empty`. An empty string has no parts.
//   StringSplitV2(input, sep)      as Python's str.split: cuts at `sep`, or, if it is empty, at runs of white space, which also
//                                  ends at both ends; at most `maxsplit` times from the left, if that is not negative. After
//                                  the last cut the rest is a part, even if it is empty.
#include <array>

#include "graph/build/shape_context.h"
#include "kernels/ops/sparse/sparse_tensor.h"
#include "kernels/ops/strings/elements.h"

namespace troupe {
namespace {

/// How to cut a string.
struct Cuts {
  enum class At : uint8_t { EveryByte, Byte, Bytes, Space, Text };

  At at;
  std::string_view separator;
  std::array<bool, 256> bytes = {};  ///< the bytes at which to cut, for At::Bytes
  bool skips_empty = false;
  size_t most = SIZE_MAX;  ///< the maximum number of cuts
};

/// Calls take(part) for each part between single bytes.
template <class Take>
void cut_at_bytes(const Cuts& cuts, std::string_view text, const Take& take) {
  const auto give = [&](size_t begin, size_t end) {
    if (begin != end || !cuts.skips_empty) take(text.substr(begin, end - begin));
  };
  size_t begin = 0;
  if (cuts.at == Cuts::At::Byte) {
    for (size_t end; (end = text.find(cuts.separator[0], begin)) != std::string_view::npos; begin = end + 1)
      give(begin, end);
  } else {
    for (size_t i = 0; i < text.size(); ++i) {
      if (!cuts.bytes[static_cast<unsigned char>(text[i])]) continue;
      give(begin, i);
      begin = i + 1;
    }
  }
  give(begin, text.size());
}

/// The same for parts between runs of white space.
template <class Take>
void cut_at_space(const Cuts& cuts, std::string_view text, const Take& take) {
  size_t begin = 0;
  const auto skip_space = [&] {
    while (begin < text.size() && is_space(text[begin])) ++begin;
  };
  skip_space();
  for (size_t n = 0; begin < text.size();) {
    size_t end = begin;
    while (end < text.size() && !is_space(text[end])) ++end;
    take(text.substr(begin, end - begin));
    begin = end;
    skip_space();
    if (++n == cuts.most) return take(text.substr(begin));
  }
}

/// The same for parts between occurrences of a text.
template <class Take>
void cut_at_text(const Cuts& cuts, std::string_view text, const Take& take) {
  size_t begin = 0;
  for (size_t n = 0; n < cuts.most; ++n) {
    const size_t end = text.find(cuts.separator, begin);
    if (end == std::string_view::npos) break;
    take(text.substr(begin, end - begin));
    begin = end + cuts.separator.size();
  }
  take(text.substr(begin));
}

template <class Take>
void cut(const Cuts& cuts, std::string_view text, const Take& take) {
  using enum Cuts::At;
  switch (cuts.at) {
    case EveryByte:
      for (size_t i = 0; i < text.size(); ++i) take(text.substr(i, 1));
      return;
    case Byte:
    case Bytes:
      if (!text.empty()) cut_at_bytes(cuts, text, take);
      return;
    case Space: return cuts.most == 0 ? take(text) : cut_at_space(cuts, text, take);
    case Text: return cut_at_text(cuts, text, take);
  }
}

Cuts cuts_of(const Node& node, std::string_view separator) {
  using enum Cuts::At;
  if (node.type() == "StringSplitV2") {
    const auto most = node.attrs.get<int64_t>("maxsplit");
    return {separator.empty() ? Space : Text,
            separator,
            {},
            false,
            most < 0 ? SIZE_MAX : static_cast<size_t>(most)};
  }
  Cuts cuts{separator.empty() ? EveryByte : separator.size() == 1 ? Byte : Bytes, separator};
  for (const char c : separator) cuts.bytes[static_cast<unsigned char>(c)] = true;
  cuts.skips_empty = node.attrs.get<bool>("skip_empty");
  return cuts;
}

Status split_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const PartialShape input, context.with_rank(0, 1));
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 0).status());
  context.set_output(0, PartialShape{unknown_dim, 2});
  context.set_output(1, PartialShape::vector(unknown_dim));
  context.set_output(2, PartialShape::vector(2));
  return {};
}

/// Measuring counts the parts; computing makes them.
struct SplitArguments {
  const Tensor& input;
  Cuts cuts;
  std::vector<int64_t> ends;  ///< for each string the number of parts in it and those before it
  int64_t most = 0;           ///< the number of parts of the string that has most
  Tensor *indices = nullptr, *values = nullptr;
};

Result<SplitArguments> check_split(KernelContext& context) {
  for (size_t i = 0; i < 2; ++i) TROUPE_RETURN_IF_FAILED(check_rank(context, i, 1 - i));
  const Tensor& input = context.input(0);
  return SplitArguments{input, cuts_of(context.node(), context.input(1).as<std::string>()[0]),
                        std::vector<int64_t>(static_cast<size_t>(input.elements()))};
}

void measure_split(SplitArguments& arguments, DeviceContext& device) {
  const auto input = arguments.input.as<std::string>();
  auto& ends = arguments.ends;
  for_each_element(device.pool(), input.size(), string_cost, [&](size_t i) {
    int64_t parts = 0;
    cut(arguments.cuts, input[i], [&](std::string_view) { ++parts; });
    ends[i] = parts;
  });
  int64_t sum = 0;
  for (int64_t& end : ends) {
    arguments.most = std::max(arguments.most, end);
    end = sum += end;
  }
}

Status allocate_split(SplitArguments& arguments, KernelContext& context) {
  const int64_t parts = arguments.ends.empty() ? 0 : arguments.ends.back();
  TROUPE_ASSIGN(arguments.indices, indices_output(context, 0, parts, 2));
  TROUPE_ASSIGN(arguments.values, vector_output(context, 1, parts));
  return set_shape_output(context, 2, std::array{arguments.input.elements(), arguments.most});
}

void compute_split(const SplitArguments& arguments, DeviceContext& device) {
  const auto input = arguments.input.as<std::string>();
  const auto indices = arguments.indices->write<int64_t>();
  const auto values = arguments.values->write<std::string>();
  for_each_element(device.pool(), input.size(), 4 * string_cost, [&](size_t i) {
    const size_t begin = i == 0 ? 0 : static_cast<size_t>(arguments.ends[i - 1]);
    size_t at = begin;
    cut(arguments.cuts, input[i], [&](std::string_view part) {
      indices[2 * at] = static_cast<int64_t>(i);
      indices[2 * at + 1] = static_cast<int64_t>(at - begin);
      values[at++] = std::string(part);
    });
  });
}

void add_split(OpLibrary& library, const char* name, const char* separator, const char* attr) {
  library.op(OpDefBuilder(name)
                 .input("input: string")
                 .input(std::string(separator) + ": string")
                 .output("indices: int64")
                 .output("values: string")
                 .host_output("shape: int64")
                 .attr(attr)
                 .shape(split_shape)
                 .not_differentiable());
  library.kernel(measured_cpu_kernel(name, check_split, measure_split, allocate_split, compute_split));
}

}  // namespace

void add_string_splits(OpLibrary& library) {
  add_split(library, "StringSplit", "delimiter", "skip_empty: bool = true");
  add_split(library, "StringSplitV2", "sep", "maxsplit: int = -1");
}

}  // namespace troupe
