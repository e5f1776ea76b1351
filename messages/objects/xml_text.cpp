#include "messages/objects/xml_text.h"

#include <tuple>
#include <utility>

namespace troupe {

std::vector<std::string_view> xml_elements(std::string_view text, std::string_view tag) {
  const std::string open = '<' + std::string(tag) + '>', close = "</" + std::string(tag) + '>';
  std::vector<std::string_view> elements;
  for (size_t at = text.find(open); at != std::string_view::npos; at = text.find(open, at)) {
    at += open.size();
    const size_t end = text.find(close, at);
    if (end == std::string_view::npos) break;
    elements.push_back(text.substr(at, end - at));
    at = end;
  }
  return elements;
}

std::optional<std::string> xml_value(std::string_view text, std::string_view tag) {
  const auto elements = xml_elements(text, tag);
  if (elements.empty()) return {};
  constexpr std::pair<std::string_view, char> entities[] = {{"&lt;", '<'},    {"&gt;", '>'},  {"&quot;", '"'},
                                                            {"&apos;", '\''}, {"&#34;", '"'}, {"&amp;", '&'}};
  std::string value;
  for (std::string_view rest = elements.front(); !rest.empty();) {
    size_t length = 1;
    char c = rest.front();
    for (const auto& [entity, meaning] : entities)
      if (rest.starts_with(entity)) std::tie(length, c) = std::pair(entity.size(), meaning);
    value += c;
    rest.remove_prefix(length);
  }
  return value;
}

}  // namespace troupe
