#include "apps/draw/graphviz.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace troupe::draw {
namespace {

/// A folder for the files that dot reads and writes.
class WorkFolder {
 public:
  WorkFolder() : path_((std::filesystem::temp_directory_path() / "troupe-draw-XXXXXX").string()) {
    if (!::mkdtemp(path_.data())) path_.clear();
  }
  ~WorkFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Runs dot, whose standard output goes to a file: with an option for its output it would write only the first picture there.
Status run_dot(const std::string& input, const std::string& output) {
  std::string program = "dot", format = "-Tsvg", from = input;
  std::array<char*, 4> words = {program.data(), format.data(), from.data(), nullptr};
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, "dot", &files, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  if (error != 0)
    return unavailable(
        "graphviz' program dot, which makes the pictures, is not installed (on Debian: graphviz)");
  int status = 0;
  if (::waitpid(pid, &status, 0) != pid || status != 0) return internal("graphviz' program dot failed");
  return {};
}

/// Removes the attributes id of all elements. Text has no quotes, so that it cannot look like one.
std::string without_ids(std::string_view svg) {
  constexpr std::string_view begin = " id=\"";
  std::string result;
  while (true) {
    const size_t at = svg.find(begin);
    result += svg.substr(0, at);
    if (at == std::string_view::npos) return result;
    const size_t end = svg.find('"', at + begin.size());
    svg.remove_prefix(end == std::string_view::npos ? svg.size() : end + 1);
  }
}

}  // namespace

Result<std::vector<std::string>> svgs_of(const std::vector<std::string>& drawings) {
  const WorkFolder folder;
  if (folder.path().empty()) return unavailable("no folder for temporary files can be made");
  const std::string input = folder.path() + "/in.dot", output = folder.path() + "/out.svg";
  {
    std::ofstream file(input);
    for (const std::string& drawing : drawings) file << drawing;
    if (!file.flush()) return unavailable("cannot write " + input);
  }
  TROUPE_RETURN_IF_FAILED(run_dot(input, output));
  std::ifstream file(output);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::vector<std::string> svgs;
  for (size_t at = text.find("<svg"); at != std::string::npos;) {
    const size_t next = text.find("<?xml", at), end = text.rfind("</svg>", next);
    if (end == std::string::npos || end < at) break;
    svgs.push_back(without_ids(std::string_view(text).substr(at, end + 6 - at)));
    at = next == std::string::npos ? next : text.find("<svg", next);
  }
  if (svgs.size() != drawings.size())
    return internal("graphviz' program dot drew " + std::to_string(svgs.size()) + " of " +
                    std::to_string(drawings.size()) + " graphs");
  return svgs;
}

}  // namespace troupe::draw
