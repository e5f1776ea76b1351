// Lookup tables in steps: the ops, files, large batches, sharing by name.
#include <boost/test/unit_test.hpp>

#include <fstream>
#include <numeric>
#include <thread>

#include "actors/runtime.h"
#include "actors/step/session.h"
#include "graph/build/scope.h"
#include "tests/support/failure_of.h"
#include "tests/support/temporary_folder.h"

namespace troupe::table_steps_test {
namespace {

Tensor longs(const std::vector<int64_t>& values) {
  return Tensor::vector<int64_t>(std::span<const int64_t>(values));
}
Tensor words(const std::vector<std::string>& values) {
  return Tensor::vector<std::string>(std::span<const std::string>(values));
}

struct Fixture {
  Runtime runtime{{.threads = 2}};
  Graph graph{runtime.ops()};
  Scope g{graph};
  std::string suffix = "V2";

  Output make(const std::string& op, const std::string& name, DType key, DType value, Attributes more = {}) {
    Attributes attrs{{"key_dtype", key}, {"value_dtype", value}};
    for (const auto& [attr, given] : more) attrs.set(attr, given);
    return g.with_name(name).add_one(op + suffix, {}, attrs);
  }
  Output make_dense(const std::string& name, Tensor empty, Tensor deleted, Attributes more = {}) {
    Attributes attrs{{"value_dtype", DType::Int64}, {"initial_num_buckets", int64_t{4}}};
    for (const auto& [attr, given] : more) attrs.set(attr, given);
    std::vector<Output> keys = {g.constant(std::move(empty))};
    if (!suffix.empty()) keys.push_back(g.constant(std::move(deleted)));
    return g.with_name(name).add_one("MutableDenseHashTable" + suffix, keys, attrs);
  }
  Output with(const std::string& op, Output table, Tensor keys, Tensor values) {
    return run(op + suffix, {table, g.constant(std::move(keys)), g.constant(std::move(values))});
  }
  Output insert(Output table, Tensor keys, Tensor values) {
    return with("LookupTableInsert", table, std::move(keys), std::move(values));
  }
  Output remove(Output table, Tensor keys) {
    return run("LookupTableRemoveV2", {table, g.constant(std::move(keys))});
  }
  Output find(Output table, Tensor keys, Tensor missing) {
    return g.add_one("LookupTableFind" + suffix,
                     {table, g.constant(std::move(keys)), g.constant(std::move(missing))});
  }
  Output size(Output table) { return g.add_one("LookupTableSize" + suffix, {table}); }
  Output from_file(Output table, const std::string& path, int64_t key, int64_t value, int64_t lines = -1) {
    return run("InitializeTableFromTextFile" + suffix, {table, g.constant(Tensor::scalar(path))},
               {{"key_index", key}, {"value_index", value}, {"vocab_size", lines}});
  }
  Output run(const std::string& op, std::vector<Output> inputs, const Attributes& attrs = {}) {
    return {g.add(op, std::move(inputs), attrs), Output::control};
  }
  void refused(Session& session, Output what, Code code, const std::string& text) {
    const Status status = test::failure_of([&] { session.run({what}); });
    BOOST_TEST((status.code() == code), status.text());
    BOOST_TEST(status.text().find(text) != std::string::npos, status.text());
    BOOST_TEST(!status.node().empty());
  }
};

/// A table of constants whose keys are whole lines.
struct FileFixture : Fixture {
  std::string file(const std::string& content) {
    const std::string path = folder.path() + "/" + std::to_string(++files);
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  Output table(DType key = DType::String, DType value = DType::Int64) {
    return make("HashTable", "table" + std::to_string(++tables), key, value);
  }
  test::TemporaryFolder folder;
  int files = 0, tables = 0;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(table_steps, Fixture)

BOOST_AUTO_TEST_CASE(a_table_of_constants_is_filled_once) {
  for (const char* form : {"", "V2"}) {
    suffix = form;
    const Output table = make("HashTable", "constants" + suffix, DType::String, DType::Int64);
    const Output found = find(table, words({"b", "x", "a"}), Tensor::scalar<int64_t>(-1));
    const Output fill = with("InitializeTable", table, words({"a", "b"}), longs({1, 2}));
    const Output same = with("InitializeTable", table, words({"b", "a", "b"}), longs({2, 1, 2}));
    const Output other = with("InitializeTable", table, words({"a", "b"}), longs({1, 3}));
    const Output imported = with("LookupTableImport", table, words({"b", "a"}), longs({2, 1}));
    const Output added = insert(table, words({"c"}), longs({3}));
    Session session = runtime.session(graph);
    refused(session, found, Code::FailedPrecondition, "Table not initialized");
    session.run({fill});
    BOOST_TEST(identical(session.run({found})[0], longs({2, -1, 1})));
    session.run({same});
    session.run({imported});
    refused(session, other, Code::FailedPrecondition, "different data");
    refused(session, added, Code::Unimplemented, "Insert is not supported");
    BOOST_TEST(session.run({size(table)})[0].item<int64_t>() == 2);
  }
}

BOOST_AUTO_TEST_CASE(values_of_keys_can_be_rows) {
  const Output table = make("MutableHashTableOfTensors", "rows", DType::Int32, DType::String,
                            {{"value_shape", PartialShape{2}}});
  const Output put = insert(table, Tensor::vector<int32_t>({7, 9}),
                            Tensor::of<std::string>(Shape{2, 2}, {"a", "b", "c", "d"}));
  const Output found = find(table, Tensor::of<int32_t>(Shape{2, 1}, {9, 8}), words({"x", "y"}));
  const NodeId exported =
      g.add("LookupTableExportV2", {table}, {{"Tkeys", DType::Int32}, {"Tvalues", DType::String}});
  const Output wrong = find(table, Tensor::vector<int32_t>({9}), Tensor::scalar<std::string>("x"));
  Session session = runtime.session(graph);
  session.run({put});
  session.run({remove(table, Tensor::vector<int32_t>({7, 8}))});
  BOOST_TEST(
      identical(session.run({found})[0], Tensor::of<std::string>(Shape{2, 1, 2}, {"c", "d", "x", "y"})));
  const auto all = session.run({Output{exported, 0}, Output{exported, 1}});
  BOOST_TEST(identical(all[0], Tensor::vector<int32_t>({9})));
  BOOST_TEST(identical(all[1], Tensor::of<std::string>(Shape{1, 2}, {"c", "d"})));
  refused(session, wrong, Code::InvalidArgument, "Expected shape [2]");
}

// A dense table is made of its inputs. Other nodes reach it by its name.
BOOST_AUTO_TEST_CASE(a_dense_table_keeps_its_contents_between_steps) {
  for (const char* form : {"", "V2"}) {
    suffix = form;
    const Attributes shared{{"shared_name", "dense" + suffix}};
    const Output one = make_dense("one" + suffix, longs({0, 0}), longs({1, 1}), shared);
    const Output two = make_dense("two" + suffix, longs({8, 8}), longs({9, 9}), shared);
    const Tensor keys = Tensor::of<int64_t>(Shape{3, 2}, {5, 6, 6, 5, 9, 9});
    Session session = runtime.session(graph);
    session.run({insert(one, keys, longs({1, 2, 3}))});
    BOOST_TEST(identical(session.run({find(two, keys, Tensor::scalar<int64_t>(-1))})[0], longs({1, 2, 3})));
    refused(session, insert(two, Tensor::of<int64_t>(Shape{1, 2}, {0, 0}), longs({1})), Code::InvalidArgument,
            "empty_key");
    BOOST_TEST(session.run({size(two)})[0].item<int64_t>() == 3);
  }
}

BOOST_AUTO_TEST_CASE(buckets_of_a_dense_table_move_to_another) {
  const Output from = make_dense("from", Tensor::scalar<int64_t>(0), Tensor::scalar<int64_t>(-1));
  const Output to = make_dense("to", Tensor::scalar<int64_t>(0), Tensor::scalar<int64_t>(-1));
  const NodeId exported =
      g.add("LookupTableExportV2", {from}, {{"Tkeys", DType::Int64}, {"Tvalues", DType::Int64}});
  const Output bring = run("LookupTableImportV2", {to, Output{exported, 0}, Output{exported, 1}});
  Session session = runtime.session(graph);
  session.run({insert(from, longs({11, 12, 13, 14}), longs({1, 2, 3, 4}))});
  session.run({remove(from, longs({12, 99}))});
  session.run({insert(to, longs({99}), longs({5}))});
  session.run({bring});
  BOOST_TEST(session.run({size(to)})[0].item<int64_t>() == 3);
  BOOST_TEST(identical(session.run({find(to, longs({11, 12, 13, 14, 99}), Tensor::scalar<int64_t>(0))})[0],
                       longs({1, 0, 3, 4, 0})));
}

// Large batches are worked on outside the actor's handlers. Every request sees the whole effect of those before it.
BOOST_AUTO_TEST_CASE(large_batches_take_their_turn) {
  std::vector<int64_t> many(200'000), squares(many.size());
  std::iota(many.begin(), many.end(), 0);
  for (size_t i = 0; i < many.size(); ++i) squares[i] = many[i] * many[i];
  const Output table = make("MutableHashTable", "squares", DType::Int64, DType::Int64);
  const Output put = insert(table, longs(many), longs(squares));
  const Output found = find(table, longs(many), Tensor::scalar<int64_t>(-1)), count = size(table);
  const Output first = remove(table, longs(std::vector<int64_t>(many.begin(), many.begin() + 100'000)));
  Session session = runtime.session(graph);
  std::thread other([&] { session.run({put}); });
  for (int64_t seen = 0; seen != 200'000; seen = session.run({count})[0].item<int64_t>())
    BOOST_TEST((seen == 0));
  other.join();
  BOOST_TEST(identical(session.run({found})[0], longs(squares)));
  session.run({first});
  std::fill(squares.begin(), squares.begin() + 100'000, -1);
  BOOST_TEST(identical(session.run({found})[0], longs(squares)));
  BOOST_TEST(session.run({count})[0].item<int64_t>() == 100'000);
}

BOOST_AUTO_TEST_CASE(what_a_table_cannot_be_or_do_is_refused) {
  const Output table = make("MutableHashTable", "t", DType::String, DType::Int64);
  const Output halves = make("HashTable", "halves", DType::Half, DType::Int64);
  const Output shared = make("HashTable", "other", DType::String, DType::Int64, {{"shared_name", "t"}});
  const Output matrices = make("MutableHashTableOfTensors", "matrices", DType::Int64, DType::Int64,
                               {{"value_shape", PartialShape{2, 2}}});
  const auto dense = [&](const std::string& name, Tensor empty, Tensor deleted, Attributes more = {}) {
    return size(make_dense(name, std::move(empty), std::move(deleted), std::move(more)));
  };
  const Tensor one = Tensor::scalar<int64_t>(1), two = Tensor::scalar<int64_t>(2);
  Session session = runtime.session(graph);
  session.run({size(table)});
  const auto bad = [&](Output what, const std::string& text) {
    refused(session, what, Code::InvalidArgument, text);
  };
  bad(find(table, longs({1}), one), "keys of the table must be string");
  bad(find(table, words({"a"}), Tensor::scalar(1.0f)), "but output 0 of the op is float");
  bad(insert(table, words({"a"}), longs({1, 2})), "Expected shape [1]");
  bad(with("InitializeTable", table, words({"a"}), longs({1})), "not initializable");
  bad(from_file(table, "", -2, -1), "filename cannot be empty");
  bad(size(halves), "key_dtype is half");
  bad(size(shared), "was made with mutable, string -> int64");
  bad(size(matrices), "value_shape is [2,2]");
  bad(dense("equal", one, one), "cannot be equal");
  bad(dense("shapes", one, longs({1, 2})), "must have same shape");
  bad(dense("none", longs({}), longs({})), "Empty key");
  bad(dense("load", one, two, {{"max_load_factor", 1.0f}}), "max_load_factor");
  bad(dense("twelve", one, two, {{"initial_num_buckets", int64_t{12}}}), "Number of buckets must be");
  refused(session, dense("huge", one, two, {{"initial_num_buckets", int64_t{1} << 50}}),
          Code::ResourceExhausted, "");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(table_files, FileFixture)

BOOST_AUTO_TEST_CASE(lines_of_a_file_fill_a_table) {
  const std::string two_columns = file("ape,3\r\nbee,-1\ncat,7");
  const Output numbers = table(), columns = table(), lines = table(DType::Int64, DType::String);
  const Output by_line = from_file(numbers, two_columns, -2, -1, 2);
  const Output by_column =
      run("InitializeTableFromTextFileV2", {columns, g.constant(Tensor::scalar(two_columns))},
          {{"key_index", int64_t{0}}, {"value_index", int64_t{1}}, {"delimiter", ","}});
  const Output by_number =
      run("InitializeTableFromTextFileV2", {lines, g.constant(Tensor::scalar(two_columns))},
          {{"key_index", int64_t{-1}}, {"value_index", int64_t{-2}}, {"offset", int64_t{5}}});
  Session session = runtime.session(graph);
  session.run({by_line, by_column, by_number});
  const auto found =
      session.run({find(numbers, words({"ape,3", "bee,-1", "cat,7"}), Tensor::scalar<int64_t>(9)),
                   find(columns, words({"cat", "bee", "ape"}), Tensor::scalar<int64_t>(9)),
                   find(lines, longs({7, 5, 2}), Tensor::scalar<std::string>("none"))});
  BOOST_TEST(identical(found[0], longs({0, 1, 9})));
  BOOST_TEST(identical(found[1], longs({7, -1, 3})));
  BOOST_TEST(identical(found[2], words({"cat,7", "ape,3", "none"})));
  session.run({from_file(numbers, two_columns, -2, -1)});  // has no effect
  BOOST_TEST(session.run({size(numbers)})[0].item<int64_t>() == 2);
}

BOOST_AUTO_TEST_CASE(files_that_cannot_fill_a_table_are_refused) {
  Session session = runtime.session(graph);
  const auto bad = [&](Output table, const std::string& content, int64_t key, int64_t value,
                       const std::string& text, int64_t lines = -1) {
    refused(session, from_file(table, file(content), key, value, lines), Code::InvalidArgument, text);
    BOOST_TEST(session.run({size(table)})[0].item<int64_t>() == 0);
  };
  bad(table(), "a\n\nb\n", -2, -1, "line 1 is empty");
  bad(table(), "", -2, -1, "empty tensors");
  bad(table(), "a\t1\nb\n", 0, 1, "line 1 has 1, but needs 2");
  bad(table(), "a\tx\n", 0, 1, "'x' in line 0 is not a valid int64");
  bad(table(), "a\nb\n", -2, -1, "Invalid vocab_size", 3);
  bad(table(), "1\n", -1, -1, "line numbers are int64");
  bad(table(), "1\n", -1, -2, "line numbers are int64");
  bad(table(DType::Int64), "1\n", 0, -2, "whole lines are strings");
  const Output twice = from_file(table(), file("a\na\n"), -2, -1);
  refused(session, twice, Code::FailedPrecondition, "different value for same key");
  refused(session, from_file(table(), folder.path() + "/none", -2, -1), Code::NotFound, "/none");
  refused(session, from_file(table(), folder.path(), -2, -1), Code::FailedPrecondition, folder.path());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::table_steps_test
