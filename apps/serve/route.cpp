#include "apps/serve/route.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace troupe::serve {
namespace {

/// Takes a text off the front of `rest`. Returns false if it does not begin so.
bool take(std::string_view& rest, std::string_view begin) {
  if (!rest.starts_with(begin)) return false;
  rest.remove_prefix(begin.size());
  return true;
}

/// Takes the text before the first of these characters off the front of `rest`.
std::string_view take_until(std::string_view& rest, std::string_view ends) {
  const size_t at = std::min(rest.find_first_of(ends), rest.size());
  const std::string_view taken = rest.substr(0, at);
  rest.remove_prefix(at);
  return taken;
}

/// Takes "/versions/N" off the front of `rest`, if it is there. Returns false if N is no number.
bool take_number(std::string_view& rest, std::optional<int64_t>& number) {
  if (!take(rest, "/versions/")) return true;
  const std::string_view text = take_until(rest, "/:");
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number.emplace(int64_t{0}));
  return error == std::errc() && end == text.data() + text.size();
}

using Endings = std::initializer_list<std::pair<std::string_view, Asked>>;

std::optional<Route> with_ending(Route route, std::string_view rest, const Endings& endings) {
  for (const auto& [text, what] : endings) {
    if (rest != text) continue;
    route.what = what;
    return route;
  }
  return {};
}

}  // namespace

std::optional<Route> parse_route(std::string_view path) {
  const bool is_infer = path.starts_with("/v2/");
  if (!take(path, "/v1/models/") && !take(path, "/v2/models/")) return {};
  Route route;
  route.model = take_until(path, "/:");
  if (route.model.empty() || !take_number(path, route.version.number)) return {};
  if (is_infer)
    return with_ending(
        std::move(route), path,
        {{"", Asked::Description}, {"/ready", Asked::Readiness}, {"/infer", Asked::Inference}});
  if (!route.version.number && take(path, "/labels/")) route.version.label = take_until(path, "/:");
  return with_ending(std::move(route), path,
                     {{"", Asked::States},
                      {"/metadata", Asked::Metadata},
                      {":predict", Asked::Predict},
                      {":classify", Asked::Classify},
                      {":regress", Asked::Regress}});
}

}  // namespace troupe::serve
