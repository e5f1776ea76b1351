#include "apps/draw/edge_text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace troupe::draw {

std::string bytes_text(double bytes) {
  constexpr std::array units = {"B", "KiB", "MiB", "GiB", "TiB"};
  constexpr double step = 1024;
  size_t unit = 0;
  for (; bytes >= step && unit + 1 < units.size(); ++unit) bytes /= step;
  return unit == 0 ? fmt::format("{:.0f} {}", bytes, units[unit])
                   : fmt::format("{:.3g} {}", bytes, units[unit]);
}

std::string edge_text(const Graph& graph, Output output) {
  const EdgeType type = graph.type(output);
  const PartialShape& shape = graph.shape(output);
  std::string text = (type.is_ref ? "ref " : "") + std::string(name(type.dtype)) + ' ' + shape.text();
  if (!shape.known_rank() || !is_plain(type.dtype)) return text;
  auto bytes = static_cast<double>(size_of(type.dtype));
  for (size_t i = 0; i < shape.rank(); ++i) {
    if (shape[i] == unknown_dim && i > 0) return text;
    if (shape[i] != unknown_dim) bytes *= static_cast<double>(shape[i]);
  }
  const bool is_per_row = shape.rank() > 0 && shape[0] == unknown_dim;
  return text + '\n' + bytes_text(bytes) + (is_per_row ? " per row" : "");
}

}  // namespace troupe::draw
