// OpTable: all ops of a program and their constructors, by name. The program builds it once, from the list in
// kernels/ops/all_ops.cpp. Then it is immutable, and shared by reference with all threads. Graphs point into it and keep it alive.
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
  /// Fails with InvalidArgument for a faulty definition, and with
  /// AlreadyExists if the op, one of its former names or one of its constructors exists already.
  Status add(const OpDefBuilder& builder);

  /// Return null if there is none. An op is also found by its former names.
  const OpDef* find(std::string_view op) const;
  const ConstructorEntry* find_constructor(std::string_view name) const;
  /// Returns the op, which is also found by its former names. Fails with NotFound, naming the most similar op.
  Result<const OpDef*> require(std::string_view op) const;

  const std::map<std::string, std::unique_ptr<OpDef>, std::less<>>& ops() const { return ops_; }
  const std::map<std::string, ConstructorEntry, std::less<>>& constructors() const { return constructors_; }
  /// Returns a hash of all signatures. Two programs with equal hashes agree on the meaning of graphs.
  uint64_t signature_hash() const { return signature_hash_; }

 private:
  std::map<std::string, std::unique_ptr<OpDef>, std::less<>> ops_;
  std::map<std::string, ConstructorEntry, std::less<>> constructors_;
  std::unordered_map<std::string_view, const OpDef*> index_;
  uint64_t signature_hash_ = 0;
};

/// Returns the candidate with the smallest edit distance from `name`
/// if it is so similar that `name` may be a typing error; else "".
std::string_view nearest(std::string_view name, const std::vector<std::string_view>& candidates);

}  // namespace troupe
#pragma GCC visibility pop
