// Labels that are no classes of the loss, in samples that the training does not see: they are refused before the first step.
#include <boost/test/unit_test.hpp>

#include <filesystem>

#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"

namespace troupe::label_check_test {
namespace {

using test::Program;
using Arguments = test::DigitsRuns::Arguments;

/// A run file without its [data]: the loss takes three classes.
constexpr const char* model = R"toml(
[model.graph]
logits = "nn.dense(image, units=3)"
[train]
loss = "softmax_cross_entropy"
optimizer = { type = "sgd", lr = 0.1 }
max_epochs = 1
)toml";

struct Fixture : test::DigitsRuns {
  Fixture() {
    folder.write("good.csv", "1,2,0\n3,4,1\n5,6,2\n7,8,0\n");
    folder.write("bad.csv", "1,2,0\n\n3,4,1\n5,6,3\n7,8,-1\n");
  }

  std::string model_and_loss = model;

  /// Runs a subcommand on a run file with these keys of [data]; its output must have all of the texts.
  void check(const Arguments& subcommand, const std::string& data, const std::vector<std::string>& texts,
             int code = 3) const {
    const std::string file = folder.write(
        "run.toml", "run = { name = \"labels\", directory = \"" + folder.path() + "/runs\", gpus = 0 }\n" +
                        "[data]\nformat = \"csv\"\nbatch = 2\n" + data + model_and_loss);
    Arguments arguments = subcommand;
    arguments.push_back(file);
    Program program(test::troupe_program(), arguments);
    BOOST_TEST(program.end() == code, program.output());
    for (const std::string& text : texts)
      BOOST_TEST(program.output().find(text) != std::string::npos, program.output() << " has no " << text);
    if (code != 0) BOOST_TEST(!std::filesystem::exists(folder.path() + "/runs"));
  }
};

constexpr const char* allowed = "the label 3 is no class of the loss; allowed: 0 to 2, because";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(labels_that_are_no_classes, Fixture)

BOOST_AUTO_TEST_CASE(in_files_for_validation) {
  const std::string data = "train = [\"good.csv\"]\nvalid = { files = [\"good.csv\", \"bad.csv\"] }\n";
  const std::vector<std::string> texts = {"bad.csv: row 4: ", allowed, "run.toml:9:10: 'logits' has 3 values",
                                          "named at ", "run.toml:6:"};
  check({"train"}, data, texts);
  check({"check"}, data, texts);
  check({"sweep", "--try", "train.optimizer.lr=0.1,0.2"}, data, texts);
  check({"train"}, data + "read = \"stream\"\n", {"bad.csv: row 4: ", allowed});
  check({"train"}, data + "map = { image = \"image * 2.0\" }\n", {"bad.csv: row 4: ", allowed});
}

BOOST_AUTO_TEST_CASE(of_a_loss_that_smooths_them) {
  const std::string name = "\"softmax_cross_entropy\"";
  model_and_loss.replace(model_and_loss.find(name), name.size(),
                         "\"nn.softmax_cross_entropy(logits, label, label_smoothing=0.1)\"");
  check({"train"}, "train = [\"good.csv\"]\nvalid = { files = [\"bad.csv\"] }\n",
        {"bad.csv: row 4: ", allowed});
}

BOOST_AUTO_TEST_CASE(in_files_for_testing) {
  const std::string data = "train = [\"good.csv\"]\ntest = { files = [\"bad.csv\"] }\n";
  check({"train"}, data, {"bad.csv: row 4: ", allowed});
  check({"train"}, "train = [\"good.csv\"]\ntest = { files = [\"none.csv\"] }\n", {"none.csv"});
}

BOOST_AUTO_TEST_CASE(in_a_part_that_is_held_out) {
  std::string table;
  for (int i = 0; i < 12; ++i) table += "1,2," + std::to_string(i % 3) + '\n';
  folder.write("mixed.csv", table + "1,2,-7\n");
  const std::string data = "train = [\"mixed.csv\"]\n";
  for (int fold = 0; fold < 12; ++fold) {  // one of them holds the last sample out
    const std::string held_out = "valid = { split = 0.08, fold = " + std::to_string(fold) + " }\n";
    const std::string file = folder.write(
        "fold.toml", "run = { name = \"fold\", directory = \"" + folder.path() +
                         "\", gpus = 0 }\n[data]\nformat = \"csv\"\nbatch = 13\n" + data + held_out + model);
    Program program(test::troupe_program(), {"check", file});
    BOOST_TEST(program.end() == 3, program.output());
    const bool is_held_out =
        program.output().find("mixed.csv: row 13: the label -7 is no class of the loss") != std::string::npos;
    const bool is_trained_on = program.output().find("'label' has the value -7") != std::string::npos;
    BOOST_TEST((is_held_out || is_trained_on), program.output());
    if (is_held_out) return;
  }
  BOOST_TEST(false, "no fold holds the last sample out");
}

BOOST_AUTO_TEST_CASE(of_labels_with_names) {
  folder.write("words.csv", "1,2,a\n3,4,b\n5,6,c\n");
  folder.write("more.csv", "1,2,a\n3,4,e\n");
  check({"train"}, "train = [\"words.csv\"]\nlabel_names = \"auto\"\ntest = { files = [\"more.csv\"] }\n",
        {"more.csv: row 2, column 3: the label 'e' is not in label_names"});
}

BOOST_AUTO_TEST_CASE(good_ones_are_trained_with) {
  check({"train"},
        "train = [\"good.csv\"]\nvalid = { files = [\"good.csv\"] }\ntest = { files = [\"good.csv\"] }\n",
        {"test/loss"}, 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::label_check_test
