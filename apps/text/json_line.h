// JsonLine: one JSON object on one line, as the subcommands answer --json and as logs of runs are written. Strings that are no UTF-8
// get U+FFFD where they are not; numbers that JSON lacks, NaN and the infinities, are null. A value; one thread.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

class JsonLine {
 public:
  /// Adds a member; keys are not looked for twice.
  JsonLine& add(std::string_view key, double value);
  JsonLine& add(std::string_view key, std::string_view value);
  JsonLine& add(std::string_view key, const char* value) { return add(key, std::string_view(value)); }
  JsonLine& add(std::string_view key, const std::vector<std::string>& values);
  template <std::integral T>
  JsonLine& add(std::string_view key, T value) {
    if constexpr (std::same_as<T, bool>)
      return add_text(key, value ? "true" : "false");
    else
      return add_text(key, std::to_string(value));
  }
  JsonLine& add_null(std::string_view key) { return add_text(key, "null"); }

  /// {"key": value, "other": "text"}, without the end of the line.
  std::string text() const { return '{' + members_ + '}'; }

 private:
  JsonLine& add_text(std::string_view key, std::string_view json);
  std::string members_;
};

}  // namespace troupe
