#include "tests/support/project_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace troupe::test {

std::string project_path(const std::string& path) { return TROUPE_SOURCE_DIR "/" + path; }

std::string project_file(const std::string& path) {
  std::ifstream file(project_path(path));
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> project_files(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(project_path(folder)))
    paths.push_back(folder + "/" + entry.path().filename().string());
  std::ranges::sort(paths);
  return paths;
}

}  // namespace troupe::test
