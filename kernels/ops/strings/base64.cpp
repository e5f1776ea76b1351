// Bytes as text of the alphabet A-Z a-z 0-9 - _ ("base64url", RFC 4648), six bits a character.
//   EncodeBase64(input)  with `pad`, = up to a multiple of four characters
//   DecodeBase64(input)  takes text with padding or without. InvalidArgument for other characters, padding elsewhere, and a length
//                        that is 1 modulo 4. Bits of the last character that belong to no byte are not read.
#include <array>

#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/loops/each_string.h"
#include "kernels/ops/strings/elements.h"

namespace troupe {
namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// For each byte its number in the alphabet; -1: it has none.
constexpr std::array<int32_t, 256> make_numbers() {
  std::array<int32_t, 256> digit_values{};
  digit_values.fill(-1);
  for (size_t i = 0; i < alphabet.size(); ++i)
    digit_values[static_cast<unsigned char>(alphabet[i])] = static_cast<int32_t>(i);
  return digit_values;
}
constexpr std::array<int32_t, 256> digit_values = make_numbers();

// ---- EncodeBase64

struct Encode {
  explicit Encode(const PrepareContext& context) : pads(context.attr<bool>("pad")) {}

  void operator()(const std::string& x, std::string& y) const {
    y.resize(x.size() / 3 * 4 + (x.size() % 3 == 0 ? 0 : pads ? 4 : x.size() % 3 + 1));
    char* to = y.data();
    const auto byte = [&](size_t i) { return uint32_t{static_cast<unsigned char>(x[i])}; };
    size_t i = 0;
    for (; i + 3 <= x.size(); i += 3) {
      write(byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2), 4, to);
      to += 4;
    }
    const size_t rest = x.size() - i;
    if (rest == 0) return;
    write(byte(i) << 16 | (rest == 2 ? byte(i + 1) << 8 : 0), rest + 1, to);
    std::fill(to + rest + 1, y.data() + y.size(), '=');
  }
  /// Writes the first n characters for three bytes.
  static void write(uint32_t bits, size_t n, char* to) {
    for (size_t k = 0; k < n; ++k) to[k] = alphabet[bits >> (18 - 6 * k) & 63];
  }
  bool pads;
};

// ---- DecodeBase64

/// Returns the text without padding, which makes the length a multiple of four.
std::string_view without_padding(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0 || text.back() != '=') return text;
  return text.substr(0, text.size() - (text[text.size() - 2] == '=' ? 2 : 1));
}

/// Returns the position of the first byte that is not in the alphabet, or the size.
size_t first_foreign(std::string_view text) {
  size_t i = 0;
  while (i < text.size() && digit_values[static_cast<unsigned char>(text[i])] >= 0) ++i;
  return i;
}

bool decode(std::string_view text, std::string& y) {
  text = without_padding(text);
  if (text.size() % 4 == 1) return false;
  y.resize(text.size() / 4 * 3 + (text.size() % 4 == 0 ? 0 : text.size() % 4 - 1));
  char* to = y.data();
  for (size_t i = 0; i < text.size(); i += 4) {
    const size_t n = std::min<size_t>(4, text.size() - i);
    int32_t bits = 0;
    for (size_t k = 0; k < n; ++k) {
      const int32_t number = digit_values[static_cast<unsigned char>(text[i + k])];
      if (number < 0) return false;
      bits |= number << (18 - 6 * static_cast<int>(k));
    }
    for (size_t k = 0; k + 1 < n; ++k) *to++ = static_cast<char>(bits >> (16 - 8 * static_cast<int>(k)));
  }
  return true;
}

Status undecodable(const Tensor& input, size_t i) {
  const std::string& whole = input.as<std::string>()[i];
  const std::string_view text = without_padding(whole);
  const size_t at = first_foreign(text);
  const std::string fault =
      at < text.size()
          ? quoted(text.substr(at, 1)) + " at byte " + std::to_string(at) +
                ", which is none of A-Z a-z 0-9 - _"
          : std::to_string(text.size()) + " characters, which is 1 modulo 4 and the length of no base64 text";
  return invalid_argument(element_name("input", input.shape(), static_cast<int64_t>(i)) + " = " +
                          quoted(whole) + " has " + fault);
}

Status compute_decode(const ElementsArguments& arguments, DeviceContext& device) {
  const auto x = arguments.x.as<std::string>();
  const auto y = arguments.y.write<std::string>();
  return for_each_string(device.pool(), x.size(), string_cost, [&](size_t i) {
    return decode(x[i], y[i]) ? ok_status() : undecodable(arguments.x, i);
  });
}

}  // namespace

void add_base64_ops(OpLibrary& library) {
  library.op(OpDefBuilder("EncodeBase64")
                 .input("input: string")
                 .output("output: string")
                 .attr("pad: bool = false")
                 .constructor("encode_base64(input, pad)")
                 .shape(unchanged_shape)
                 .not_differentiable());
  library.kernel(string_map_kernel<std::string, Encode>("EncodeBase64"));
  library.op(OpDefBuilder("DecodeBase64")
                 .input("input: string")
                 .output("output: string")
                 .constructor("decode_base64(input)")
                 .shape(unchanged_shape)
                 .not_differentiable());
  library.kernel(cpu_kernel("DecodeBase64", check_elements, compute_decode));
}

}  // namespace troupe
