#include "apps/interop/partitioned.h"

#include <algorithm>
#include <charconv>

namespace troupe::interop {
namespace {

struct Part {
  std::string variable;  ///< the name of the whole variable
  uint32_t number;
};

/// Parses the name of a variable; returns nothing if it is not the name of a part.
std::optional<Part> part_of(std::string_view name) {
  constexpr std::string_view mark = "/part_";
  const size_t at = name.rfind(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = name.substr(at + mark.size()), digits = rest.substr(0, rest.find('/'));
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || std::to_string(number) != digits) return std::nullopt;
  return Part{std::string(name.substr(0, at)).append(rest.substr(digits.size())), number};
}

/// The names and shapes of the parts of a variable in the graph, by their numbers.
using Parts = std::map<uint32_t, const std::pair<const std::string, PartialShape>*>;

/// Returns the slices of the parts if they lie one after the other along a dimension and add up to the shape, otherwise nothing.
std::optional<std::vector<TensorSlice>> cut_along(size_t dim, const Shape& whole, const Parts& parts) {
  std::vector<TensorSlice> slices;
  int64_t start = 0;
  for (const auto& [number, part] : parts) {
    const PartialShape& shape = part->second;
    if (number != slices.size() || !shape.fully_known() || !shape.has_rank(whole.rank())) return std::nullopt;
    TensorSlice slice = TensorSlice::whole(whole);
    slice.start[dim] = start;
    slice.length[dim] = shape[dim];
    if (shape[dim] > whole[dim] - start || !std::ranges::equal(slice.length, shape.dims()))
      return std::nullopt;
    start += shape[dim];
    slices.push_back(std::move(slice));
  }
  return start == whole[dim] ? std::optional(slices) : std::nullopt;
}

Result<std::vector<TensorSlice>> cut(const std::string& name, const Shape& whole, const Parts& parts) {
  for (size_t dim = 0; dim < whole.rank(); ++dim)
    if (auto slices = cut_along(dim, whole, parts)) return std::move(*slices);
  constexpr int max_named = 8;
  int named = 0;
  std::string text;
  for (const auto& [number, part] : parts)
    if (named++ < max_named) text += (named == 1 ? "" : ", ") + part->first + ' ' + part->second.text();
  return invalid_argument("variable '" + name + "' has shape " + whole.text() +
                          " in the checkpoint, but its parts in the graph do not add up to that: " + text);
}

}  // namespace

Result<std::map<std::string, SavedAs>> find_saved(const std::map<std::string, PartialShape>& variables,
                                                  const Bundle& bundle) {
  const auto& saved = bundle.entries();
  std::map<std::string, SavedAs> found;
  std::map<std::string, Parts> partitioned;
  for (const auto& variable : variables) {
    const auto part = part_of(variable.first);
    if (saved.contains(variable.first))
      found.emplace(variable.first, SavedAs{variable.first, {}});
    else if (part && saved.contains(part->variable))
      partitioned[part->variable].emplace(part->number, &variable);
  }
  for (const auto& [name, parts] : partitioned) {
    TROUPE_ASSIGN(auto slices, cut(name, saved.at(name).shape, parts));
    for (const auto& [number, part] : parts)
      found.emplace(part->first, SavedAs{name, std::move(slices[number])});
  }
  return found;
}

}  // namespace troupe::interop
