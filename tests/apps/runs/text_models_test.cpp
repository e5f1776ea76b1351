// Models of texts: what a graph makes of texts is what the training gets, and trained and exported models take texts.
#include <boost/test/unit_test.hpp>

#include <fstream>

#include "actors/runtime.h"
#include "apps/config/parsed_rows.h"
#include "apps/inference/model.h"
#include "apps/interop/write_graph.h"
#include "apps/row_model.h"
#include "apps/runs/export.h"
#include "apps/training.h"
#include "kernels/constructors.h"
#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"
#include "tests/support/failure_of.h"
#include "tests/support/memory_disk.h"
#include "tests/support/ops/golden_values.h"
#include "tests/support/ops/op_library.h"
#include "tests/support/says.h"
#include "tests/support/tf_record.h"

namespace troupe::test::text_models_test {
namespace {

using data::RaggedColumn;
using Tensors = std::map<std::string, Tensor>;
using Texts = std::vector<std::string>;

struct Fixture : DigitsRuns {
  /// Checks that a graph divides strings as the training does.
  void check_parts(const RaggedColumn& column, const Texts& strings) {
    Graph graph(runtime.ops());
    const Scope g(graph);
    const Output given = placeholder(g, DType::String, {-1});
    const auto rows = config::parse_rows(value_or_throw(data::with_words(memory, {column})), g,
                                         {{"text", given}, {"other", given}});
    BOOST_TEST_REQUIRE(rows.columns.size() == 3u);
    BOOST_TEST(rows.columns[0].first == "other");
    Session session = runtime.session(graph);
    if (!rows.fills.empty()) session.run(rows.fills);
    const Tensor texts = Tensor::vector<std::string>(strings);
    const auto made = session.run({{given, texts}}, {rows.parsed[0].second, rows.parsed[1].second});
    const auto expected = value_or_throw(value_or_throw(data::RowParser::make(memory, column))->parse(texts));
    BOOST_TEST(rows.parsed[0].first == expected[0].name);
    BOOST_TEST(difference(made[0], expected[0].values, {0, 0}) == "");
    BOOST_TEST(difference(made[1], column.pad ? expected[1].values : expected[0].row_splits, {0, 0}) == "");
  }
  /// Checks that for ragged, padded and shortened rows.
  void check_forms(RaggedColumn column, const Texts& strings) {
    for (const int64_t max_length : {0, 2})
      for (const std::optional<double> pad : {std::optional<double>(), std::optional(-1.0)}) {
        column.max_length = max_length;
        column.pad = pad;
        check_parts(column, strings);
        check_parts(column, {});
        check_parts(column, {"", strings[0], ""});
      }
  }

  /// Returns what a model predicts for texts.
  static Tensor probabilities(const std::string& model, const Texts& texts) {
    return troupe::load(model).run(Tensors{{"text", Tensor::vector<std::string>(texts)}}).at("probabilities");
  }
  std::string exported(const std::string& from, const std::string& name) const {
    Program program(troupe_program(), {"export", from, folder.path() + '/' + name});
    BOOST_TEST(program.end() == 0, program.output());
    return folder.path() + '/' + name;
  }

  Runtime runtime;
  MemoryDisk memory;
};

/// Writes a saved model that says the number of a word, which is that of its line in an asset.
void write_model_with_words(const std::string& to, const std::string& asset) {
  interop::MetaGraph meta{Graph(op_library()->ops), {"serve"}, {}, {}, {}};
  const Scope g(meta.graph);
  const Output file = g.with_name("file").constant(Tensor::scalar<std::string>("words.txt"));
  const Output table =
      g.add_one("HashTableV2", {}, {{"key_dtype", DType::String}, {"value_dtype", DType::Int64}});
  const Output word = placeholder(g, DType::String, {-1});
  const Output number =
      g.add_one("LookupTableFindV2", {table, word, g.constant(Tensor::scalar<int64_t>(-1))});
  (void)g.with_name("fill").add("InitializeTableFromTextFileV2", {table, file},
                                {{"key_index", int64_t{-2}}, {"value_index", int64_t{-1}}});
  meta.init_op = "fill";
  meta.assets = {{asset, file}};
  meta.signatures["serving_default"] = {{}, {{"word", word}}, {{"number", number}}};
  std::filesystem::create_directories(to + "/assets");
  std::ofstream(to + "/saved_model.pb", std::ios::binary) << interop::write_saved_model(meta);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(text_models, Fixture)

BOOST_AUTO_TEST_CASE(a_signature_that_needs_an_unknown_op_is_not_lost) {
  interop::MetaGraph meta{Graph(op_library()->ops), {"serve"}, {}, {}, {}};
  const Scope g(meta.graph);
  const Output x = placeholder(g, DType::Float, {-1});
  meta.signatures["serving_default"] = {{}, {{"x", x}}, {{"y", neg(g, x)}}};
  meta.signatures["other"] = {{}, {{"x", x}}, {{"z", softsign(g.with_name("node"), x)}}};
  std::string bytes = interop::write_saved_model(meta);
  for (size_t at; (at = bytes.find("Softsign")) != std::string::npos;) bytes.replace(at, 8, "Isotonic");
  const std::string model = folder.path() + "/unknown_op";
  std::filesystem::create_directories(model);
  std::ofstream(model + "/saved_model.pb", std::ios::binary) << bytes;

  const std::string why = "its output 'z' cannot be computed: there is no such op: Isotonic";
  const troupe::Model loaded = troupe::load(model);
  BOOST_TEST(loaded.run(Tensors{{"x", Tensor::vector<float>({2})}}).at("y").as<float>()[0] == -2);
  const Status status = failure_of([&] { (void)loaded.signature("other"); });
  BOOST_TEST((status.code() == Code::Unimplemented));
  BOOST_TEST(
      says(status.text(), "the signature 'other' of the model in " + model + " cannot be used: " + why),
      status.text());
  Program program(troupe_program(), {"export", model, folder.path() + "/copy"});
  BOOST_TEST(program.end() != 0);
  BOOST_TEST(says(program.output(), "the signature 'other' cannot be exported: " + why), program.output());
  BOOST_TEST(!std::filesystem::exists(folder.path() + "/copy/saved_model.pb"));
}

BOOST_AUTO_TEST_CASE(a_graph_divides_texts_into_words_as_the_training_does) {
  memory.write("words", "a\nlong\nfilm\n\u00e9t\u00e9\n");
  const Texts texts = {"a  long\tlong film", "", " Film, A! \u00c9T\u00c9 (long)\r\n", "unknown",
                       "a.b ^[film]`{|}~"};
  using enum data::Standardize;
  for (const auto how : {None, Lower, LowerWithoutPunctuation})
    for (const DType dtype : {DType::Int32, DType::Int64})
      check_forms({.name = "x",
                   .from = "text",
                   .dtype = dtype,
                   .vocabulary = {"words"},
                   .feature = {},
                   .standardize = how},
                  texts);
  check_forms({.name = "x", .from = "text", .vocabulary = {}, .feature = {}, .words = {"film", "a"}}, texts);
}

BOOST_AUTO_TEST_CASE(a_graph_finds_the_numbers_of_texts_as_the_training_does) {
  for (const DType dtype : {DType::Int32, DType::Int64, DType::Float, DType::Double})
    check_forms({.name = "x", .from = "text", .dtype = dtype, .vocabulary = {}, .feature = {}},
                {" 3 17,4\t-1 ", "", "5;6", "0", "1 2 3 4 5"});
  check_forms({.name = "x", .from = "text", .dtype = DType::Float, .vocabulary = {}, .feature = {}},
              {"0.1 -1e-3", "", "3.14159265358979"});
}

BOOST_AUTO_TEST_CASE(a_graph_takes_the_features_of_records_as_the_training_does) {
  const Texts records = {example({{"ids", {3, 17, 4}}}), example({{"others", {3}}}), example({{"ids", {9}}})};
  for (const DType dtype : {DType::Int32, DType::Int64})
    check_forms({.name = "x", .from = "text", .dtype = dtype, .vocabulary = {}, .feature = "ids"}, records);
}

BOOST_AUTO_TEST_CASE(trained_and_exported_models_take_texts) {
  Program trained(troupe_program(), run("train", "words", {"--set", "train.max_epochs=1"}, "reviews"));
  BOOST_TEST(trained.end() == 0, trained.output());
  const std::string trained_model = folder.path() + "/words";
  const Texts texts = {"good not dull but unheard", "", "boring"};
  const Tensor expected = probabilities(trained_model, texts);
  BOOST_TEST(expected.shape().text() == "[3,2]");
  const std::string first = exported(trained_model, "first"), second = exported(first, "second");
  for (const std::string& model : {first, second})
    BOOST_TEST(difference(probabilities(model, texts), expected, {0, 0}) == "");
  // The signature for words that have been divided.
  const Tensors parsed = {{"words", Tensor::vector<int32_t>({1, 2, 3})},
                          {"words_splits", Tensor::vector<int64_t>({0, 3})}};
  BOOST_TEST(troupe::load(second).run(parsed, Model::predict_parsed).at("probabilities").shape().text() ==
             "[1,2]");
  // Rows, and files.
  const RowModel rows(troupe::load(first));
  BOOST_TEST_REQUIRE(rows.columns().size() == 1u);
  BOOST_TEST(rows.columns()[0].name == "text");
  BOOST_TEST(rows.columns()[0].type == "text");
  const auto of_rows =
      rows.run("{\"text\": \"good not dull but unheard\"}\n\n{}\n{\"text\": [\"boring\"]}\n");
  BOOST_TEST(difference(of_rows.at("probabilities"), expected, {0, 0}) == "");
  Cancellation cancellation;
  cancellation.cancel();
  const Status cancelled = failure_of([&] { (void)rows.run("{\"text\": \"good\"}", &cancellation); });
  BOOST_TEST((cancelled.code() == Code::Cancelled), cancelled.message());
  BOOST_TEST(failure_of([&] { (void)rows.run(" \n"); }).text() == "there are no rows");
  RowModel moved = rows;
  const RowModel other = std::move(moved);
  // NOLINTNEXTLINE(bugprone-use-after-move): that is what is tested
  BOOST_TEST(says(failure_of([&] { (void)moved.run("{}"); }).text(), "the model has been moved"));
  BOOST_TEST(other.columns().size() == 1u);
  const std::string file = folder.write("new.tsv", "good\tgood not dull but unheard\nbad\t\nbad\tboring\n");
  const auto of_file = predict(trained_model, {.files = {file}, .outputs = {"probabilities"}});
  BOOST_TEST(of_file.size() == 1u);
  BOOST_TEST(difference(of_file.at("probabilities"), expected, {0, 0}) == "");
}

BOOST_AUTO_TEST_CASE(a_model_is_exported_with_the_words_in_its_files) {
  const std::string from = folder.path() + "/from";
  write_model_with_words(from, "words.txt");
  std::ofstream(from + "/assets/words.txt") << "a\nb\n";
  const std::string to = exported(from, "to");
  std::filesystem::remove_all(from);
  const auto numbers = troupe::load(to).run(Tensors{{"word", Tensor::vector<std::string>({"b", "c", "a"})}});
  BOOST_TEST(difference(numbers.at("number"), Tensor::vector<int64_t>({1, -1, 0}), {0, 0}) == "");
}

BOOST_AUTO_TEST_CASE(an_export_copies_no_other_files_than_those_of_the_model) {
  folder.write("secret.txt", "a\n");
  write_model_with_words(folder.path() + "/from", "../../secret.txt");
  Program program(troupe_program(), {"export", folder.path() + "/from", folder.path() + "/to"});
  BOOST_TEST(program.end() != 0);
  BOOST_TEST(says(program.output(), "is no asset of the model"), program.output());
  BOOST_TEST(!std::filesystem::exists(folder.path() + "/to/saved_model.pb"));
}

BOOST_AUTO_TEST_CASE(rows_and_files_that_a_model_does_not_take_are_refused) {
  Program trained(troupe_program(), run("train", "digits", {"--set", "train.max_steps=1"}));
  BOOST_TEST(trained.end() == 0, trained.output());
  const std::string model = folder.path() + "/digits";
  BOOST_TEST(says(failure_of([&] { const RowModel rows(troupe::load(model)); }).text(), "takes no rows"));
  BOOST_TEST(says(failure_of([&] { (void)predict(model, {}); }).text(), "there is nothing to predict"));
  BOOST_TEST(says(failure_of([&] { (void)predict(model, {.files = {"x.csv"}, .part = "valid"}); }).text(),
                  "leave out one of them"));
  const auto valid = predict(model, {.part = "valid"});
  BOOST_TEST(valid.size() == 3u);  // the label, too
  BOOST_TEST(valid.at("label").shape()[0] == valid.at("class").shape()[0]);
  BOOST_TEST(says(failure_of([&] { (void)predict(model, {.part = "valid", .outputs = {"none"}}); }).text(),
                  "the model has no output 'none'; it has class, probabilities"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::text_models_test
