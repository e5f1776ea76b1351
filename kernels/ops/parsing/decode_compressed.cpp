// DecodeCompressed(bytes): each string as it was before it was compressed. compression_type is "ZLIB", "GZIP" (of which several
// may stand one behind the other), or "" for strings that are not compressed. An empty string stays empty; bytes behind the end
// are skipped. Fails with InvalidArgument for another type, and with DataLoss for bytes that are not of that type, damaged or
// cut off (of these TensorFlow returns what there is), and for more than most_bytes bytes from one.
#include <algorithm>

#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/loops/each_string.h"
#include "messages/records/decompressor.h"

namespace troupe {
namespace {

/// The most bytes that one string may become. Deflate makes at most 1032 bytes of one, so that a short string cannot become so
/// long; TensorFlow's limit is twice as much.
constexpr size_t most_bytes = size_t{1} << 30;
/// The cost of a compressed byte, in bytes moved.
constexpr size_t inflated_byte_cost = 64;

struct DecompressArguments {
  std::span<const std::string> strings;
  Compression compression;
  Tensor& output;
};

Result<Compression> compression_of(const Node& node) {
  return troupe::compression_of("compression_type", node.attrs.get<std::string>("compression_type"));
}

Status inflate_all(std::string_view bytes, Compression compression, std::string& to) {
  constexpr size_t first_size = size_t{4} << 10;
  const auto decompressor = make_decompressor(compression);
  decompressor->feed(bytes);
  for (;;) {
    const size_t begin = to.size(), more = std::min(std::max(begin, first_size), most_bytes - begin);
    if (more == 0) return data_loss("it would have more than " + std::to_string(most_bytes) + " bytes");
    to.resize(begin + more);
    TROUPE_ASSIGN(const size_t written, decompressor->decompress(std::span(to).subspan(begin)));
    to.resize(begin + written);
    if (written != 0) continue;
    return decompressor->has_ended() ? Status{} : data_loss("it is cut off");
  }
}

Status decompress(const std::string& bytes, Compression compression, std::string& to) {
  if (compression == Compression::None || bytes.empty()) {
    to = bytes;
    return {};
  }
  if (bytes.size() > most_bytes)
    return data_loss("it has more than " + std::to_string(most_bytes) + " bytes");
  return inflate_all(bytes, compression, to);
}

Status decode_compressed_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(compression_of(context.node()).status());
  return unchanged_shape(context);
}

Result<DecompressArguments> check_decode_compressed(KernelContext& context) {
  TROUPE_ASSIGN(const Compression compression, compression_of(context.node()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, context.input(0).shape()));
  return DecompressArguments{context.input(0).as<std::string>(), compression, *output};
}

Status compute_decode_compressed(const DecompressArguments& arguments, DeviceContext& device) {
  const auto strings = arguments.strings;
  const auto output = arguments.output.write<std::string>();
  size_t bytes = 0;
  for (const std::string& one : strings) bytes += one.size();
  const size_t cost = inflated_byte_cost * (bytes / std::max<size_t>(strings.size(), 1));
  return for_each_string(device.pool(), strings.size(), cost, [&](size_t i) {
    const Status status = decompress(strings[i], arguments.compression, output[i]);
    return status.ok() ? status : Status(status.code(), "string " + std::to_string(i) + ": " + status.text());
  });
}

}  // namespace

void add_decode_compressed(OpLibrary& library) {
  library.op(OpDefBuilder("DecodeCompressed")
                 .input("bytes: string")
                 .output("output: string")
                 .attr("compression_type: string = ''")
                 .constructor("decode_compressed(bytes, compression_type)")
                 .shape(decode_compressed_shape)
                 .not_differentiable());
  library.kernel(cpu_kernel("DecodeCompressed", check_decode_compressed, compute_decode_compressed));
}

}  // namespace troupe
