// The ops on lookup tables, as whoever carries them out sees them. Functions without state; any thread.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>

#include "kernels/tables/table_spec.h"
#include "kernels/tables/vocabulary_file.h"

namespace troupe {

/// `Make` stands for ops that make a table of their inputs.
enum class TableOp : uint8_t {
  Make,
  Find,
  Insert,
  Remove,
  Size,
  Export,
  Import,
  Initialize,
  InitializeFromFile
};

/// Returns which op on tables this is ("LookupTableFind", "LookupTableFindV2", ...), or nothing if it is none.
std::optional<TableOp> table_op(std::string_view type);

/// Fails with InvalidArgument if the first outputs of a node, whose table `spec` describes, do not have these types.
Status check_output_types(const Node& node, std::initializer_list<DType> types, const TableSpec& spec);

/// Returns what a node InitializeTableFromTextFile reads. Fails with InvalidArgument if the path is no string, or an attribute is
/// not what it must be.
Result<VocabularyFile> vocabulary_file(const Node& node, const Tensor& path);

}  // namespace troupe
