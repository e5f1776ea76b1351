// Samples of the ops on lookup tables, staging areas, barriers, batches and mutexes, which actors carry out.
#include "tests/kernels/cases/keyed_state_cases.h"

namespace troupe::test {
namespace {

Tensor table_handle() { return strings({"t"}).reshaped(Shape()); }  // of an op without V2

void add_table_makers(OpCases& cases, const std::string& v) {
  const std::string test = "actors/services/table_steps_test.cpp";
  const Attributes types{{"key_dtype", DType::String}, {"value_dtype", DType::Int64}};
  for (const std::string op : {"HashTable", "MutableHashTable", "MutableHashTableOfTensors"}) {
    cases.served(op + v, {}, types, "[]", test);
    cases.bad(op + v, {}, {{"key_dtype", DType::String}}, "value_dtype");
  }
  std::vector<Tensor> keys = {Tensor::scalar<int64_t>(-1)};
  if (!v.empty()) keys.push_back(Tensor::scalar<int64_t>(-2));
  cases.served("MutableDenseHashTable" + v, keys, {{"value_dtype", DType::Int64}}, "[]", test);
  cases.bad("MutableDenseHashTable" + v, keys, {}, "value_dtype");
}

void add_table_users(OpCases& cases, const std::string& v) {
  const std::string test = "actors/services/table_steps_test.cpp";
  const Tensor keys = strings({"a", "b"}), values = longs({1, 2}), one = Tensor::scalar<int64_t>(1);
  cases.served("LookupTableFind" + v, {table_handle(), keys, one}, {}, "?", test);
  cases.bad("LookupTableFind" + v, {table_handle(), keys, Tensor::of<int64_t>(Shape{1, 1}, {1})}, {},
            "[1,1]");
  for (const std::string op : {"LookupTableInsert", "LookupTableImport"}) {
    cases.served(op + v, {table_handle(), keys, values}, {}, "", test);
    cases.bad(op + v, {table_handle(), keys}, {}, "takes 3 inputs, got 2");
  }
  cases.served("LookupTableSize" + v, {table_handle()}, {}, "[]", test);
  cases.bad("LookupTableSize" + v, {}, {}, "takes 1 inputs, got 0");
  const Attributes types{{"Tkeys", DType::String}, {"Tvalues", DType::Int64}};
  cases.served("LookupTableExport" + v, {table_handle()}, types, "? ?", test);
  cases.bad("LookupTableExport" + v, {table_handle()}, {}, "Tkeys");
  cases.served("InitializeTable" + v, {table_handle(), keys, values}, {}, "", test);
  cases.bad("InitializeTable" + v, {table_handle(), keys, longs({1, 2, 3})}, {}, "[3]");
  cases.bad("InitializeTable" + v, {table_handle(), table_handle(), one}, {}, "has rank 0");
  const Attributes columns{{"key_index", int64_t{-2}}, {"value_index", int64_t{-1}}};
  const Attributes beyond{{"key_index", int64_t{-3}}, {"value_index", int64_t{-1}}};
  cases.served("InitializeTableFromTextFile" + v, {table_handle(), table_handle()}, columns, "", test);
  cases.bad("InitializeTableFromTextFile" + v, {table_handle(), table_handle()}, beyond, "-3");
  cases.bad("InitializeTableFromTextFile" + v, {table_handle(), keys}, columns, "[2]");
}

void add_barriers(OpCases& cases) {
  const std::string test = "actors/services/barrier_steps_test.cpp";
  const Attributes types{{"component_types", std::vector<DType>{f64, i32}}};
  const Attributes component{{"component_index", int64_t{0}}};
  const Tensor keys = strings({"a", "b"});
  cases.served("Barrier", {}, types, "[]", test);
  cases.bad("Barrier", {}, {}, "component_types");
  cases.served("BarrierInsertMany", {table_handle(), keys, doubles(Shape{2}, {1, 2})}, component, "", test);
  cases.bad("BarrierInsertMany", {table_handle(), keys, doubles(Shape{3}, {1, 2, 3})}, component, "[3]");
  cases.bad("BarrierInsertMany", {table_handle(), keys, doubles({}, {1})}, component, "values is a scalar");
  cases.served("BarrierTakeMany", {table_handle(), int_scalar(2)}, types, "? ? ? ?", test);
  cases.bad("BarrierTakeMany", {table_handle(), int_scalar(2)}, {}, "component_types");
  for (const char* op : {"BarrierClose", "BarrierReadySize", "BarrierIncompleteSize"}) {
    cases.served(op, {table_handle()}, {}, std::string(op) == "BarrierClose" ? "" : "[]", test);
    cases.bad(op, {}, {}, "takes 1 inputs, got 0");
  }
}

void add_batches(OpCases& cases) {
  const std::string test = "actors/services/batch_steps_test.cpp";
  const Attributes options{{"num_batch_threads", int64_t{1}},
                           {"max_batch_size", int64_t{2}},
                           {"batch_timeout_micros", int64_t{0}},
                           {"grad_timeout_micros", int64_t{0}}};
  const Attributes timeout{{"timeout_micros", int64_t{1}}};
  const Tensor rows = doubles(Shape{2, 3}, {1, 2, 3, 4, 5, 6}), id = Tensor::scalar<int64_t>(1);
  const Tensor index = Tensor::of<int64_t>(Shape{1, 3}, {1, 0, 2});
  cases.served("Batch", {rows, longs({1, 2})}, options, "[?,3] [?] [?,3] []", test);
  cases.bad("Batch", {rows, id}, options, "input 1 is a scalar");
  cases.bad("Batch", {rows}, {{"num_batch_threads", int64_t{1}}}, "max_batch_size");
  cases.served("Unbatch", {rows, index, id}, timeout, "[?,3]", test);
  cases.bad("Unbatch", {doubles({}, {1}), index, id}, timeout, "input 0 is a scalar");
  cases.served("UnbatchGrad", {rows, index, rows, id}, {}, "[?,?]", test);
  cases.bad("UnbatchGrad", {rows, index, rows}, {}, "takes 4 inputs, got 3");
}

void add_mutexes(OpCases& cases) {
  const std::string test = "actors/services/mutex_steps_test.cpp";
  const Tensor lock = value_or_throw(Tensor::allocate(DType::Variant, Shape{}));
  cases.served("MutexV2", {}, {}, "[]", test);
  cases.bad("MutexV2", {table_handle()}, {}, "takes 0 inputs, got 1");
  cases.served("MutexLock", {table_handle()}, {}, "[]", test);
  cases.bad("MutexLock", {}, {}, "takes 1 inputs, got 0");
  cases.served("ConsumeMutexLock", {lock}, {}, "", test);
  cases.bad("ConsumeMutexLock", {lock}, {}, "mutex_lock is variant[]");
  cases.bad("ConsumeMutexLock", {value_or_throw(Tensor::allocate(DType::Variant, Shape{1}))}, {},
            "mutex_lock is variant[1]");
}

void add_staging_maps(OpCases& cases, const std::string& map, const Attributes& types,
                      const Attributes& negative) {
  const std::string test = "actors/services/staging_steps_test.cpp";
  const Tensor key = Tensor::scalar<int64_t>(7), indices = ints({0, 1});
  cases.served(map + "Stage", {key, indices, doubles({}, {1}), int_scalar(2)}, types, "", test);
  cases.bad(map + "Stage", {key, indices, doubles({}, {1}), int_scalar(2)}, negative, "-1");
  for (const char* op : {"Unstage", "Peek"}) {
    cases.served(map + op, {key, indices}, types, "? ?", test);
    cases.bad(map + op, {key, indices}, negative, "-1");
  }
  cases.served(map + "UnstageNoKey", {indices}, types, "? ? ?", test);
  cases.bad(map + "UnstageNoKey", {indices}, negative, "-1");
  for (const char* op : {"Size", "IncompleteSize", "Clear"}) {
    cases.served(map + op, {}, types, std::string(op) == "Clear" ? "" : "[]", test);
    cases.bad(map + op, {}, negative, "-1");
  }
}

void add_staging_areas(OpCases& cases) {
  const std::string test = "actors/services/staging_steps_test.cpp";
  const Attributes types{{"dtypes", std::vector<DType>{f64, i32}}};
  Attributes negative = types;
  negative.set("capacity", int64_t{-1});
  cases.served("Stage", {doubles({}, {1}), int_scalar(2)}, {}, "", test);
  cases.bad("Stage", {doubles({}, {1}), int_scalar(2)}, negative, "-1");
  cases.served("Unstage", {}, types, "? ?", test);
  cases.bad("Unstage", {}, negative, "-1");
  cases.served("StagePeek", {int_scalar(0)}, types, "? ?", test);
  cases.bad("StagePeek", {int_scalar(0)}, negative, "-1");
  for (const char* op : {"StageSize", "StageClear"}) {
    cases.served(op, {}, types, std::string(op) == "StageClear" ? "" : "[]", test);
    cases.bad(op, {}, negative, "-1");
  }
  for (const char* map : {"Map", "OrderedMap"}) add_staging_maps(cases, map, types, negative);
}

}  // namespace

void add_keyed_state_cases(OpCases& cases) {
  for (const char* version : {"", "V2"}) {
    add_table_makers(cases, version);
    add_table_users(cases, version);
  }
  cases.served("LookupTableRemoveV2", {table_handle(), strings({"a"})}, {}, "",
               "actors/services/table_steps_test.cpp");
  cases.bad("LookupTableRemoveV2", {table_handle(), table_handle()}, {}, "keys is a scalar");
  add_barriers(cases);
  add_batches(cases);
  add_mutexes(cases);
  add_staging_areas(cases);
}

}  // namespace troupe::test
