// The files of the project that tests read: examples, golden cases, sources.
#pragma once

#include <string>
#include <vector>

namespace troupe::test {

/// Returns the path of a file of the project, given its path inside the project.
std::string project_path(const std::string& path);
/// Returns the content of a file of the project; empty if it does not exist.
std::string project_file(const std::string& path);
/// Returns the paths of the files in a folder of the project, sorted, inside the project.
std::vector<std::string> project_files(const std::string& folder);

}  // namespace troupe::test
