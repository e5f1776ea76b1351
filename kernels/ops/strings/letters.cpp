// Ops on the characters of each string.
//   StringLength(input)                      the number of bytes, or with unit UTF8_CHAR of characters: of bytes that begin one
//   StringStrip(input)                       the string without white space (of ASCII) at both ends
//   StringLower(input), StringUpper(input)   with encoding '' the letters of ASCII in the other case, with encoding utf-8 those
//                                            of Unicode (letter_case.h)
#include "graph/build/shape_context.h"
#include "kernels/ops/strings/elements.h"
#include "kernels/ops/strings/letter_case.h"

namespace troupe {
namespace {

// ---- StringLength

struct Length {
  explicit Length(const PrepareContext& context) : in_bytes(context.attr<std::string>("unit") == "BYTE") {}
  void operator()(const std::string& x, int32_t& y) const {
    const auto begins = [](char c) { return !continues_character(c); };
    y = static_cast<int32_t>(in_bytes ? x.size() : static_cast<size_t>(std::ranges::count_if(x, begins)));
  }
  bool in_bytes;
};

// ---- StringStrip

struct Strip {
  explicit Strip(const PrepareContext&) {}
  void operator()(const std::string& x, std::string& y) const { y = stripped(x); }
};

// ---- StringLower, StringUpper

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }
constexpr char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c; }

template <LetterCase to>
struct ChangeCase {
  explicit ChangeCase(const PrepareContext& context)
      : is_unicode(!context.attr<std::string>("encoding").empty()) {}
  void operator()(const std::string& x, std::string& y) const {
    if (is_unicode) {
      append_in_case(to, x, y);
      return;
    }
    y = x;
    for (char& c : y) c = to == LetterCase::Lower ? lower(c) : upper(c);
  }
  bool is_unicode;
};

Status case_shape(ShapeContext& context) {
  const auto& encoding = context.attr<std::string>("encoding");
  if (!encoding.empty() && encoding != "utf-8")
    return invalid_argument("encoding is " + quoted(encoding) + ", expected '' or 'utf-8'");
  return unchanged_shape(context);
}

}  // namespace

void add_string_letter_ops(OpLibrary& library) {
  library.op(OpDefBuilder("StringLength")
                 .input("input: string")
                 .output("output: int32")
                 .attr("unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'")
                 .constructor("string_length(input, unit)")
                 .shape(unchanged_shape)
                 .not_differentiable());
  library.kernel(string_map_kernel<int32_t, Length>("StringLength"));
  library.op(OpDefBuilder("StringStrip")
                 .input("input: string")
                 .output("output: string")
                 .constructor("string_strip(input)")
                 .shape(unchanged_shape)
                 .not_differentiable());
  library.kernel(string_map_kernel<std::string, Strip>("StringStrip"));
  for (const auto& [name, constructor] :
       {std::pair("StringLower", "string_lower"), std::pair("StringUpper", "string_upper")})
    library.op(OpDefBuilder(name)
                   .input("input: string")
                   .output("output: string")
                   .attr("encoding: string = ''")
                   .constructor(constructor + std::string("(input, encoding)"))
                   .shape(case_shape)
                   .not_differentiable());
  library.kernel(string_map_kernel<std::string, ChangeCase<LetterCase::Lower>>("StringLower"));
  library.kernel(string_map_kernel<std::string, ChangeCase<LetterCase::Upper>>("StringUpper"));
}

}  // namespace troupe
