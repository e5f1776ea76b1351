#include "kernels/ops/strings/characters.h"

#include <unicode/ucnv.h>
#include <unicode/ucnv_err.h>

#include "kernels/core/text.h"

namespace troupe {

// ---- Reading

struct TextReader::State {
  UConverter* converter = nullptr;
  bool ill_formed = false;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { ucnv_close(converter); }
};

namespace {

/// Notes in a bool, the context, that a sequence is ill-formed, and puts U+FFFD in its place.
void substitute(const void* context, UConverterToUnicodeArgs* arguments, const char* units, int32_t length,
                UConverterCallbackReason reason, UErrorCode* status) {
  if (reason <= UCNV_IRREGULAR) *static_cast<bool*>(const_cast<void*>(context)) = true;
  UCNV_TO_U_CALLBACK_SUBSTITUTE(nullptr, arguments, units, length, reason, status);
}

/// Returns whether ICU has the encoding itself. It would look for others in files.
bool is_known(const std::string& encoding) {
  UErrorCode status = U_ZERO_ERROR;
  const bool is_text = !encoding.empty() && encoding.find('\0') == std::string::npos;
  return is_text && ucnv_countAliases(encoding.c_str(), &status) > 0 && U_SUCCESS(status);
}

}  // namespace

TextReader::TextReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
TextReader::TextReader(TextReader&&) noexcept = default;
TextReader& TextReader::operator=(TextReader&&) noexcept = default;
TextReader::~TextReader() = default;

Result<TextReader> TextReader::make(const std::string& encoding) {
  auto state = std::make_unique<State>();
  UErrorCode status = U_ZERO_ERROR;
  if (is_known(encoding)) state->converter = ucnv_open(encoding.c_str(), &status);
  if (!state->converter) return invalid_argument("input_encoding " + quoted(encoding) + " is not known");
  ucnv_setToUCallBack(state->converter, substitute, &state->ill_formed, nullptr, nullptr, &status);
  if (U_FAILURE(status)) return internal("ICU refuses to decode: " + std::string(u_errorName(status)));
  return TextReader(std::move(state));
}

void TextReader::begin() { ucnv_reset(state_->converter); }

std::optional<NextCharacter> TextReader::next_of(std::string_view& text) {
  if (text.empty()) return std::nullopt;
  state_->ill_formed = false;
  UErrorCode status = U_ZERO_ERROR;
  const char* at = text.data();
  const UChar32 c = ucnv_getNextUChar(state_->converter, &at, at + text.size(), &status);
  const bool is_last = U_FAILURE(status);
  if (is_last && !state_->ill_formed) return std::nullopt;
  const size_t bytes = is_last ? text.size() : static_cast<size_t>(at - text.data());
  text.remove_prefix(bytes);
  return NextCharacter{static_cast<uint32_t>(c), bytes, !state_->ill_formed};
}

// ---- Writing

Encoding output_encoding(const Node& node) {
  const auto& name = node.attrs.get<std::string>("output_encoding");
  return name == "UTF-8" ? Encoding::Utf8 : name == "UTF-16-BE" ? Encoding::Utf16 : Encoding::Utf32;
}

namespace {

constexpr uint32_t first_of_pair = 0xD800, second_of_pair = 0xDC00, beyond_units = 0x10000;

void append_bytes(uint32_t value, int bytes, std::string& text) {
  for (int i = bytes; i-- > 0;) text += static_cast<char>(value >> (8 * i) & 0xFF);
}

/// Returns the character that begins at unit i, and moves i behind it.
uint32_t character_at(std::u16string_view units, size_t& i) {
  const uint32_t unit = units[i++];
  const bool may_pair = unit >= first_of_pair && unit < second_of_pair && i < units.size();
  if (!may_pair || units[i] < second_of_pair || !is_surrogate(units[i])) return unit;
  return beyond_units + ((unit - first_of_pair) << 10) + (units[i++] - second_of_pair);
}

}  // namespace

void append_units(uint32_t c, std::u16string& units) {
  if (c < beyond_units) {
    units += static_cast<char16_t>(c);
    return;
  }
  units += static_cast<char16_t>(first_of_pair + ((c - beyond_units) >> 10));
  units += static_cast<char16_t>(second_of_pair + ((c - beyond_units) & 0x3FF));
}

std::string encoded(std::u16string_view units, Encoding encoding) {
  std::string text;
  for (size_t i = 0; i < units.size();) {
    if (encoding == Encoding::Utf16) {
      append_bytes(units[i++], 2, text);
      continue;
    }
    const uint32_t c = character_at(units, i);
    if (encoding == Encoding::Utf32)
      append_bytes(c, 4, text);
    else
      append_character(is_surrogate(c) ? replacement_character : c, text);
  }
  return text;
}

// ---- Errors

Result<CharacterErrors> character_errors(const Node& node) {
  using enum CharacterErrors::Policy;
  const auto& policy = node.attrs.get<std::string>("errors");
  const auto replacement = node.attrs.get<int64_t>("replacement_char");
  if (replacement < 0 || replacement > max_character)
    return invalid_argument("replacement_char is " + std::to_string(replacement) +
                            "; it must be in [0, 1114111]");
  const AttrValue* const controls = node.attrs.find("replace_control_characters");
  return CharacterErrors{policy == "strict"   ? Strict
                         : policy == "ignore" ? Ignore
                                              : Replace,
                         static_cast<uint32_t>(replacement), controls && std::get<bool>(*controls)};
}

}  // namespace troupe
