// Labels that are made of several columns of a table: how they are read, and runs that predict them.
#include <boost/test/unit_test.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "apps/data/format.h"
#include "apps/inference/model.h"
#include "apps/row_model.h"
#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"
#include "tests/support/memory_disk.h"
#include "tests/support/ops/golden_values.h"
#include "tests/support/says.h"

namespace troupe::test::several_labels_test {
namespace {

using data::FormatOptions;
using Names = std::vector<std::string>;

struct Fixture : DigitsRuns {
  /// Returns the samples of a table with names of columns whose label is a list.
  static Result<data::Dataset> read(const std::string& table, const Names& labels,
                                    const FormatOptions& more = {}, DType dtype = DType::Float) {
    MemoryDisk disk;
    disk.write("t.csv", table);
    FormatOptions options = {{"header", true}, {"label", labels}};
    options.insert(more.begin(), more.end());
    TROUPE_ASSIGN(const auto reader, data::find_format("csv")->open(
                                         disk, {.path = "t.csv", .label_type = dtype, .options = options}));
    return reader->next(100);
  }
  static std::string failure(const std::string& table, const Names& labels, const FormatOptions& more = {}) {
    return read(table, labels, more).status().text();
  }
  static std::string output_of(const Arguments& arguments, int code = 0) {
    Program program(troupe_program(), arguments);
    BOOST_TEST(program.end() == code, program.output());
    return program.output();
  }
  /// Writes a table of sums and differences of two numbers, and of whether they are positive.
  void write_table() const {
    std::string table = "a,sum_x,b,sum_y,pos_x,pos_y\n";
    for (int i = 0; i < 240; ++i) {
      const double a = i % 15 / 7.0 - 1, b = i % 16 / 7.5 - 1;
      const std::array numbers = {a, 10 + a + b, b, 3 * (a - b)};
      for (const double number : numbers) table += std::to_string(number) + ',';
      table += std::string(a + b > 0 ? "1," : "0,") + (a > b ? "1\n" : "0\n");
    }
    folder.write("t.csv", table);
  }
  /// Returns what is printed by a run of the first run file for these labels, which is written to t.toml.
  std::string train_first(const Names& labels, const Arguments& more = {}) const {
    write_table();
    Arguments init = {"init", path("t.csv"), "-o", path("t.toml"), "--force"};
    for (const std::string& label : labels) init.insert(init.end(), {"--label", label});
    output_of(init);
    Arguments train = {"train", path("t.toml"), "--set", "run.directory=" + path("runs"),
                       "--set", "run.gpus=0"};
    train.insert(train.end(), more.begin(), more.end());
    return output_of(train);
  }
  std::string path(const std::string& name) const { return folder.path() + '/' + name; }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(several_labels, Fixture)

BOOST_AUTO_TEST_CASE(the_elements_are_in_the_order_of_the_names) {
  const auto samples = value_or_throw(read("p,a,q,b\n1,2,3,4\n5,6,7.5,8\n", {"q", "p"}));
  const Tensor label = tensor_from_text("float[2,2] 3 1 7.5 5");
  BOOST_TEST(difference(*samples.find("label"), label, {0, 0}) == "");
  BOOST_TEST(difference(*samples.find("image"), tensor_from_text("float[2,2] 2 4 6 8"), {0, 0}) == "");
}

BOOST_AUTO_TEST_CASE(patterns_stand_for_the_columns_that_match_them) {
  const auto samples = value_or_throw(read("y_2,x,y_1,z\n1,2,3,4\n", {"z", "y_*"}));
  BOOST_TEST(difference(*samples.find("label"), tensor_from_text("float[1,3] 4 1 3"), {0, 0}) == "");
  BOOST_TEST(difference(*samples.find("image"), tensor_from_text("float[1,1] 2"), {0, 0}) == "");
}

BOOST_AUTO_TEST_CASE(a_list_of_one_name_is_a_vector_of_one_element) {
  BOOST_TEST(value_or_throw(read("x,y\n1,2\n", {"y"})).find("label")->signature() == "float[1,1]");
}

BOOST_AUTO_TEST_CASE(labels_may_be_whole_numbers_or_words) {
  const auto marks = value_or_throw(read("x,p,q\n1,0,1\n", {"p", "q"}, {}, DType::Int32));
  BOOST_TEST(difference(*marks.find("label"), tensor_from_text("int32[1,2] 0 1"), {0, 0}) == "");
  const auto words = value_or_throw(read("x,p,q\n1,yes,no\n", {"p", "q"}, {}, DType::String));
  BOOST_TEST(words.find("label")->as<std::string>()[1] == "no");
}

BOOST_AUTO_TEST_CASE(rows_that_lack_a_part_of_the_label_can_be_left_out) {
  const std::string table = "x,p,q\n1,2,\n3,4,5\n6,NA,7\n";
  const auto samples = value_or_throw(read(table, {"p", "q"}, {{"unlabelled", "skip"}}));
  BOOST_TEST(difference(*samples.find("label"), tensor_from_text("float[1,2] 4 5"), {0, 0}) == "");
  BOOST_TEST(
      failure(table, {"p", "q"}) ==
      "t.csv: row 2, column 3 ('q'): the label is missing; data.unlabelled = \"skip\" leaves such rows out");
}

BOOST_AUTO_TEST_CASE(mistakes_name_the_column) {
  const std::string table = "x,height,q\n1,2,3\n";
  BOOST_TEST(failure(table, {"q", "hieght"}) ==
             "t.csv: data.label: there is no column 'hieght'; the nearest is 'height'");
  BOOST_TEST(failure(table, {"q", "z*"}).starts_with("t.csv: data.label: there is no column 'z*'"));
  BOOST_TEST(failure(table, {"q", "q"}) == "t.csv: data.label names the column 'q' twice");
  BOOST_TEST(
      failure(table, {"q", "height"}, {{"features", Names{"x", "q"}}}) ==
      "t.csv: column 'q' is the label and one of data.features; name the column of the label: data.label = "
      "\"NAME\"");
  BOOST_TEST(failure(table, {"x", "height", "q"}) ==
             "t.csv: there are no features, because all columns are parts of the label");
  BOOST_TEST(failure("x,p,q\n1,2,red\n", {"p", "q"}) ==
             "t.csv: row 2, column 3 ('q'): 'red' is not a finite number");
}

BOOST_AUTO_TEST_CASE(several_numbers_are_predicted) {
  const std::string trained = train_first({"sum_x", "sum_y"});
  BOOST_TEST(says(trained, "valid/r2 0.99"), trained);
  const std::string scores = output_of({"eval", path("runs/t")});
  BOOST_TEST(says(scores, "r2"), scores);

  folder.write("new.csv", "pos_x,pos_y,b,a\n1,0,0.5,-0.25\n");
  const std::string predicted = output_of({"predict", path("runs/t"), path("new.csv")});
  double sum = 0, difference = 0;
  BOOST_TEST_REQUIRE(std::sscanf(predicted.c_str(), "output_0,output_1\n%lf,%lf", &sum, &difference) == 2,
                     predicted);
  BOOST_TEST(std::abs(sum - 10.25) < 0.2);
  BOOST_TEST(std::abs(difference + 2.25) < 0.6);
  const std::string beside = output_of({"predict", path("runs/t"), "--on", "valid"});
  BOOST_TEST(beside.starts_with("output_0,output_1,label_0,label_1\n"), beside);

  const RowModel model(troupe::load(path("runs/t")));
  Names columns;
  for (const RowColumn& column : model.columns()) columns.push_back(column.name);
  BOOST_TEST(columns == (Names{"a", "b", "pos_x", "pos_y"}), boost::test_tools::per_element());
  output_of({"report", path("runs/t"), "-o", path("report.html")});
  BOOST_TEST(std::filesystem::exists(path("report.html")));
}

BOOST_AUTO_TEST_CASE(several_marks_are_predicted) {
  const std::string trained =
      train_first({"pos_x", "pos_y"}, {"--set", "data.columns.numbers.columns=['a','b']"});
  const bool is_good = says(trained, "valid/accuracy 0.9") || says(trained, "valid/accuracy 1.0");
  BOOST_TEST(is_good, trained);
}

BOOST_AUTO_TEST_CASE(patterns_become_names_in_the_file_of_a_run) {
  train_first({"sum_x", "sum_y"}, {"--set", "data.label=['sum_*']", "--set", "train.max_epochs=2"});
  BOOST_TEST(says(output_of({"predict", path("runs/t"), "--on", "valid"}), "label"));
  const std::string written = value_or_throw(read_file(disk, path("runs/t/001/config.toml"), 1 << 20));
  BOOST_TEST(says(written, "label = [\"sum_x\", \"sum_y\"]"), written);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_a_list_is_refused) {
  write_table();
  train_first({"sum_x", "sum_y"}, {"--set", "train.max_epochs=1"});
  const auto refused = [&](const std::string& setting) {
    return output_of({"check", path("t.toml"), "--set", setting}, 2);
  };
  BOOST_TEST(
      says(refused("data.label_names=['a','b']"),
           "data.label_names: it names the words of a label that is one column, but data.label is a list"));
  const std::string archive = folder.write(
      "archive.toml",
      "run = { name = 'a' }\n[data]\nformat = 'npz'\ntrain = ['a.npz']\nlabel = ['p', 'q']\nbatch = 2\n"
      "[model.graph]\noutput = 'nn.dense(image, units=2)'\n[train]\nloss = 'mean_squared_error'\nmax_steps = "
      "1\n"
      "optimizer = { type = 'sgd', lr = 0.1 }\n");
  BOOST_TEST(says(output_of({"check", archive}, 2),
                  "data.label: a list names columns of a table; the label of an archive is one array"));
  BOOST_TEST(says(refused("data.label=[]"), "data.label: expected a column"));
  BOOST_TEST(says(output_of({"init", path("t.csv"), "-o", path("x.toml"), "--label", "a", "--label", "a"}, 2),
                  "--label names the column 'a' twice"));
  folder.write("words.csv", "x,p,q\n1,2,red\n2,3,blue\n");
  BOOST_TEST(
      says(output_of({"init", path("words.csv"), "-o", path("x.toml"), "--label", "p", "--label", "q"}, 2),
           "where there are several labels, all must be numbers"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::several_labels_test
