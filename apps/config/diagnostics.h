// Diagnostics: all mistakes of one run file, told at once and in the order of the file, --set options after
// it. Each is "file:line:column: text", the line itself and a caret under the column. Belongs to whoever
// checks; one thread.
#pragma once

#include <string>
#include <vector>

#include "apps/config/document.h"

namespace troupe::config {

class Diagnostics {
 public:
  static constexpr size_t max_shown = 100;

  explicit Diagnostics(const Document& document) : document_(&document) {}

  void error(SourceLocation place, std::string text) { errors_.push_back({place, std::move(text)}); }
  /// A mistake `offset` bytes into the value of a string.
  void error_in(const Text& where, size_t offset, std::string text) {
    error(document_->place_in(where, offset), std::move(text));
  }

  /// "run.toml:3:7", or the option: how a mistake names another place.
  std::string where(SourceLocation place) const;

  bool empty() const { return errors_.empty(); }
  size_t size() const { return errors_.size(); }
  std::string text() const;
  /// InvalidArgument with text(); ok when empty.
  Status status() const;

 private:
  struct Mistake {
    SourceLocation place;
    std::string text;
  };
  std::string describe(const Mistake& mistake) const;

  const Document* document_;
  std::vector<Mistake> errors_;
};

/// "; the nearest is "x"" or "; allowed: a, b"; what to add to a complaint about an unknown name.
std::string hint(std::string_view name, const std::vector<std::string_view>& known);

}  // namespace troupe::config
