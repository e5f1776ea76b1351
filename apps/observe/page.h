// The files of the page of a run, which are part of the program (apps/observe/page). Constants; any thread.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace troupe::observe {

struct PageFile {
  std::string_view name;  ///< "page.css"
  std::string_view text;
};

/// Returns all files. The build makes the source of this function (cmake/embed_files.cmake).
std::span<const PageFile> page_files();

struct PageContent {
  std::string_view text;
  const char* type;  ///< of HTTP content
};

/// Returns what is at a path of the server, such as "/"; nothing if no file is there.
std::optional<PageContent> page_content(std::string_view path);

}  // namespace troupe::observe
