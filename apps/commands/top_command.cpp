// The subcommand top: the state of a run, again and again, until the run ends.
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/observe/status_text.h"
#include "apps/observe/watched_run.h"

namespace troupe::commands {
namespace {

/// Reads the keyboard key by key as long as it lives, if the standard input is a terminal.
class Keyboard {
 public:
  Keyboard() : is_terminal_(::tcgetattr(STDIN_FILENO, &before_) == 0) {
    if (!is_terminal_) return;
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  }
  ~Keyboard() {
    if (is_terminal_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  Keyboard(const Keyboard&) = delete;
  Keyboard& operator=(const Keyboard&) = delete;

  /// Waits for this time or until a key is pressed. Returns the key, or 0. A signal ends the wait.
  char wait(int milliseconds) const {
    pollfd input{is_terminal_ ? STDIN_FILENO : -1, POLLIN, 0};
    char key = 0;
    return ::poll(&input, 1, milliseconds) == 1 && ::read(STDIN_FILENO, &key, 1) == 1 ? key : '\0';
  }

 private:
  termios before_{};
  const bool is_terminal_;
};

/// Returns how many lines fit the terminal at the standard output; SIZE_MAX if that is unknown.
size_t rows_of_terminal() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 1 ? size.ws_row : SIZE_MAX;
}

/// Shows the lines: on a terminal in place of those before, as many as fit.
void show(std::vector<std::string> lines, bool terminal) {
  const size_t rows = rows_of_terminal();
  if (terminal && lines.size() > rows - 2) lines.resize(rows - 2);  // 2: the last line, and the one after it
  std::string text = terminal ? "\033[H" : "";
  for (const std::string& line : lines) text += terminal ? cut_to_terminal(line) + "\033[K\n" : line + '\n';
  text += terminal ? "\033[Jq ends\n" : "\n";
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

int watch(const std::string& path) {
  const auto folder = observe::find_run(path);
  if (!folder) return failed_to_open(folder.status());
  const auto& stop = stop_on_signals();
  const Keyboard keyboard;
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  constexpr int interval = 1000;  // milliseconds
  for (bool is_first = true; !stop && std::ferror(stdout) == 0; is_first = false) {
    auto state = observe::ask_run(*folder, "GET", "/status", &stop);
    if (stop) break;
    const bool has_ended = !state && !is_first;
    if (has_ended) state = observe::state_of_run(*folder);
    if (!state) return failed(state.status());
    if (is_first && terminal) std::fputs("\033[2J", stdout);
    show(observe::status_lines(*state), terminal);
    if (has_ended || keyboard.wait(interval) == 'q') break;
  }
  return 0;
}

}  // namespace

void add_top_command(CLI::App& app, int& result) {
  const auto run = std::make_shared<std::string>();
  auto* command = add_command(
      app, "top", "Show the state of a run that trains, every second, until it ends or q is pressed.",
      "troupe top runs/digits");
  command->add_option("run", *run, "the folder of a run, or of all runs of a name: the newest one")
      ->required();
  command->callback([run, &result] { result = watch(*run); });
}

}  // namespace troupe::commands
