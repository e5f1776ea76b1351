// Ragged columns of run files: what rows are made of, how batches have them, and a model that trains with them.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <filesystem>

#include "apps/data/load.h"
#include "apps/data/ragged/ragged_set.h"
#include "apps/data/ragged/vocabulary.h"
#include "apps/train/data/fit_data.h"
#include "apps/train/data/train_data.h"
#include "apps/train/trainer.h"
#include "messages/env/real_disk.h"
#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/config/run_file.h"
#include "tests/apps/train/digits_runs.h"
#include "tests/support/memory_disk.h"
#include "tests/support/project_files.h"
#include "tests/support/samples.h"
#include "tests/support/tf_record.h"

namespace troupe::train::ragged_data_test {
namespace {

using data::RaggedColumn;
using test::bytes_field;
using test::example;
using test::Program;
using test::tf_record;

const std::string reviews = test::project_path("examples/reviews.toml");

template <class T>
std::vector<T> elements(const Tensor& tensor) {
  const auto all = tensor.as<T>();
  return {all.begin(), all.end()};
}

/// Shows a ragged column of int32: "1 2|3|".
std::string rows_of(const data::Dataset& samples, const std::string& column) {
  const auto values = elements<int32_t>(*samples.find(column));
  const auto splits = elements<int64_t>(*samples.find(column + "_splits"));
  std::string text;
  for (size_t row = 0; row + 1 < splits.size(); ++row) {
    for (auto i = static_cast<size_t>(splits[row]); i < static_cast<size_t>(splits[row + 1]); ++i)
      text += (i == static_cast<size_t>(splits[row]) ? "" : " ") + std::to_string(values[i]);
    text += '|';
  }
  return text;
}

struct Fixture : test::DigitsRuns {
  /// Returns the row of a string, or the error.
  std::string row(const RaggedColumn& column, const std::string& text) {
    const auto parser = data::RowParser::make(memory, column);
    if (!parser) return parser.status().text();
    const auto parsed = (*parser)->parse(Tensor::vector<std::string>({text}));
    if (!parsed) return parsed.status().text();
    std::string shown;
    for (const auto& [name, values, splits] : *parsed) {
      BOOST_TEST(elements<int64_t>(splits) == std::vector<int64_t>({0, values.elements()}),
                 boost::test_tools::per_element());
      if (column.dtype == DType::Int32)
        for (const int32_t value : values.as<int32_t>()) shown += std::to_string(value) + ' ';
      if (column.dtype == DType::Double)
        for (const double value : values.as<double>()) shown += std::to_string(value) + ' ';
    }
    return shown;
  }

  /// Writes a file of 20 samples, "LABEL,N N N ...": sample i has i modulo 4 times the number i.
  void write_lists() {
    std::string text = "label;numbers;weight\n";
    for (int i = 0; i < 20; ++i) {
      text += std::to_string(i % 3) + ";\"";
      for (int k = 0; k < i % 4; ++k) text += std::to_string(i) + ' ';
      text += "\";0.5\n";
    }
    folder.write("lists.csv", text);
  }
  std::string lists(const std::string& ragged = "ids = {}") {
    return "[data]\nformat = 'csv'\ntrain = '" + folder.path() + R"toml(/lists.csv'
header = true
delimiter = ";"
label = "label"
text = "numbers"
batch = 8
[data.ragged]
)toml" + ragged +
           R"toml(
[model.graph]
loss = "mean(nn.row_sum(cast(ids, 'float'), ids_splits)) * sum(w)"
[model.variables]
w = { shape = [1], init = "ones" }
[train]
loss = "loss"
optimizer = { type = "sgd", lr = 0.1 }
max_epochs = 1
)toml";
  }
  Result<data::TrainAndValid> load(const std::string& text, const std::vector<std::string>& set = {}) {
    TROUPE_ASSIGN(const auto config, config::parse(text, set));
    return load_data(disk, config);
  }

  TrainingResult train_reviews(std::vector<std::string> set) {
    set.push_back("run.directory=" + folder.path());
    const auto config = value_or_throw(config::load_run_config(disk, reviews, set, test::op_library()->ops));
    return value_or_throw(train(config, value_or_throw(load_data(disk, config)), {}));
  }

  test::MemoryDisk memory;
};

BOOST_FIXTURE_TEST_SUITE(ragged_data, Fixture)

BOOST_AUTO_TEST_CASE(a_row_has_the_numbers_of_a_text) {
  BOOST_TEST(row({"x", "text", DType::Int32, {}, {}}, " 3 17,4\t-1 ") == "3 17 4 -1 ");
  BOOST_TEST(row({"x", "text", DType::Double, {}, {}}, "0.5 -1e2") == "0.500000 -100.000000 ");
  BOOST_TEST(row({"x", "text", DType::Int32, {}, {}}, "") == "");
  BOOST_TEST(row({"x", "text", DType::Int32, {}, {}}, "3 1.5 4")
                 .ends_with("data.ragged.x: in \"3 1.5 4\": \"1.5\" is not a number of type int32"));
  for (const std::string text : {"2147483648", "1 x", "0x1", "+", "nan"})
    BOOST_TEST(row({"x", "text", DType::Int32, {}, {}}, text).find("is not a number") != std::string::npos,
               text);
  for (const std::string text : {"nan", "inf", "1e999", "1..2"})
    BOOST_TEST(row({"x", "text", DType::Double, {}, {}}, text).find("is not a number") != std::string::npos,
               text);
}

BOOST_AUTO_TEST_CASE(words_are_standardized) {
  RaggedColumn column{.name = "x",
                      .from = "text",
                      .vocabulary = {},
                      .feature = {},
                      .words = {"good", "dont", "\u00e9t\u00e9", "don't"}};
  const std::string text = " Good, DON'T -- \u00c9T\u00c9!";
  BOOST_TEST(row(column, text) == "4 4 4 4 ");
  column.standardize = data::Standardize::Lower;
  BOOST_TEST(row(column, text) == "4 3 4 4 ");
  column.standardize = data::Standardize::LowerWithoutPunctuation;
  BOOST_TEST(row(column, text) == "0 1 2 ");
}

BOOST_AUTO_TEST_CASE(a_long_row_loses_its_last_elements) {
  RaggedColumn column{.name = "x", .from = "text", .vocabulary = {}, .feature = {}, .max_length = 2};
  BOOST_TEST(row(column, "3 4 5 6") == "3 4 ");
  BOOST_TEST(row(column, "3") == "3 ");
  BOOST_TEST(row(column, "") == "");
  write_lists();
  const auto loaded = load(lists("ids = { max_length = 1 }"));
  BOOST_REQUIRE_MESSAGE(loaded.ok(), loaded.status().text());
  BOOST_TEST(rows_of(test::all_samples(*loaded->train), "ids").starts_with("|1|2|3||5|6|7||9|"));
}

BOOST_AUTO_TEST_CASE(a_row_has_the_ids_of_words) {
  memory.write("first", "a\nlong\r\n");
  memory.write("second", "film");
  const std::vector<std::string> files = {"first", "second"};
  BOOST_TEST(row({"x", "text", DType::Int32, files, {}}, "a  long\tlong film, film Film") == "0 1 1 3 2 3 ");
  BOOST_TEST(value_or_throw(data::Vocabulary::read(memory, files)).size() == 3);
  BOOST_TEST(row({"x", "text", DType::Float, files, {}}, "a").find("elements cannot be float") !=
             std::string::npos);
  memory.write("second", "film\n\n");
  BOOST_TEST(row({"x", "text", DType::Int32, files, {}}, "a").find("second: row 2: a line") !=
             std::string::npos);
  memory.write("second", "long");
  BOOST_TEST(row({"x", "text", DType::Int32, files, {}}, "a")
                 .find("second: row 1: the word 'long' is there twice") != std::string::npos);
  BOOST_TEST(row({"x", "text", DType::Int32, {"none"}, {}}, "a").find("none") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_row_has_the_values_of_a_feature) {
  const RaggedColumn column{"x", "image", DType::Int32, {}, "ids"};
  BOOST_TEST(row(column, example({{"ids", {3, 17, 4}}})) == "3 17 4 ");
  BOOST_TEST(row(column, example({{"others", {3}}})) == "");
  BOOST_TEST(row(column, "") == "");
  BOOST_TEST(row(column, "3 17 4").find("is not an Example") != std::string::npos);
  BOOST_TEST(
      row(column, bytes_field(1, bytes_field(1, bytes_field(1, "ids") +
                                                    bytes_field(2, bytes_field(1, bytes_field(1, "a"))))))
          .find("has string; strings need a vocabulary") != std::string::npos);
  BOOST_TEST(
      row(column,
          bytes_field(
              1, bytes_field(1, bytes_field(1, "ids") +
                                    bytes_field(2, bytes_field(2, bytes_field(1, std::string(4, '\0')))))))
          .find("has floats; expected numbers of type int32") != std::string::npos);
  memory.write("words", "a\nb\n");
  const RaggedColumn words{"x", "image", DType::Int32, {"words"}, "ids"};
  const std::string list = bytes_field(1, bytes_field(1, "b") + bytes_field(1, "c d") + bytes_field(1, "a"));
  BOOST_TEST(row(words, bytes_field(1, bytes_field(1, bytes_field(1, "ids") + bytes_field(2, list)))) ==
             "1 2 0 ");
  BOOST_TEST(row(words, example({{"ids", {3}}})).find("has int64; a vocabulary needs strings") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(batches_and_shards_have_the_rows_of_their_samples) {
  write_lists();
  for (const std::string read : {"whole", "stream"}) {
    const auto loaded = load(lists(), {"data.read=" + read});
    BOOST_REQUIRE_MESSAGE(loaded.ok(), loaded.status().text());
    BOOST_TEST(loaded->train->columns().columns().size() == 2u);  // of label and ids
    BOOST_TEST(loaded->train->columns().find("ids")->signature() == "int32[0]");
    const auto batches = loaded->train->batches(8, 1, false);
    BOOST_TEST(batches->per_epoch() == 3);
    const data::Dataset batch = value_or_throw(batches->at(0));
    BOOST_TEST(rows_of(batch, "ids") == "|1|2 2|3 3 3||5|6 6|7 7 7|");
    const auto shards = data::shards(batch, 3);
    BOOST_TEST(rows_of(shards[1].data, "ids") == "2 2|3 3 3||");
    BOOST_TEST(elements<int64_t>(*shards[2].data.find("ids_splits")) == std::vector<int64_t>({0, 1, 3, 6}),
               boost::test_tools::per_element());
    BOOST_TEST(rows_of(value_or_throw(batches->at(2)), "ids") == "|17|18 18|19 19 19|");
  }
}

BOOST_AUTO_TEST_CASE(shuffled_epochs_have_every_row_with_its_label) {
  write_lists();
  for (const std::string read : {"whole", "stream"}) {
    const auto loaded = value_or_throw(load(lists(), {"data.read=" + read}));
    const auto batches = loaded.train->batches(20, 1, true);
    const data::Dataset epoch = value_or_throw(batches->at(1));
    const auto labels = elements<int32_t>(*epoch.find("label"));
    std::vector<int32_t> found;
    for (int64_t i = 0; i < 20; ++i) {
      const auto row = elements<int32_t>(*epoch.slice(i, i + 1).find("ids"));
      if (row.empty()) continue;
      BOOST_TEST(row.size() == static_cast<size_t>(row[0] % 4));
      BOOST_TEST(labels[static_cast<size_t>(i)] == row[0] % 3);
      found.push_back(row[0]);
    }
    BOOST_TEST(!std::ranges::is_sorted(found));
    std::ranges::sort(found);
    BOOST_TEST(found == std::vector<int32_t>({1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19}),
               boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(the_features_of_a_text_file_are_there_if_they_are_asked_for) {
  write_lists();
  const auto loaded = value_or_throw(load(lists(), {"data.inputs={x={from='image'}}"}));
  BOOST_TEST(test::all_samples(*loaded.train).find("x")->signature() == "float[20,1]");
}

BOOST_AUTO_TEST_CASE(rows_may_be_of_strings_that_expressions_compute) {
  write_lists();
  const auto loaded = load(
      lists("ids = { from = 'kept' }"),
      {"data.map={kept=\"where(equal(label, 0), text, '7')\"}", "data.augment={kept=\"identity(kept)\"}"});
  BOOST_REQUIRE_MESSAGE(loaded.ok(), loaded.status().text());
  const data::Dataset batch = value_or_throw(loaded->train->batches(5, 0, false)->at(0));
  BOOST_TEST(rows_of(batch, "ids") == "|7|7|3 3 3|7|");
}

BOOST_AUTO_TEST_CASE(records_of_examples_become_rows) {
  folder.write("records", tf_record(example({{"ids", {3, 17, 4}}})) + tf_record(example({{"ids", {}}})) +
                              tf_record(example({{"ids", {9}}})));
  const std::string text = "[data]\nformat = 'tfrecord'\ntrain = '" + folder.path() + R"toml(/records'
batch = 2
[data.ragged]
ids = { from = "image", feature = "ids" }
[model]
layers = [{ type = "embedding", input = "ids", rows = 20, units = 2 }]
[model.graph]
loss = "mean(nn.row_mean(output, ids_splits))"
[train]
loss = "loss"
optimizer = { type = "sgd", lr = 0.1 }
max_epochs = 1
)toml";
  for (const std::string read : {"whole", "stream"}) {
    const auto loaded = load(text, {"data.read=" + read});
    BOOST_REQUIRE_MESSAGE(loaded.ok(), loaded.status().text());
    BOOST_TEST(rows_of(test::all_samples(*loaded->train), "ids") == "3 17 4||9|");
  }
}

BOOST_AUTO_TEST_CASE(a_vocabulary_is_made_of_the_words_of_the_samples) {
  folder.write("lists.csv", "label;numbers;weight\n0;b  c b;1\n1;\"a c\tb\";1\n2;;1\n");
  const std::string text = lists("ids = { most_words = 2 }");
  const auto fitted = value_or_throw(fit_data(disk, value_or_throw(config::parse(text))));
  BOOST_TEST(fitted == std::vector<std::string>(
                           {"data.features=[\"weight\"]", "data.ragged.ids.words=[\"b\", \"c\"]"}),
             boost::test_tools::per_element());
  for (const std::string read : {"whole", "stream"}) {
    const auto loaded = value_or_throw(load(text, {fitted[0], fitted[1], "data.read=" + read}));
    BOOST_TEST(rows_of(test::all_samples(*loaded.train), "ids") == "0 1 0|2 1 0||");  // a is another word
  }
  folder.write("lists.csv", "label;numbers;weight\n0;B,  c b!;1\n1;\"a c\tb\";1\n");
  const std::string lower = lists("ids = { most_words = 2, standardize = 'lower_and_strip_punctuation' }");
  BOOST_TEST(value_or_throw(fit_data(disk, value_or_throw(config::parse(lower)))).back() ==
             "data.ragged.ids.words=[\"b\", \"c\"]");
  const auto mistakes = [&](const std::string& ragged) { return config::mistakes(lists(ragged)); };
  BOOST_TEST(mistakes("ids = { standardize = 'lower' }").find("only for texts that are divided into words") !=
             std::string::npos);
  BOOST_TEST(
      mistakes("ids = { most_words = 2, vocabulary = 'x' }").find("one of vocabulary and most_words") !=
      std::string::npos);
  BOOST_TEST(mistakes("ids = { most_words = 2, feature = 'x' }").find("not with feature") !=
             std::string::npos);
  BOOST_TEST(mistakes("ids = { most_words = 2, dtype = 'float' }").find("int32 or int64") !=
             std::string::npos);
  folder.write("lists.csv", "label;numbers;weight\n0; ;1\n");
  BOOST_TEST(fit_data(disk, value_or_throw(config::parse(text))).status().text() ==
             "data.ragged.ids.most_words: the texts to train on have no word");
}

BOOST_AUTO_TEST_CASE(a_trained_model_keeps_its_vocabulary) {
  const Arguments words = {"--set", "data.ragged.words={from='text',most_words=144}"};
  Program trained(test::troupe_program(), run("train", "words", words, "reviews"));
  BOOST_TEST(trained.end() == 0, trained.output());
  const std::string model = folder.path() + "/words";
  Program predicted(test::troupe_program(),
                    {"predict", model, folder.write("new.tsv", "good\tnot dull but unheard\n")});
  BOOST_TEST(predicted.end() == 0, predicted.output());
  BOOST_TEST(predicted.output() == "class\ngood\n");
}

BOOST_AUTO_TEST_CASE(wrong_columns_are_refused) {
  write_lists();
  const auto about = [&](const std::string& ragged, const std::vector<std::string>& set = {}) {
    return config::mistakes(lists(ragged), set);
  };
  BOOST_TEST(about("ids = {}") == "");
  BOOST_TEST(about("ids = { from = 'txet' }")
                 .find("data.ragged.ids: the data has no column 'txet'; the nearest is 'text'") !=
             std::string::npos);
  BOOST_TEST(about("ids = { from = 'label' }")
                 .find("the samples of column 'label' are int32[?]; expected a string") != std::string::npos);
  BOOST_TEST(
      about("ids = { vocabulary = 'words', dtype = 'float' }").find("ids of words are int32 or int64") !=
      std::string::npos);
  BOOST_TEST(about("ids = {}\nlabel = {}").find("data.ragged.label: 'label' names two columns") !=
             std::string::npos);
  BOOST_TEST(about("ids = {}\nids_splits = {}").find("'ids_splits' names two columns") != std::string::npos);
  BOOST_TEST(about("ids = {}", {"data.text=nothing", "data.header=false"}).find("only with header = true") !=
             std::string::npos);
  const auto failure = [&](const std::vector<std::string>& set) { return load(lists(), set).status(); };
  BOOST_TEST(failure({"data.text='label'"}).text().find("is the label and the text") != std::string::npos);
  BOOST_TEST(failure({"data.text=7"}).text().find("data.text = 7, but the columns have the numbers 0 to 2") !=
             std::string::npos);
  folder.write("lists.csv", "label;numbers;weight\n1;2 x;3\n");
  BOOST_TEST((failure({}).code() == Code::DataLoss));
  BOOST_TEST(failure({}).text().find("data.ragged.ids: in \"2 x\": \"x\" is not a number") !=
             std::string::npos);
  const auto stream = value_or_throw(load(lists(), {"data.read=stream"}));
  BOOST_TEST((stream.train->batches(1, 0, false)->at(0).status().code() == Code::DataLoss));
}

BOOST_AUTO_TEST_CASE(rows_are_computed_by_layers) {
  write_lists();
  const auto about = [&](const std::string& loss) {
    return config::mistakes(lists(), {"model.graph.loss=" + loss});
  };
  const std::string x = "cast(ids, 'float'), ids_splits";
  for (const std::string layer : {"row_sum", "row_mean", "row_max", "row_min", "row_softmax"})
    BOOST_TEST(about("mean(nn." + layer + "(" + x + ") * w)") == "");
  BOOST_TEST(about("mean(cast(nn.row_lengths(ids, ids_splits), 'float') * w)") == "");
  BOOST_TEST(about("mean(nn.row_spread(nn.row_max(" + x + "), ids, ids_splits) * w)") == "");
  BOOST_TEST(about("mean(nn.row_sum(w))").find("nn.row_sum: expected tensors as the first 2 arguments") !=
             std::string::npos);
  BOOST_TEST(about("mean(nn.row_spread(ids, ids_splits))").find("tensors as the first 3 arguments") !=
             std::string::npos);
  BOOST_TEST(about("mean(nn.row_sum(w, w))").find("expected int32 or int64") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(reviews_are_understood_without_padding) {
  const auto result = train_reviews({});
  BOOST_TEST(result.evaluation.at(1).first == "valid/accuracy");
  BOOST_TEST(result.evaluation.at(1).second > 0.97);
}

BOOST_AUTO_TEST_CASE(weights_do_not_depend_on_tasks_or_how_files_are_read) {
  const std::vector<std::string> brief = {"--set", "train.max_steps=20",
                                          "--set", "data.read=stream",
                                          "--set", "train.replication={mode='sync',shards=3}"};
  auto parted = brief;
  parted.insert(parted.end(), {"--local", "ps=1,worker=2"});
  Program together(test::troupe_program(), run("train", "together", brief, "reviews"));
  BOOST_TEST(together.end() == 0, together.output());
  Program apart(test::troupe_program(), run("train", "apart", parted, "reviews"));
  BOOST_TEST(apart.end() == 0, apart.output());
  check_equal(weights("apart"), weights("together"));
}

BOOST_AUTO_TEST_CASE(commands_describe_ragged_columns) {
  Program described(test::troupe_program(), {"data", reviews, "--json"});
  BOOST_TEST(described.end() == 0, described.output());
  BOOST_TEST(described.output().find("\"shortest\":") != std::string::npos, described.output());
  Program shown(test::troupe_program(), {"data", reviews});
  BOOST_TEST(shown.end() == 0, shown.output());
  BOOST_TEST(shown.output().find("ragged: samples have 3 to ") != std::string::npos, shown.output());
  Program checked(test::troupe_program(), {"check", reviews});
  BOOST_TEST(checked.end() == 0, checked.output());
  BOOST_TEST(checked.output().find("the size of the ragged column 'words' differs") != std::string::npos,
             checked.output());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::train::ragged_data_test
