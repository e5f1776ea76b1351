// OpTable: all ops a program knows, by name, and their constructors by name. Built once by main from the explicit list in
// kernels/ops/all_ops.cpp, then immutable and shared by reference; graphs point into it and keep it alive.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "graph/ops/op_def.h"

#pragma GCC visibility push(default)
namespace troupe {

struct ConstructorEntry {
  const OpDef* op = nullptr;
  const Constructor* constructor = nullptr;
};

class OpTable {
 public:
  /// InvalidArgument for a faulty definition, AlreadyExists for a name (of op or constructor) that is taken.
  Status add(const OpDefBuilder& builder);

  /// Null when there is none.
  const OpDef* find(std::string_view op) const;
  const ConstructorEntry* find_constructor(std::string_view name) const;
  /// NotFound naming the nearest known op.
  Result<const OpDef*> require(std::string_view op) const;

  const std::map<std::string, std::unique_ptr<OpDef>, std::less<>>& ops() const { return ops_; }
  const std::map<std::string, ConstructorEntry, std::less<>>& constructors() const { return constructors_; }
  /// A hash of every signature: two programs with equal hashes agree on what a graph means.
  uint64_t signature_hash() const { return signature_hash_; }

 private:
  std::map<std::string, std::unique_ptr<OpDef>, std::less<>> ops_;
  std::map<std::string, ConstructorEntry, std::less<>> constructors_;
  std::unordered_map<std::string_view, const OpDef*> index_;
  uint64_t signature_hash_ = 0;
};

/// The candidate nearest to `name` in edit distance, when near enough to be a slip of the pen; else empty.
std::string_view nearest(std::string_view name, const std::vector<std::string_view>& candidates);

}  // namespace troupe
#pragma GCC visibility pop
