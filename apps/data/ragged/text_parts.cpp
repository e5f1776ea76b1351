#include "apps/data/ragged/text_parts.h"

#include "kernels/ops/strings/letter_case.h"

namespace troupe::data {
namespace {

bool is_punctuation(char character) {
  return std::string_view("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~").find(character) != std::string_view::npos;
}

}  // namespace

std::string standardized(std::string_view text, Standardize how) {
  if (how == Standardize::None) return std::string(text);
  std::string result;
  append_in_case(LetterCase::Lower, text, result);
  if (how == Standardize::LowerWithoutPunctuation) std::erase_if(result, is_punctuation);
  return result;
}

}  // namespace troupe::data
