// Tables with columns of several types: what is read of them, what is computed from the samples to train on, what the model gets,
// and runs of the program that train on such tables.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>
#include <sstream>

#include "apps/data/csv/json_rows.h"
#include "apps/data/csv/timestamp.h"
#include "apps/train/data/fit_data.h"
#include "apps/train/data/train_data.h"
#include "kernels/core/kernel.h"
#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"
#include "tests/support/memory_disk.h"
#include "tests/support/project_files.h"

namespace troupe::table_test {
namespace {

using test::Program;
using Arguments = test::DigitsRuns::Arguments;
using Json = nlohmann::json;

const std::string source = test::project_path("examples/");

const std::string people =
    "Name;Age;City;Since;Height (cm);Weight;Kind\n"
    "\"Ann \"\"A\"\"; the first\";20;Rome;1970-01-05;160;50;a\n"
    "Bob;NA;Oslo;1970-01-06 06:00:00;180;70;b\n"
    "Cy;40;Rome;1970-01-05T12:00:00Z;170;?;a\n"
    "Di;30;;0;170;60;b\n";

std::string run_file(const std::string& columns, const std::string& more = {}) {
  return "[data]\nformat = \"csv\"\ntrain = [\"people.csv\"]\nheader = true\ndelimiter = \";\"\nlabel = "
         "\"kind\"\nbatch = 4\n"
         "shuffle = false\n" +
         more + "[data.columns]\n" + columns +
         "[model.graph]\nloss = \"mean(cast(label, 'float'))\"\n[train]\nloss = \"loss\"\nmax_steps = 1\n"
         "optimizer = { type = \"sgd\", lr = 1.0 }\n";
}

struct Table {
  explicit Table(std::string text = people) { disk.write("/people.csv", text); }

  Result<config::RunConfig> parse(const std::string& text, const std::vector<std::string>& options = {}) {
    return config::parse_run_config(text, "run.toml", "/", options, make_op_library()->ops);
  }
  /// Returns the samples as the model gets them.
  Result<data::Dataset> read(const std::string& text) {
    TROUPE_ASSIGN(auto config, parse(text));
    TROUPE_ASSIGN(const auto settings, train::fit_data(disk, config));
    TROUPE_ASSIGN(config, parse(text, settings));
    TROUPE_ASSIGN(const auto samples, train::load_data(disk, config));
    return samples.train->batches(100, 0, false)->at(0);
  }
  std::vector<std::string> fitted(const std::string& text) {
    return value_or_throw(train::fit_data(disk, value_or_throw(parse(text))));
  }
  std::string failure(const std::string& text) { return read(text).status().text(); }

  test::MemoryDisk disk;
};

std::vector<double> numbers(const data::Dataset& samples, const std::string& column) {
  const Tensor* const values = samples.find(column);
  BOOST_TEST_REQUIRE(values, "there is a column " << column);
  std::vector<double> out;
  for (size_t i = 0; i < static_cast<size_t>(values->elements()); ++i)
    out.push_back(values->dtype() == DType::Int32 ? static_cast<double>(values->as<int32_t>()[i])
                                                  : static_cast<double>(values->as<float>()[i]));
  return out;
}

void check_numbers(const std::vector<double>& found, const std::vector<double>& expected) {
  BOOST_TEST_REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    BOOST_TEST(std::abs(found[i] - expected[i]) < 1e-6, i << ": " << found[i]);
}

bool says(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

BOOST_AUTO_TEST_SUITE(tables)

BOOST_AUTO_TEST_CASE(numbers_are_filled_and_normalized) {
  Table table;
  const auto samples = value_or_throw(
      table.read(run_file("age = { type = \"number\", missing = \"mean\", normalize = \"standard\" }\n"
                          "weight = { type = \"number\", missing = \"median\", normalize = \"range\" }\n")));
  const double one = 1 / std::sqrt(2.0 / 3);  // 20, 40 and 30 have the standard deviation 10 sqrt(2/3)
  check_numbers(numbers(samples, "features"), {-one, 0, 0, 1, one, 0.5, 0, 0.5});
  check_numbers(numbers(samples, "label"), {0, 1, 0, 1});
}

BOOST_AUTO_TEST_CASE(numbers_far_from_zero_are_normalized_with_all_digits) {
  std::string text = "At;Kind\n";
  for (int i = 0; i < 1000; ++i) text += std::to_string(1'700'000'000 + i) + ";a\n";
  Table table(text);
  for (const bool is_range : {false, true}) {
    const std::string file = run_file("at = { type = \"number\", missing = \"mean\", normalize = \"" +
                                      std::string(is_range ? "range" : "standard") + "\" }\n");
    auto config = value_or_throw(table.parse(file));
    config = value_or_throw(table.parse(file, value_or_throw(train::fit_data(table.disk, config))));
    BOOST_TEST(name(config.data.columns[0].dtype()) == "double");
    const auto set = value_or_throw(train::load_data(table.disk, config)).train;
    const auto samples = value_or_throw(set->batches(1000, 0, false)->at(0));
    BOOST_TEST(samples.find("features")->signature() == "float[1000,1]");
    const auto features = samples.find("features")->as<float>();
    const double center = is_range ? 0 : 499.5, spread = is_range ? 999 : std::sqrt((1e6 - 1) / 12);
    for (size_t i = 0; i < features.size(); ++i)
      BOOST_REQUIRE_SMALL(features[i] - (static_cast<double>(i) - center) / spread, 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(only_numbers_far_from_zero_are_doubles) {
  data::TableColumn column{.name = "x", .normalization = data::Normalization::Standard};
  BOOST_TEST(name(column.dtype()) == "double");  // it is not fitted
  column.center = {20, -1000};
  column.spread = {2, 1};
  BOOST_TEST(name(column.dtype()) == "float");
  column.spread = {2, 0.5};
  BOOST_TEST(name(column.dtype()) == "double");
  BOOST_TEST(name(column.label_dtype()) == "float");
  column.normalization = data::Normalization::None;
  BOOST_TEST(name(column.dtype()) == "float");
}

BOOST_AUTO_TEST_CASE(several_columns_are_one_vector) {
  Table table;
  const auto samples = value_or_throw(table.read(run_file(
      "size = { type = \"number\", columns = [\"[HW]eight*\"], missing = \"value\", fill = [0.5] }\n")));
  check_numbers(numbers(samples, "features"), {160, 50, 180, 70, 170, 0.5, 170, 60});
}

BOOST_AUTO_TEST_CASE(categories_are_vectors_or_indices) {
  Table table;
  const auto vectors = value_or_throw(table.read(run_file("city = \"category\"\n")));
  check_numbers(numbers(vectors, "features"), {0, 1, 1, 0, 0, 1, 0, 0});  // Oslo, Rome
  const auto indices = value_or_throw(table.read(
      run_file("city = { type = \"category\", encode = \"index\", values = [\"Rome\", \"Paris\"] }\n")));
  check_numbers(numbers(indices, "city"), {0, 2, 0, 2});  // 2: neither
}

BOOST_AUTO_TEST_CASE(stretches_of_a_series_are_samples) {
  Table table("Day,Kind\n1,10\n2,20\n3,30\n4,40\n5,50\n6,60\n");
  const auto file = [](const std::string& window, const std::string& label, const std::string& more = {}) {
    return "[data]\nformat = \"csv\"\ntrain = [\"people.csv\"]\nheader = true\nshuffle = false\nbatch = "
           "4\nlabel = " +
           label + "\nwindow = { " + window + " }\n" + more +
           "[data.columns]\nday = { type = \"number\", normalize = \"range\" }\n"
           "[model.graph]\nloss = \"mean(features)\"\n[train]\nloss = \"loss\"\nmax_steps = 1\n"
           "optimizer = { type = \"sgd\", lr = 1.0 }\n";
  };
  const auto samples = value_or_throw(table.read(file("length = 3, ahead = 2", "\"kind\"")));
  BOOST_TEST(samples.find("features")->signature() == "float[2,3,1]");
  check_numbers(numbers(samples, "features"), {0, 0.2, 0.4, 0.2, 0.4, 0.6});
  check_numbers(numbers(samples, "label"), {50, 60});
  // The labels are values of the series itself, which are normalized only as features.
  const auto itself = value_or_throw(table.read(file("length = 4, label = \"day\"", "\"none\"")));
  check_numbers(numbers(itself, "label"), {5, 6});
  BOOST_TEST(itself.find("label")->signature() == "float[2]");

  // The end of the series is held out: its two labels, and the samples before that they need. The others are fitted to.
  auto config = value_or_throw(table.parse(file("length = 3", "\"kind\"", "valid = { split = 0.33 }\n")));
  const auto settings = value_or_throw(train::fit_data(table.disk, config));
  config =
      value_or_throw(table.parse(file("length = 3", "\"kind\"", "valid = { split = 0.33 }\n"), settings));
  const auto both = value_or_throw(train::load_data(table.disk, config));
  const auto held_out = value_or_throw(both.valid->batches(9, 0, false)->at(0));
  check_numbers(numbers(held_out, "label"), {50, 60});
  check_numbers(numbers(held_out, "features"), {1.0 / 3, 2.0 / 3, 1, 2.0 / 3, 1, 4.0 / 3});
  check_numbers(numbers(value_or_throw(both.train->batches(9, 0, false)->at(0)), "label"), {40});

  BOOST_TEST(says(table.failure(file("length = 6", "\"kind\"")),
                  "a stretch of 6 samples and the label 1 ahead need a series of 7 samples; found 6"));
  BOOST_TEST(says(table.failure(file("length = 2, label = \"day\"", "\"kind\"")),
                  "label = \"none\" in [data] leaves it out"));
  BOOST_TEST(says(table.failure(file("length = 2, label = \"days\"", "\"none\"")),
                  "there is no column 'days'; the nearest is 'day'"));
  BOOST_TEST(says(table.failure(file("length = 2", "\"kind\"", "read = \"stream\"\n")),
                  "data.window: not with data.read"));
}

BOOST_AUTO_TEST_CASE(a_stretch_lies_in_one_series) {
  Table table("Day,Place,Kind\n1,a,10\n2,a,20\n3,a,30\n4,a,40\n9,b,90\n5,c,50\n6,c,60\n7,c,70\n8,c,80\n");
  const auto file = [](const std::string& more, const std::string& type = "text") {
    return "[data]\nformat = \"csv\"\ntrain = [\"people.csv\"]\nheader = true\nshuffle = false\nbatch = 9\n"
           "label = \"kind\"\nwindow = { length = 2, series = \"place\" }\n" +
           more + "[data.columns]\nday = { type = \"number\" }\nplace = \"" + type +
           "\"\n[model.graph]\nloss = \"mean(features)\"\n[train]\nloss = \"loss\"\nmax_steps = 1\n"
           "optimizer = { type = \"sgd\", lr = 1.0 }\n";
  };
  const auto samples = value_or_throw(table.read(file("")));
  check_numbers(numbers(samples, "features"), {1, 2, 2, 3, 5, 6, 6, 7});
  check_numbers(numbers(samples, "label"), {30, 40, 70, 80});
  // The end of each series is held out, with the samples before that its labels need.
  const auto both = value_or_throw(
      train::load_data(table.disk, value_or_throw(table.parse(file("valid = { split = 0.3 }\n")))));
  check_numbers(numbers(value_or_throw(both.train->batches(9, 0, false)->at(0)), "label"), {30, 70});
  check_numbers(numbers(value_or_throw(both.valid->batches(9, 0, false)->at(0)), "label"), {40, 80});
  BOOST_TEST(
      says(Table("Day,Place,Kind\n1,a,1\n2,b,2\n3,a,3\n").failure(file("")),
           "samples; found 1; a series is rows below each other with the same 'place', but 'a' is in several "
           "places: sort the rows by 'place'"));
  BOOST_TEST(says(table.failure(file("", "category")), "data.columns has no column 'place' of type text"));
}

BOOST_AUTO_TEST_CASE(classes_are_balanced) {
  Table table("Age,Kind\n1,b\n2,a\n3,b\n4,b\n");
  const auto config = value_or_throw(table.parse(
      "[data]\nformat = \"csv\"\ntrain = [\"people.csv\"]\nheader = true\nlabel = \"kind\"\nbatch = 4\n"
      "[data.columns]\nage = \"number\"\n[model]\nlayers = [{ type = \"dense\", units = 2 }]\n"
      "[train]\nloss = \"softmax_cross_entropy\"\nclass_weights = \"balanced\"\nmax_steps = 1\n"
      "optimizer = { type = \"sgd\", lr = 1.0 }\n"));
  const auto settings = value_or_throw(train::fit_data(table.disk, config));
  BOOST_TEST(settings == (std::vector<std::string>{"data.label_names=[\"a\", \"b\"]",
                                                   "train.class_weights=[2.0, 0.6666666666666666]"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_most_frequent_values_are_kept) {
  Table table;
  BOOST_TEST(table.fitted(run_file("city = { type = \"category\", max_values = 1 }\n")) ==
                 (std::vector<std::string>{"data.label_names=[\"a\", \"b\"]",
                                           "data.columns.city.values=[\"Rome\"]"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(times_have_phases) {
  Table table;
  const auto samples = value_or_throw(
      table.read(run_file("since = { type = \"timestamp\", parts = [\"hour\", \"weekday\"] }\n")));
  const double week = 2 * std::numbers::pi / 7;
  check_numbers(numbers(samples, "features"),
                {0, 1, 0, 1,                                          // Monday, midnight
                 1, 0, std::sin(1.25 * week), std::cos(1.25 * week),  // Tuesday, six o'clock
                 0, -1, std::sin(0.5 * week), std::cos(0.5 * week),   // Monday, noon
                 0, 1, std::sin(3 * week), std::cos(3 * week)});      // Thursday, midnight
}

BOOST_AUTO_TEST_CASE(a_time_can_be_a_number) {
  Table table;
  const auto samples = value_or_throw(table.read(
      run_file("since = { type = \"timestamp\", parts = \"time\", center = [0], spread = [86400] }\n")));
  check_numbers(numbers(samples, "features"), {4, 5.25, 4.5, 0});
}

BOOST_AUTO_TEST_CASE(texts_may_have_quotes_and_delimiters) {
  Table table;
  const auto samples = value_or_throw(table.read(run_file("name = \"text\"\n")));
  BOOST_TEST(samples.find("name")->as<std::string>()[0] == "Ann \"A\"; the first");
}

BOOST_AUTO_TEST_CASE(images_are_read_from_the_paths_in_the_table) {
  Table table("picture,kind\npictures/1.png,a\n/pictures/2.png,b\n");
  table.disk.write("/pictures/1.png", "one");
  table.disk.write("/pictures/2.png", "two");
  const std::string text = run_file("picture = \"image\"\n");
  const auto samples = value_or_throw(table.read(std::string(text).replace(text.find(";"), 1, ",")));
  BOOST_TEST(samples.find("picture")->as<std::string>()[0] == "one");
  BOOST_TEST(samples.find("picture")->as<std::string>()[1] == "two");
}

BOOST_AUTO_TEST_CASE(only_the_samples_to_train_on_count) {
  std::string text = "x;kind\n";
  for (int i = 0; i < 100; ++i) text += std::to_string(i) + ";a\n";
  Table table(text);
  const std::string file =
      run_file("x = { type = \"number\", normalize = \"standard\" }\n", "valid = { split = 0.5 }\n");
  const auto config = value_or_throw(table.parse(file, table.fitted(file)));
  const auto samples = value_or_throw(train::load_data(table.disk, config));
  double sum = 0, squares = 0;
  for (const double value :
       numbers(value_or_throw(samples.train->batches(100, 0, false)->at(0)), "features")) {
    sum += value;
    squares += value * value;
  }
  BOOST_TEST(std::abs(sum) < 1e-4);
  BOOST_TEST(std::abs(squares - 50) < 1e-3);
}

BOOST_AUTO_TEST_CASE(streams_have_the_same_samples) {
  Table table;
  const std::string columns =
      "age = { type = \"number\", missing = \"mean\", normalize = \"standard\" }\ncity = \"category\"\n";
  const auto whole = value_or_throw(table.read(run_file(columns)));
  const auto streamed = value_or_throw(table.read(run_file(columns, "read = \"stream\"\n")));
  check_numbers(numbers(streamed, "features"), numbers(whole, "features"));
}

BOOST_AUTO_TEST_CASE(rows_without_a_label_are_left_out_if_asked_to) {
  Table table("a;kind\n1;x\n2;\n3;NA\n4;y\n");
  for (const char* const more : {"unlabelled = \"skip\"\n", "unlabelled = \"skip\"\nread = \"stream\"\n"}) {
    const auto samples = value_or_throw(table.read(run_file("a = \"number\"\n", more)));
    check_numbers(numbers(samples, "features"), {1, 4});
    check_numbers(numbers(samples, "label"), {0, 1});
  }
  const std::string named = "unlabelled = \"skip\"\nlabel_names = [\"NA\", \"x\", \"y\"]\n";
  check_numbers(numbers(value_or_throw(table.read(run_file("a = \"number\"\n", named))), "label"), {1, 0, 2});
}

BOOST_AUTO_TEST_CASE(mistakes_are_explained) {
  Table table;
  BOOST_TEST(says(table.failure(run_file("age = \"number\"\n")),
                  "/people.csv: row 3, column 2 ('Age'): 'NA' is not a finite number"));
  BOOST_TEST(says(table.failure(run_file("agee = \"number\"\n")),
                  "there is no column 'agee'; there are 'Name', 'Age', 'City'"));
  BOOST_TEST(
      says(table.failure(run_file("city = \"category\"\ntown = { type = \"text\", columns = \"city\" }\n")),
           "data.columns.town: column 'City' belongs to data.columns.city"));
  BOOST_TEST(says(table.failure(run_file("weigth = \"number\"\n")), "the nearest is 'Weight'"));
  BOOST_TEST(says(table.failure(run_file("city = \"timestamp\"\n")), "'Rome' is not a time"));
  BOOST_TEST(says(Table("a;kind\n1;x\n2;\n").failure(run_file("a = \"number\"\n")),
                  "data.label is missing in 1 of its samples, first in sample 2"));
  BOOST_TEST(says(table.failure(run_file("kind = \"category\"\n")), "is the label, which data.label names"));
  BOOST_TEST(says(table.failure(run_file("age = \"nummer\"\n")), "\"nummer\" is unknown"));
  BOOST_TEST(says(table.failure(run_file("a = { type = \"text\", columns = [\"age\", \"name\"] }\n")),
                  "only numbers can have several columns"));
  BOOST_TEST(
      says(table.failure(run_file("age = { type = \"number\", missing = \"value\" }\n")), "needs fill"));
  BOOST_TEST(says(table.failure(run_file("since = { type = \"timestamp\", parts = \"minute\" }\n")),
                  "\"minute\" is unknown"));
  BOOST_TEST(
      says(table.failure(run_file("age = { type = \"number\", missing = \"mean\" }\n", "scale = 0.5\n")),
           "data.scale: not with data.columns"));
}

BOOST_AUTO_TEST_CASE(names_as_the_file_has_them_go_before_other_spellings) {
  const std::string file = "A;a;a b;a_b;A.B;Kind;kind\n1;2;3;4;5;y;x\n6;7;8;9;10;x;x\n";
  const auto check = [&](const std::string& columns, const std::vector<double>& expected) {
    Table table(file);
    check_numbers(numbers(value_or_throw(table.read(run_file(columns))), "features"), expected);
  };
  check("a = \"number\"\n", {2, 7});
  check("b = { type = \"number\", columns = [\"A\", \"a_b\"] }\n", {1, 4, 6, 9});
  Table table(file);
  BOOST_TEST(
      says(table.failure(run_file("x = { type = \"number\", columns = \"A_B\" }\n")),
           "data.columns.x: 'A_B' may mean the column 'a b' or 'a_b'; write the name as the file has it"));
  // The label is "kind", which has one class.
  const auto samples = value_or_throw(table.read(run_file("a = \"number\"\n")));
  BOOST_TEST(samples.find("label")->as<int32_t>()[0] == samples.find("label")->as<int32_t>()[1]);
}

BOOST_AUTO_TEST_CASE(names_of_members_go_before_other_spellings) {
  const auto read = [](const std::string& text, const std::string& columns) {
    Table table;
    table.disk.write("/people.jsonl", text);
    std::string file = run_file(columns);
    for (const auto& [from, to] : {std::pair{"people.csv", "people.jsonl"}, {"delimiter = \";\"\n", ""}})
      file.replace(file.find(from), std::string(from).size(), to);
    return table.read(file);
  };
  const std::string lines =
      "{\"A\": 1, \"Kind\": 0, \"a\": 2, \"kind\": 1}\n{\"a\": 4, \"A\": 3, \"kind\": 1, \"Kind\": 0}\n";
  const auto samples = value_or_throw(read(lines, "a = \"number\"\n"));
  check_numbers(numbers(samples, "features"), {2, 4});
  BOOST_TEST(samples.find("label")->as<int32_t>()[1] == 1);
  // Names that are given, as for the lines that are predicted.
  data::JsonRows given(';', {"a", "x-y"}, true);
  BOOST_TEST(value_or_throw(given.row("{\"A\": 1, \"a\": 2, \"X Y\": 3}")) == "2;3;1");
  data::JsonRows several(';', {"x-y"}, true);
  BOOST_TEST(says(several.row("{\"x y\": 1, \"X_Y\": 2}").status().text(),
                  "the members 'x y' and 'X_Y' may both be the column 'x-y'"));
  const auto ambiguous =
      read("{\"x y\": 1, \"X_Y\": 2, \"kind\": 1}\n", "x = { type = \"number\", columns = [\"x-y\"] }\n");
  BOOST_TEST(says(ambiguous.status().text(), "may mean the column"), ambiguous.status().text());
}

BOOST_AUTO_TEST_CASE(texts_must_be_utf8) {
  const auto failure_of = [](const std::string& text, const std::string& columns,
                             const std::string& more = {}) {
    return Table(text).failure(run_file(columns, more));
  };
  const std::string city = "city = \"category\"\n", note = "city = \"text\"\n",
                    advice =
                        " is no text in UTF-8; if the file is in Latin-1, `iconv -f LATIN1 -t UTF-8` "
                        "converts it";
  const std::string file = "City;Kind\nRome;a\nZ\xfcrich;b\n";
  const std::string place = "/people.csv: row 3, column 1 ('City'): 'Z\\xfcrich'";
  BOOST_TEST(failure_of(file, city) == place + advice);
  BOOST_TEST(failure_of(file, city, "read = \"stream\"\n") == place + advice);
  BOOST_TEST(failure_of(file, note) == place + advice);
  BOOST_TEST(says(failure_of("City;Kind\nRome;\xe9\nOslo;b\n", city),
                  "/people.csv: row 2, column 2 ('Kind'): '\\xe9'" + advice));
  BOOST_TEST(failure_of("City;Kind\nRome;a\nOslo;\xe9\n", city) ==
             "/people.csv: row 3, column 2 ('Kind'): '\\xe9'" + advice);
  BOOST_TEST(says(failure_of("Stra\xdf"
                             "e 1;Kind\n1;a\n",
                             "x = { type = \"number\", columns = [\"*1\"] }\n"),
                  "'Stra\\xdfe 1'" + advice));
  BOOST_TEST(failure_of("City;Kind\nZ\xc3\xbcrich;a\nRome;b\n", city) == "");
}

BOOST_AUTO_TEST_CASE(the_order_of_columns_in_a_file_does_not_matter) {
  Table table("kind;b;a\nx;1;2\n");
  table.disk.write("/other.csv", "a;b;kind\n4;3;x\n");
  const std::string text = run_file("a = \"number\"\nb = \"number\"\n");
  const auto samples = value_or_throw(table.read(
      std::string(text).replace(text.find("[\"people.csv\"]"), 14, "[\"people.csv\", \"other.csv\"]")));
  check_numbers(numbers(samples, "features"), {2, 1, 4, 3});
}

BOOST_AUTO_TEST_CASE(times_in_text) {
  BOOST_TEST(*data::parse_timestamp("1970-01-02") == 86400);
  BOOST_TEST(*data::parse_timestamp("2000-02-29 12:30:05.25") == 951827405.25);
  BOOST_TEST(*data::parse_timestamp("2000-02-29T12:30:05+01:00") == 951823805);
  BOOST_TEST(*data::parse_timestamp("2000-02-29T12:30Z") == 951827400);
  BOOST_TEST(*data::parse_timestamp("-1.5") == -1.5);
  BOOST_TEST(*data::parse_timestamp("20000229") == 951782400);
  for (const double seconds : {20010229., 20000001., 99991231., 200002290., 2000022.})
    BOOST_TEST(*data::parse_timestamp(std::to_string(static_cast<int64_t>(seconds))) == seconds);
  for (const char* const wrong : {"", "x", "2001-02-29", "2000-13-01", "2000-01-01 25:00", "2000-01-01 10",
                                  "inf", "2000-01-01T10:00+", "2000-01-01 10:00 "})
    BOOST_TEST(!data::parse_timestamp(wrong), wrong);
}

BOOST_AUTO_TEST_SUITE_END()

// Runs of the program.

struct Fixture : test::DigitsRuns {
  static std::string output_of(const Arguments& arguments, int code = 0) {
    Program program(test::troupe_program(), arguments);
    BOOST_TEST(program.end() == code, program.output());
    return program.output();
  }
  Json train(const std::string& name, const Arguments& more) const {
    Arguments arguments = run("train", name, more, "penguins");
    arguments.emplace_back("--json");
    return Json::parse(output_of(arguments));
  }
};

BOOST_FIXTURE_TEST_SUITE(table_runs, Fixture)

BOOST_AUTO_TEST_CASE(a_trained_model_takes_the_columns_of_the_table) {
  const Json trained = train("whole", {});
  BOOST_TEST(trained.at("valid/accuracy").get<double>() > 0.97);
  const std::string model = folder.path() + "/whole";
  const Json scores = Json::parse(output_of({"eval", model, "--json"})).at("scores");
  BOOST_TEST(scores.at("accuracy").get<double>() == trained.at("valid/accuracy").get<double>());
  // Another order of the columns, no label, and a value that the training has not seen.
  const std::string file =
      folder.write("new.csv",
                   "sex,island,body_mass_g,flipper_length_mm,bill_depth_mm,bill_length_mm\n"
                   "male,Torgersen,3750,181,18.7,39.1\n"
                   "NA,Atlantis,5000,220,15,NA\n");
  BOOST_TEST(output_of({"predict", model, file}) == "class\nAdelie\nGentoo\n");
}

BOOST_AUTO_TEST_CASE(workers_normalize_as_one_process_does) {
  const Arguments sync = {"--set", "train.replication={mode=\"sync\",shards=2}", "--set",
                          "train.max_epochs=3"};
  const Json alone = train("alone", sync);
  Arguments shared = sync;
  for (const char* const more : {"--local", "worker=2", "--set", "data.read=stream"})
    shared.emplace_back(more);
  BOOST_TEST(alone.at("valid/loss").is_number());
  BOOST_TEST(train("shared", shared).at("valid/loss").is_number());
  shared.resize(shared.size() - 2);
  BOOST_TEST(train("whole", shared).at("valid/loss").get<double>() == alone.at("valid/loss").get<double>());
}

BOOST_AUTO_TEST_CASE(a_resumed_run_keeps_what_it_was_fitted_to) {
  std::ifstream file(source + "penguins.csv");
  std::stringstream text;
  text << file.rdbuf();
  const std::string table = folder.write("penguins.csv", text.str());
  const Arguments on_copy = {"--set", "data.train=[\"" + table + "\"]"};
  Arguments first = on_copy, second = on_copy;
  for (const char* const more : {"--set", "train.max_epochs=1"}) first.emplace_back(more);
  train("run", first);
  folder.write("penguins.csv", text.str() + "Emperor,Ross,80,30,400,40000,female,2009\n");
  for (const char* const more : {"--set", "train.max_epochs=2", "--resume", "auto"})
    second.emplace_back(more);
  BOOST_TEST(says(output_of(run("train", "run", second, "penguins"), 3),
                  "the label 'Emperor' is not in label_names"));
  folder.write("penguins.csv", text.str() + "Adelie,Ross,80,30,400,40000,female,2009\n");
  BOOST_TEST(train("run", {second.begin(), second.end()}).at("epochs") == 2);
}

/// Writes a first run file for an example's table, trains with it, and returns the result.
Json first_training(const Fixture& fixture, const std::string& table, const Arguments& more) {
  const std::string file = fixture.folder.path() + "/first.toml";
  Arguments init = {"init", source + table, "-o", file, "--force"};
  init.insert(init.end(), more.begin(), more.end());
  Fixture::output_of(init);
  return Json::parse(
      Fixture::output_of({"train", file, "--json", "--set", "run.directory=" + fixture.folder.path()}));
}

BOOST_AUTO_TEST_CASE(a_first_run_file_trains_well) {
  BOOST_TEST(first_training(*this, "iris.csv", {}).at("valid/accuracy").get<double>() > 0.9);
  BOOST_TEST(first_training(*this, "wine.csv", {}).at("valid/accuracy").get<double>() > 0.9);
  const Json penguins = first_training(*this, "penguins.csv", {"--label", "species"});
  BOOST_TEST(penguins.at("valid/accuracy").get<double>() > 0.97);
  BOOST_TEST(first_training(*this, "digits.csv", {}).at("valid/accuracy").get<double>() > 0.97);
  BOOST_TEST(first_training(*this, "linear.csv", {}).at("valid/r2").get<double>() > 0.99);
  BOOST_TEST(says(output_of({"predict", folder.path() + "/linear", folder.write("x.csv", "x1,x2\n0,0\n")}),
                  "output\n"));
}

BOOST_AUTO_TEST_CASE(a_first_run_file_makes_words_of_texts) {
  std::string table = "stars,review,kind\n";
  for (int i = 0; i < 200; ++i) {
    const std::string what = "Item " + std::to_string(i * 37 % 101) + (i % 2 ? ", great" : ", \"\"dull\"\"");
    table += std::to_string(i % 7) + ",\"" + what + " stuff\"," + (i % 2 ? "good" : "bad") + '\n';
  }
  const std::string data = folder.write("reviews.csv", table), file = folder.path() + "/reviews.toml";
  output_of({"init", data, "-o", file});
  const Json trained = Json::parse(output_of(
      {"train", file, "--json", "--set", "run.directory=" + folder.path(), "--set", "train.max_epochs=30"}));
  BOOST_TEST(trained.at("valid/accuracy").get<double>() > 0.95);
  const std::string fresh = folder.write(
      "new.jsonl", "{\"stars\": 3, \"review\": \"DULL!\"}\n{\"stars\": 3, \"review\": \"Really great.\"}\n");
  BOOST_TEST(output_of({"predict", folder.path() + "/reviews", fresh}) == "class\nbad\ngood\n");
  const std::string alone = folder.write("alone.csv",
                                         "review,kind\na b c,x\nd e f,y\ng h i,x\nj k l,y\nm n o,x\nb d,y\n"
                                         "c e,x\nf g,y\nh j,x\ni k,y\nl m,x\nn a,y\n");
  output_of({"init", alone, "-o", file, "--force"});
  BOOST_TEST(says(output_of({"check", file}), "review_words"));
}

BOOST_AUTO_TEST_CASE(rows_without_a_label_are_predicted) {
  const Json trained = first_training(*this, "penguins.csv", {"--label", "sex"});
  BOOST_TEST(trained.at("valid/accuracy").get<double>() > 0.8);
  const std::string file =
      folder.write("new.csv",
                   "species,island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex,year\n"
                   "Gentoo,Biscoe,50,16,230,5700,NA,2007\n");
  BOOST_TEST(output_of({"predict", folder.path() + "/penguins", file}) == "class\nmale\n");
}

// As pandas writes them: the column of the index has no name. Names may be numbers, too.
BOOST_AUTO_TEST_CASE(headers_with_names_that_are_empty_or_numbers) {
  std::string rows;
  for (int i = 0; i < 40; ++i)
    rows += std::to_string(i) + ',' + std::to_string(i % 7) + ',' + std::to_string(i % 5) + ',' +
            std::to_string(100 + i % 7 + 3 * (i % 5)) + '\n';
  const std::string file = folder.path() + "/headers.toml";
  for (const char* const header : {",a,b,y\n", "2019,2020,2021,y\n"}) {
    output_of({"init", folder.write("headers.csv", header + rows), "-o", file, "--force"});
    std::ifstream stream(file);
    const std::string written{std::istreambuf_iterator<char>(stream), {}};
    BOOST_TEST(says(written, "header = true"), written);
    BOOST_TEST(says(written, ": 40 rows"), written);
    BOOST_TEST(says(written, "label = \"y\""), written);
  }
  output_of({"train", file, "--set", "run.directory=" + folder.path(), "--set", "train.max_epochs=2"});
  output_of({"init", folder.write("headers.csv", "NA,1,2,3\n" + rows), "-o", file, "--force"});
  std::ifstream stream(file);
  BOOST_TEST(says(std::string{std::istreambuf_iterator<char>(stream), {}}, "the first row is a sample"));
}

BOOST_AUTO_TEST_CASE(a_first_run_file_says_what_it_leaves_out) {
  std::string text = "id;same;when;grade;note;pay\n";
  for (int i = 0; i < 60; ++i)
    text += std::to_string(i + 1) + ";x;2026-01-0" + std::to_string(1 + i % 9) + ';' + (i % 2 ? "a" : "b") +
            ";n" + std::to_string(i * 7) + ';' + std::to_string(1000 + 50 * (i % 2) + i) + '\n';
  const std::string table = folder.write("pay.csv", text), file = folder.path() + "/pay.toml";
  output_of({"init", table, "-o", file});
  std::ifstream stream(file);
  const std::string written{std::istreambuf_iterator<char>(stream), {}};
  for (const char* const part :
       {"delimiter = \";\"", "# left out: \"id\": counts the rows",
        "# left out: \"same\": the same value in all rows", "when = { type = \"timestamp\"",
        "grade = \"category\"   # 2 different values",
        "# left out: \"note\": words with many different values", "label = { cast = \"float\" }",
        "metrics = [\"r2\", \"mean_absolute_error\"]"})
    BOOST_TEST(says(written, part), part << " in " << written);
  BOOST_TEST(says(written, "#   troupe train " + file + "  trains"), written);
  BOOST_TEST(says(output_of({"init", table, "-o", file}, 2), "exists; --force replaces it"));
  BOOST_TEST(says(output_of({"init", table, "-o", file, "--force", "--label", "same"}, 2),
                  "the label 'same' has the same value in all 60 rows, so there is nothing to predict"));
  const std::string useless = folder.write("useless.csv", "id,same,pay\n1,x,5\n2,x,6\n3,x,8\n");
  BOOST_TEST(
      says(output_of({"init", useless, "-o", file, "--force"}, 2),
           "no column is of use to predict 'pay':\n  id: counts the rows\n  same: the same value in all"));
  BOOST_TEST(says(output_of({"init", table, "-o", file, "--force", "--label", "pays"}, 2),
                  "there is no column 'pays'; the nearest is 'pay'"));
  BOOST_TEST(says(output_of({"init", folder.write("empty.csv", ""), "-o", file, "--force"}, 3),
                  "the file has no rows"));
  BOOST_TEST(says(output_of({"init", folder.path(), "-o", file, "--force"}, 2), "a folder for each class"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::table_test
