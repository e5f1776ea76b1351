#include "apps/draw/colours.h"

#include <array>

namespace troupe::draw {

const char* Colours::of(const std::string& device) {
  static constexpr std::array palette = {"#a6cee3", "#b2df8a", "#fdbf6f", "#cab2d6", "#fb9a99",
                                         "#ffff99", "#8dd3c7", "#fccde5", "#d9d9d9", "#bc80bd"};
  return colours_.try_emplace(device, palette[colours_.size() % palette.size()]).first->second;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n')
      result += "\\n";
    else
      result += c;
  }
  return result + '"';
}

}  // namespace troupe::draw
