// The list of all formats (apps/data/format.h).
#include <algorithm>

#include "apps/data/format.h"

namespace troupe::data {

Format csv_format();
Format fixed_format();
Format idx_format();
Format images_format();
Format lines_format();
Format npy_format();
Format npz_format();
Format sounds_format();
Format tfrecord_format();

std::vector<Format> all_formats() {
  return {csv_format(), fixed_format(), idx_format(),    images_format(),  lines_format(),
          npy_format(), npz_format(),   sounds_format(), tfrecord_format()};
}

std::optional<Format> find_format(std::string_view name) {
  const auto all = all_formats();
  const auto at = std::ranges::find(all, name, &Format::name);
  return at == all.end() ? std::nullopt : std::optional(*at);
}

std::string format_names() {
  std::string names;
  for (const Format& format : all_formats()) names.append(names.empty() ? "" : "|").append(format.name);
  return names;
}

}  // namespace troupe::data
