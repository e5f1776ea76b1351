// Program: a child process of a test. The test can read its output,
// and kills it at the end.
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
  /// Reads until a line contains this text. Returns false at the end of the output.
  bool wait_for(const std::string& text);
  /// Sends the signal, if one is given, and waits. Returns the exit code, or minus the signal that ended the process.
  int end(int signal = 0);
  /// Returns all lines read so far.
  const std::string& output() const { return output_; }

 private:
  pid_t pid_ = 0;
  FILE* pipe_ = nullptr;
  std::string output_;
};

/// Returns the processes whose parent this is.
std::vector<pid_t> children_of(pid_t parent);
bool is_running(pid_t process);

}  // namespace troupe::test
