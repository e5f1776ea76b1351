#include "apps/observe/page.h"

namespace troupe::observe {

std::optional<PageContent> page_content(std::string_view path) {
  if (!path.starts_with('/')) return {};
  const std::string_view name = path == "/" ? std::string_view("index.html") : path.substr(1);
  for (const PageFile& file : page_files()) {
    if (file.name != name) continue;
    const char* const type = name.ends_with(".css")  ? "text/css; charset=utf-8"
                             : name.ends_with(".js") ? "text/javascript; charset=utf-8"
                                                     : "text/html; charset=utf-8";
    return PageContent{file.text, type};
  }
  return {};
}

}  // namespace troupe::observe
