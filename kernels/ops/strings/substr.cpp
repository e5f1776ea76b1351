// Substr(input, pos, len): `len` bytes of each string from byte `pos` on, or with unit UTF8_CHAR characters; fewer at the end of
// the string. A negative pos counts from the end. pos and len have one shape, which broadcasts with that of input.
// InvalidArgument for a pos outside the string; pos may be its size. A negative len means, as in TensorFlow, the rest of the
// string in bytes; in characters it means none, and with a negative pos it is refused.
#include <atomic>
#include <optional>

#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/broadcast.h"
#include "kernels/ops/strings/elements.h"

namespace troupe {
namespace {

using PositionTypes = TypeList<int32_t, int64_t>;
using Part = std::optional<std::string_view>;

Part part_in_bytes(std::string_view text, int64_t pos, int64_t len) {
  const auto size = static_cast<int64_t>(text.size());
  if (pos < -size || pos > size) return {};
  return text.substr(static_cast<size_t>(pos < 0 ? pos + size : pos), static_cast<size_t>(len));
}

/// Moves `at` forwards or backwards by up to `n` characters. Returns how many there were.
uint64_t advance(std::string_view text, uint64_t n, size_t& at) {
  uint64_t moved = 0;
  for (; moved < n && at < text.size(); ++moved) {
    ++at;
    while (at < text.size() && continues_character(text[at])) ++at;
  }
  return moved;
}
uint64_t retreat(std::string_view text, uint64_t n, size_t& at) {
  uint64_t moved = 0;
  for (; moved < n && at > 0; ++moved) {
    --at;
    while (at > 0 && continues_character(text[at])) --at;
  }
  return moved;
}

Part part_in_characters(std::string_view text, int64_t pos, int64_t len) {
  if (pos >= 0) {
    size_t begin = 0;
    if (advance(text, static_cast<uint64_t>(pos), begin) != static_cast<uint64_t>(pos)) return {};
    size_t end = begin;
    advance(text, static_cast<uint64_t>(std::max<int64_t>(len, 0)), end);
    return text.substr(begin, end - begin);
  }
  if (len < 0) return {};
  const uint64_t from_end = 0 - static_cast<uint64_t>(pos);
  const uint64_t after = from_end - std::min(from_end, static_cast<uint64_t>(len));
  size_t end = text.size();
  if (retreat(text, after, end) != after) return {};
  size_t begin = end;
  if (retreat(text, from_end - after, begin) != from_end - after) return {};
  return text.substr(begin, end - begin);
}

Status different_shapes(const std::string& pos, const std::string& len) {
  return invalid_argument("pos of shape " + pos + " and len of shape " + len + " must have one shape");
}

Status substr_shape(ShapeContext& context) {
  const auto positions = merge(context.input(1), context.input(2));
  if (!positions) return different_shapes(context.input(1).text(), context.input(2).text());
  TROUPE_ASSIGN(PartialShape output, broadcast(context.input(0), *positions));
  context.set_output(0, std::move(output));
  return {};
}

struct SubstrArguments {
  const Tensor &input, &pos, &len;
  Tensor& output;
  Broadcast<2> broadcast;
  bool in_bytes;
};

Result<SubstrArguments> check_substr(KernelContext& context) {
  const Tensor &input = context.input(0), &pos = context.input(1), &len = context.input(2);
  if (!(pos.shape() == len.shape())) return different_shapes(pos.shape().text(), len.shape().text());
  TROUPE_ASSIGN(auto broadcast,
                Broadcast<2>::make({input.shape().dims(), pos.shape().dims()}, DType::String));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, broadcast.shape()));
  return SubstrArguments{input,
                         pos,
                         len,
                         *output,
                         std::move(broadcast),
                         context.node().attrs.get<std::string>("unit") == "BYTE"};
}

/// Writes elements [begin, end) of the output. Returns the first whose pos is outside its string, or `end`.
template <class T>
size_t write_parts(const SubstrArguments& arguments, size_t begin, size_t end) {
  const auto input = arguments.input.as<std::string>();
  const auto pos = arguments.pos.as<T>(), len = arguments.len.as<T>();
  const auto output = arguments.output.write<std::string>();
  const auto part_of = arguments.in_bytes ? part_in_bytes : part_in_characters;
  const auto& steps = arguments.broadcast.inner().steps;
  size_t failed = end;
  arguments.broadcast.walk(begin, end, [&](const auto& offsets, size_t first, size_t n) {
    for (size_t i = 0; i < n && failed == end; ++i) {
      const size_t at = offsets[1] + i * steps[1];
      if (const Part part = part_of(input[offsets[0] + i * steps[0]], pos[at], len[at]))
        output[first + i] = *part;
      else
        failed = first + i;
    }
  });
  return failed;
}

/// The error for element `number` of the output.
template <class T>
Status outside(const SubstrArguments& arguments, size_t number) {
  size_t text = 0, at = 0;
  arguments.broadcast.walk(number, number + 1, [&](const auto& offsets, size_t, size_t) {
    text = offsets[0];
    at = offsets[1];
  });
  const std::string& input = arguments.input.as<std::string>()[text];
  const auto element = static_cast<int64_t>(at);
  return invalid_argument(element_name("pos", arguments.pos.shape(), element) + " = " +
                          std::to_string(arguments.pos.as<T>()[at]) + ", with len " +
                          std::to_string(arguments.len.as<T>()[at]) + ", is outside " +
                          element_name("input", arguments.input.shape(), static_cast<int64_t>(text)) + " = " +
                          quoted(input));
}

Status compute_substr(const SubstrArguments& arguments, DeviceContext& device) {
  Status status;
  with_type(PositionTypes{}, arguments.pos.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto n = static_cast<size_t>(arguments.output.elements());
    std::atomic<size_t> failed = n;
    parallel_items(device.pool(), n, string_cost, [&](size_t begin, size_t end) {
      const size_t first = write_parts<T>(arguments, begin, end);
      size_t known = failed;
      while (first != end && first < known && !failed.compare_exchange_weak(known, first)) {
      }
    });
    if (failed != n) status = outside<T>(arguments, failed);
  });
  return status;
}

}  // namespace

void add_substr(OpLibrary& library) {
  library.op(OpDefBuilder("Substr")
                 .input("input: string")
                 .input("pos: T")
                 .input("len: T")
                 .output("output: string")
                 .attr("T: {int32, int64}")
                 .attr("unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'")
                 .constructor("substr(input, pos, len, unit)")
                 .shape(substr_shape)
                 .not_differentiable());
  library.kernel(cpu_kernel("Substr", check_substr, compute_substr));
}

}  // namespace troupe
