// Document: a run file as read: a tree of values, each with its place in the raw text, and the --set options
// laid over it. Knows TOML, but no key; what the keys mean is in run_schema.cpp. Plain values; one thread at
// a time while it is changed. Lines and columns count from 1; a column is a code point, as editors count.
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

/// Where something was written: which of the document's sources, and where in it.
struct SourceLocation {
  uint32_t source = 0;
  uint32_t line = 1, column = 1;
  friend auto operator<=>(const SourceLocation&, const SourceLocation&) = default;
};

/// A string of the document; errors in it can point into it (Document::place_in).
struct Text {
  std::string text;
  SourceLocation place;
};

class Diagnostics;
struct Value;
struct Entry;
using Table = std::vector<Entry>;  ///< in the order written
using List = std::vector<Value>;
/// A date or a time: TOML has them, a run file uses none.
struct Moment {
  std::string text;
};

struct Value {
  std::variant<bool, int64_t, double, std::string, Moment, List, Table> data;
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
  SourceLocation place;  ///< of the key
  Value value;
};

/// Null when the table has no such key.
Value* find(Table& table, std::string_view key);
const Value* find(const Table& table, std::string_view key);

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
  static constexpr int max_nesting = 64;  ///< of brackets

  /// The text of a file. InvalidArgument "file:line:column: ..." for what is no TOML or too large.
  static Result<Document> parse(std::string file, std::string text);

  /// Lays "a.b=value" over the tree; where the value is no TOML it is taken as a string, and a number selects
  /// the element of a list: "model.layers.0.units=50". A mistake is to have no '=', or a key that runs
  /// through something that is no table.
  void set(std::string_view option, Diagnostics& diagnostics);

  Table& root() { return std::get<Table>(root_.data); }
  const Table& root() const { return std::get<Table>(root_.data); }
  const Source& source(SourceLocation place) const { return sources_[place.source]; }
  /// The place, in the raw text, of the character `offset` bytes into a string's value, past quotes and
  /// escapes.
  SourceLocation place_in(const Text& text, size_t offset) const;

 private:
  std::vector<Source> sources_;
  Value root_;
};

/// The text of a file to be parsed. InvalidArgument, with what the disk says: what it is asked for is a matter of usage.
Result<std::string> read_document(Disk& disk, const std::string& path);

/// One TOML value: "[1, 2]". InvalidArgument when it is none, or more than one.
Result<Value> parse_value(std::string_view toml, uint32_t source = 0);
/// The value as TOML would write it on one line: 0.1, "text", [1, 2].
std::string to_toml(const Value& value);
/// A whole table as a TOML document, in order.
std::string to_toml(const Table& table);

}  // namespace troupe::config
