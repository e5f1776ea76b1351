// Document: a run file as a tree of values, each with its location in the text, after --set options have been applied. It knows
// TOML but not the meaning of keys, which run_schema.cpp defines. Plain values; one thread at a time while it is changed. Lines and
// columns are counted from 1; a column is a code point, as in editors.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "messages/env/disk.h"
#include "messages/values/status.h"

namespace troupe::config {

/// A location in one of the sources of a document.
struct SourceLocation {
  uint32_t source = 0;
  uint32_t line = 1, column = 1;
  friend auto operator<=>(const SourceLocation&, const SourceLocation&) = default;
};

/// A string of the document with its location, so that errors can point into it (Document::place_in).
struct Text {
  std::string text;
  SourceLocation place;
  /// Whether the text stands for something else at `place`, to which all errors point.
  bool generated = false;
};

class Diagnostics;
struct Value;
struct Entry;
using Table = std::vector<Entry>;  ///< in the order of the file
using List = std::vector<Value>;
/// A date or a time. TOML has them, but no key of a run file takes one.
struct DateTime {
  std::string text;
};

struct Value {
  std::variant<bool, int64_t, double, std::string, DateTime, List, Table> data;
  SourceLocation place;

  template <class T>
  const T* get_if() const {
    return std::get_if<T>(&data);
  }
  template <class T>
  T* get_if() {
    return std::get_if<T>(&data);
  }
};

struct Entry {
  std::string key;
  SourceLocation place;  ///< the location of the key
  Value value;
};

/// Returns null if the table has no such key.
Value* find(Table& table, std::string_view key);
const Value* find(const Table& table, std::string_view key);

/// Returns a value of a table inside a table; null if either is not there, or the first is no table.
Value* find(Table& table, std::string_view inner, std::string_view key);

/// Makes a string, the short form of a table, the table whose `type` it is. Other values stay what they are.
void expand_type_name(Value& value);

/// The run file, or the right-hand side of one --set option.
struct Source {
  std::string name;  ///< the file as the user named it, or "--set a.b"
  std::string text;
  bool is_file = true;
};

class Document {
 public:
  static constexpr size_t max_bytes = size_t{1} << 20;
  static constexpr size_t max_key_parts = 16;
  static constexpr int max_nesting = 64;  ///< the depth of brackets

  /// Parses the text of a file. Fails with InvalidArgument "file:line:column: ..." if it is not TOML or too large.
  static Result<Document> parse(std::string file, std::string text);

  /// Applies an option "a.b=value". If the value is not TOML it is taken as a string. A number in the key selects an element of a
  /// list: "model.layers.0.units=50". Adds a mistake if there is no '=' or if a part of the key leads into something that is not a
  /// table.
  void set(std::string_view option, Diagnostics& diagnostics);

  Table& root() { return std::get<Table>(root_.data); }
  const Table& root() const { return std::get<Table>(root_.data); }
  const Source& source(SourceLocation place) const { return sources_[place.source]; }
  /// Returns the location in the source of byte `offset` of the value of a string, which differs from the offset in the source
  /// because of quotes and escapes.
  SourceLocation place_in(const Text& text, size_t offset) const;

 private:
  std::vector<Source> sources_;
  Value root_;
};

/// Reads the text of a file that the user names. Fails with InvalidArgument (wrong usage) and the error of the disk if it cannot be
/// read.
Result<std::string> read_document(Disk& disk, const std::string& path);

/// Returns text to append to an error about a file that does not exist: the nearest name in its folder, if there is one.
std::string nearest_beside(Disk& disk, const std::string& path);

/// Parses one TOML value such as "[1, 2]". Fails with InvalidArgument if the text is not exactly one value.
Result<Value> parse_value(std::string_view toml, uint32_t source = 0);
/// Returns the value in TOML on one line: 0.1, "text", [1, 2].
std::string to_toml(const Value& value);
/// Returns a table as a TOML document, in the order of its entries.
std::string to_toml(const Table& table);

}  // namespace troupe::config
