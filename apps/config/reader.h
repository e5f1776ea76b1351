// Reader: typed access to the values of a checked document. It is a view of a table, which must outlive it. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/config/document.h"

namespace troupe::config {

/// Reads a table of a checked document. The check has removed rejected values, which read as absent, zero or empty.
class Reader {
 public:
  explicit Reader(const Table* table) : table_(table) {}

  const Value* find(std::string_view key) const { return table_ ? config::find(*table_, key) : nullptr; }
  bool has(std::string_view key) const { return find(key); }
  Reader table(std::string_view key) const {
    const Value* value = find(key);
    return Reader(value ? value->get_if<Table>() : nullptr);
  }
  template <class T>
  std::optional<T> optional(std::string_view key) const {
    const Value* value = find(key);
    const T* typed = value ? value->get_if<T>() : nullptr;
    return typed ? std::optional<T>(*typed) : std::nullopt;
  }
  template <class T>
  T get(std::string_view key) const {
    return optional<T>(key).value_or(T{});
  }
  std::string string(std::string_view key) const { return get<std::string>(key); }
  Text text(std::string_view key) const { return {string(key), place(key)}; }
  template <class T>
  std::vector<T> list(std::string_view key) const {
    std::vector<T> out;
    for (const auto& element : get<List>(key)) out.push_back(std::get<T>(element.data));
    return out;
  }
  SourceLocation place(std::string_view key) const { return has(key) ? find(key)->place : SourceLocation{}; }
  /// Calls `f` with (name, location of the name, value) for each entry.
  template <class F>
  void each(F&& f) const {
    if (table_)
      for (const auto& entry : *table_) f(entry.key, entry.place, entry.value);
  }

 private:
  const Table* table_;
};

}  // namespace troupe::config
