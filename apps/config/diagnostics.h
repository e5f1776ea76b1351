// Diagnostics: collects all mistakes of one run file and reports them in the order of the file, followed by those of --set options.
// Each is reported as "file:line:column: text", the line, and a caret under the column. Owned by the function that checks the file;
// one thread.
#pragma once

#include <string>
#include <vector>

#include "apps/config/document.h"

namespace troupe::config {

class Diagnostics {
 public:
  static constexpr size_t max_shown = 100;  ///< the most mistakes that text() shows

  explicit Diagnostics(const Document& document) : document_(&document) {}

  void error(SourceLocation place, std::string text) { errors_.push_back({place, std::move(text)}); }
  /// Adds a mistake at byte `offset` of the value of a string.
  void error_in(const Text& where, size_t offset, std::string text) {
    error(document_->place_in(where, offset), std::move(text));
  }

  /// Returns the location as text, "run.toml:3:7" or the option, for mistakes that refer to another location.
  std::string where(SourceLocation place) const;

  bool empty() const { return errors_.empty(); }
  size_t size() const { return errors_.size(); }
  std::string text() const;
  /// Returns InvalidArgument with text(), or Ok if there are no mistakes.
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

/// Returns text to append to an error about an unknown name: "; the nearest is 'x'" or "; known: a, b", or nothing if there are too
/// many known names.
std::string hint(std::string_view name, const std::vector<std::string_view>& known);

}  // namespace troupe::config
