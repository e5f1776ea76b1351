#include "apps/data/file_content.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace troupe::data {

using namespace std::string_view_literals;

namespace {

bool ends_with_any(std::string name, std::initializer_list<std::string_view> endings) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::any_of(endings, [&](std::string_view ending) { return name.ends_with(ending); });
}

}  // namespace

std::string_view content_of(std::string_view first_bytes) {
  constexpr std::pair<std::string_view, std::string_view> known[] = {
      {"\xff\xfe"sv, "text in UTF-16; `iconv -f UTF-16 -t UTF-8` converts it"},
      {"\xfe\xff"sv, "text in UTF-16; `iconv -f UTF-16 -t UTF-8` converts it"},
      {"\x93NUMPY"sv, "a NumPy array; data.format = \"npy\" reads it"},
      {"PK\x03\x04"sv,
       "a zip archive; data.format = \"npz\" reads NumPy's, and a table of Excel must be saved as csv"},
      {"PAR1"sv, "a Parquet file; it must be saved as csv or npy"},
      {"\x89HDF"sv, "an HDF5 file; it must be saved as npy"},
      {"\x89PNG"sv, "a picture; data.format = \"images\" reads folders of pictures"},
      {"\xff\xd8\xff"sv, "a picture; data.format = \"images\" reads folders of pictures"},
      {"RIFF"sv, "a sound or a picture; data.format = \"sounds\" reads folders of sounds"},
      {"\0\0\x08"sv, "an IDX file; data.format = \"idx\" reads it"},
      {"\0\0\x0d"sv, "an IDX file; data.format = \"idx\" reads it"},
      {"\x80\x04"sv, "a pickle of Python; it must be saved as csv or npy"},
  };
  for (const auto& [begin, what] : known)
    if (first_bytes.starts_with(begin)) return what;
  return {};
}

bool is_image_name(std::string name) {
  return ends_with_any(std::move(name), {".jpg", ".jpeg", ".png", ".gif", ".bmp"});
}

bool is_sound_name(std::string name) { return ends_with_any(std::move(name), {".wav"}); }

}  // namespace troupe::data
