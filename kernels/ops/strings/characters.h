// Characters of texts in all encodings that ICU knows, texts made of characters, and what ops do with ill-formed texts. Any
// thread may call the functions; one thread at a time uses a TextReader.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "graph/build/graph.h"
#include "kernels/ops/strings/utf8.h"

namespace troupe {

/// Reads the characters of texts in one encoding.
class TextReader {
 public:
  /// Fails with InvalidArgument if ICU knows no encoding of that name.
  static Result<TextReader> make(const std::string& encoding);
  TextReader(TextReader&&) noexcept;
  TextReader& operator=(TextReader&&) noexcept;
  ~TextReader();

  /// Calls take(NextCharacter) for each character and each ill-formed sequence of the text.
  template <class Take>
  void read(std::string_view text, const Take& take) {
    begin();
    while (const auto next = next_of(text)) take(*next);
  }

 private:
  struct State;
  explicit TextReader(std::unique_ptr<State> state);
  void begin();
  /// Takes the next character from `text`, unless what is left is only marks.
  std::optional<NextCharacter> next_of(std::string_view& text);

  std::unique_ptr<State> state_;
};

/// The encodings in which texts are written; the latter two with the most significant byte first.
enum class Encoding : uint8_t { Utf8, Utf16, Utf32 };
/// Returns the encoding that the attribute output_encoding names.
Encoding output_encoding(const Node& node);

/// A text in units of UTF-16, in which halves of pairs may stand alone.
void append_units(uint32_t c, std::u16string& units);
/// Returns the text in an encoding. In UTF-8, half of a pair that stands alone becomes U+FFFD.
std::string encoded(std::u16string_view units, Encoding encoding);

/// What becomes of characters that are not valid: the attributes errors, replacement_char and, where the op has it,
/// replace_control_characters.
struct CharacterErrors {
  enum class Policy : uint8_t { Replace, Ignore, Strict };

  Policy policy;
  uint32_t replacement;
  bool with_controls = false;  ///< whether U+0000 to U+001F are replaced or left out, too

  bool concerns(const NextCharacter& next) const {
    return !next.is_valid || (with_controls && next.value < 0x20);
  }
};
/// Fails with InvalidArgument for a replacement_char outside of Unicode.
Result<CharacterErrors> character_errors(const Node& node);

}  // namespace troupe
