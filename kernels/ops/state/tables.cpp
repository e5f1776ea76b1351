// Lookup tables: values by their keys. The actor of the table carries out all of these ops, each of which is one message for
// any number of keys. Keys are int32, int64 or string; values are bool, int32, int64, float, double or string.
//   HashTableV2                    the handle of a table of scalars that is initialised once. Nodes with equal (container,
//                                  shared_name), or else equal node name, share a table
//   MutableHashTableV2             the handle of a table of scalars that can be changed at any time
//   MutableHashTableOfTensorsV2    the same with values that are vectors of `value_shape`
//   MutableDenseHashTableV2        the same with keys of the shape of empty_key and scalars or vectors as values. empty_key and
//                                  deleted_key stand for buckets without a key and cannot be keys. The number of buckets
//                                  doubles when more than `max_load_factor` of them would be in use
//   InitializeTableV2              fills a HashTable: a key has one value. A table with these contents stays as it is;
//                                  FailedPrecondition if it has others
//   InitializeTableFromTextFileV2  fills a HashTable from the first `vocab_size` lines of a file, or from all (-1). key_index
//                                  and value_index are a column between delimiters, -1 for the line's number, which begins at
//                                  `offset`, -2 for the whole line
//   LookupTableFindV2              the values of keys, default_value where the table does not have a key. FailedPrecondition
//                                  before a HashTable is initialised
//   LookupTableInsertV2            adds keys, or replaces their values; LookupTableImportV2: first removes all keys
//   LookupTableRemoveV2            removes keys
//   LookupTableSizeV2              the number of keys
//   LookupTableExportV2            all keys and values in any order; of a MutableDenseHashTable, all buckets
// The forms without V2 have a handle that is a reference to a string.
#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"

namespace troupe {
namespace {

Status vectors_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const PartialShape keys, context.with_rank(1, 1));
  if (keys.compatible_with(context.input(2))) return {};
  return invalid_argument("keys of shape " + keys.text() + " and values of shape " + context.input(2).text() +
                          " must have the same shape");
}

Status find_shape(ShapeContext& context) {
  const PartialShape& fallback = context.input(2);
  if (fallback.known_rank() && fallback.rank() > 1)
    return invalid_argument("default_value of shape " + fallback.text() + " must be a scalar or a vector");
  return unknown_shape(context);
}

Status remove_shape(ShapeContext& context) {
  if (!context.input(1).has_rank(0)) return no_output_shape(context);
  return invalid_argument("keys is a scalar, but must have at least rank 1");
}

Status file_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 0).status());
  return no_output_shape(context);
}

OpDefBuilder table_op(const std::string& name, ShapeFunction shape) {
  return OpDefBuilder(name)
      .served_by("table")
      .effect(Effect::State)
      .shape(shape)
      .allows_uninitialized_input()  // a table has no value
      .not_differentiable();
}

OpDefBuilder handle_op(const std::string& name, const std::string& handle) {
  return table_op(name, scalar_shape)
      .output(handle)
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .attr("use_node_name_sharing: bool = false")
      .attr("key_dtype: type")
      .attr("value_dtype: type");
}

void add_handle_ops(OpLibrary& library, const std::string& suffix, const std::string& handle) {
  library.op(handle_op("HashTable" + suffix, handle));
  library.op(handle_op("MutableHashTable" + suffix, handle));
  library.op(handle_op("MutableHashTableOfTensors" + suffix, handle).attr("value_shape: shape = []"));
  OpDefBuilder dense = handle_op("MutableDenseHashTable" + suffix, handle);
  dense.input("empty_key: key_dtype");
  if (!suffix.empty()) dense.input("deleted_key: key_dtype");
  library.op(dense.attr("value_shape: shape = []")
                 .attr("initial_num_buckets: int = 131072")
                 .attr("max_load_factor: float = 0.8"));
}

/// An op with keys and what belongs to them.
OpDefBuilder keys_op(const std::string& name, const std::string& handle, const std::string& others,
                     ShapeFunction shape) {
  return table_op(name, shape)
      .input(handle)
      .input("keys: Tin")
      .input(others + ": Tout")
      .attr("Tin: type")
      .attr("Tout: type");
}

void add_lookup_ops(OpLibrary& library, const std::string& suffix, const std::string& handle) {
  library.op(keys_op("LookupTableFind" + suffix, handle, "default_value", find_shape).output("values: Tout"));
  library.op(keys_op("LookupTableInsert" + suffix, handle, "values", no_output_shape));
  library.op(keys_op("LookupTableImport" + suffix, handle, "values", no_output_shape));
  library.op(table_op("LookupTableSize" + suffix, scalar_shape).input(handle).output("size: int64"));
  library.op(table_op("LookupTableExport" + suffix, unknown_shape)
                 .input(handle)
                 .output("keys: Tkeys")
                 .output("values: Tvalues")
                 .attr("Tkeys: type")
                 .attr("Tvalues: type"));
}

void add_initialize_ops(OpLibrary& library, const std::string& suffix, const std::string& handle) {
  library.op(table_op("InitializeTable" + suffix, vectors_shape)
                 .input(handle)
                 .input("keys: Tkey")
                 .input("values: Tval")
                 .attr("Tkey: type")
                 .attr("Tval: type"));
  library.op(table_op("InitializeTableFromTextFile" + suffix, file_shape)
                 .input(handle)
                 .input("filename: string")
                 .attr("key_index: int >= -2")
                 .attr("value_index: int >= -2")
                 .attr("vocab_size: int >= -1 = -1")
                 .attr("delimiter: string = '\t'")
                 .attr("offset: int = 0"));
}

}  // namespace

void add_table_ops(OpLibrary& library) {
  for (const auto& [suffix, type] : {std::pair{"", "Ref(string)"}, {"V2", "resource"}}) {
    const std::string handle = "table_handle: " + std::string(type);
    add_handle_ops(library, suffix, handle);
    add_lookup_ops(library, suffix, handle);
    add_initialize_ops(library, suffix, handle);
  }
  library.op(table_op("LookupTableRemoveV2", remove_shape)
                 .input("table_handle: resource")
                 .input("keys: Tin")
                 .attr("Tin: type"));
}

}  // namespace troupe
