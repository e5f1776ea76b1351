// Program: a real program run by a test, its output readable; killed with it. TROUPE_PROGRAM is the one under test.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <string>
#include <vector>

namespace troupe::test {

class Program {
 public:
  Program(const std::string& program, std::vector<std::string> arguments);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  pid_t process() const { return pid_; }
  /// Reads until a line contains this; false at the end of the output.
  bool wait_for(const std::string& text);
  /// The exit code, or minus the signal that ended it. With a signal that is sent first.
  int end(int signal = 0);
  /// Every line read so far.
  const std::string& output() const { return output_; }

 private:
  pid_t pid_ = 0;
  FILE* pipe_ = nullptr;
  std::string output_;
};

/// The processes that have this one as their parent.
std::vector<pid_t> children_of(pid_t parent);
bool is_running(pid_t process);

}  // namespace troupe::test
