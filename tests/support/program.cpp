#include "tests/support/program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace troupe::test {

Program::Program(const std::string& program, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program);
  std::vector<char*> argv;
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  const int error = posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  pipe_ = fdopen(ends[0], "r");
  if (error != 0) throw std::runtime_error(program + " cannot be started");
}

Program::~Program() {
  if (pid_ != 0) end(SIGKILL);
  std::fclose(pipe_);
}

bool Program::wait_for(const std::string& text) {
  std::array<char, 1024> line;
  while (std::fgets(line.data(), line.size(), pipe_)) {
    output_ += line.data();
    if (std::string(line.data()).find(text) != std::string::npos) return true;
  }
  return false;
}

int Program::end(int signal) {
  if (signal != 0) kill(pid_, signal);
  while (wait_for("\n")) {  // reads to the end, so that the program never waits for a reader of its output
  }
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = 0;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(parent) + "/task")) {
    std::ifstream list(task.path() / "children");
    for (pid_t child; list >> child;) children.push_back(child);
  }
  return children;
}

bool is_running(pid_t process) {
  std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
  std::string number, name, state;
  return (stat >> number >> name >> state) && state != "Z";
}

}  // namespace troupe::test
