// Runs that are resumed: what may change meanwhile, and that a run which cannot go on keeps its files.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"

namespace troupe::resume_test {
namespace {

namespace fs = std::filesystem;
using test::Program;
using Arguments = test::DigitsRuns::Arguments;
using Json = nlohmann::json;

Arguments set(const Arguments& settings, const Arguments& more = {}) {
  Arguments all = more;
  for (const std::string& setting : settings) all.insert(all.end(), {"--set", setting});
  return all;
}

struct Fixture : test::DigitsRuns {
  std::string path(const std::string& name) const { return folder.path() + '/' + name; }
  std::string output_of(const Arguments& arguments, int code = 0) const {
    Program program(test::troupe_program(), arguments);
    BOOST_TEST_REQUIRE(program.end() == code, program.output());
    return program.output();
  }
  /// Returns the content of all files under a folder.
  static std::map<std::string, std::string> files_in(const std::string& top) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(top)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      files[entry.path().string()] = std::string(std::istreambuf_iterator<char>(file), {});
    }
    return files;
  }
  /// Returns the ends of the names of the checkpoints that the run "kept" has, as "round-30".
  std::vector<std::string> rounds_saved() const {
    std::vector<std::string> rounds;
    for (const auto& entry : fs::directory_iterator(path("kept") + "/001/checkpoints")) {
      const std::string name = entry.path().filename().string();
      if (!fs::exists(entry.path() / "manifest.json")) continue;  // it has files to which a later one refers
      rounds.push_back(name.substr(name.find("round-")));
    }
    std::ranges::sort(rounds);
    return rounds;
  }
  /// Resumes a training, which must be refused, with parts of the reason, and must leave the files under `top` as they are.
  void check_refused(const std::string& top, const Arguments& more, const Arguments& parts,
                     const std::string& example = "digits", int code = 2) const {
    const auto before = files_in(top);
    const std::string output = output_of(run("train", "kept", more, example), code);
    for (const std::string& part : parts)
      BOOST_TEST(output.find(part) != std::string::npos, part + " in " + output);
    BOOST_TEST((files_in(top) == before), "the files are as before: " + output);
  }
};

BOOST_FIXTURE_TEST_SUITE(resume, Fixture)

// An epoch has 23 steps. The run is resumed at step 46, so that of steps 30 to 59 none is kept once more.
BOOST_AUTO_TEST_CASE(checkpoints_at_long_intervals_are_kept_for_good) {
  const Arguments often = {"train.checkpoint={every=\"10 steps\", keep=1, keep_every=\"30 steps\"}"};
  const auto epochs = [&](const std::string& count) {
    Arguments settings = often;
    settings.push_back("train.max_epochs=" + count);
    return settings;
  };
  output_of(run("train", "kept", set(epochs("2"))));
  output_of(run("train", "kept", set(epochs("4"), {"--resume", "auto"})));
  BOOST_TEST(rounds_saved() == (std::vector<std::string>{"round-30", "round-60", "round-90", "round-92"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_run_that_goes_on_with_other_batches_says_what_epochs_are_now) {
  output_of(run("train", "kept", set({"train.max_epochs=1"})));
  const std::string output =
      output_of(run("train", "kept", set({"train.max_epochs=2", "data.batch=32"}, {"--resume", "auto"})));
  BOOST_TEST(
      output.find("steps, and had 23 before: step 23 is in epoch 1, and was in epoch 2") != std::string::npos,
      output);
}

BOOST_AUTO_TEST_CASE(the_state_of_the_last_step_is_saved_once) {
  output_of(run("train", "kept",
                set({"train.max_steps=4", "train.checkpoint={every=\"2 steps\", keep=5}",
                     "train.early_stop.keep_best=false"})));
  BOOST_TEST(rounds_saved() == (std::vector<std::string>{"round-2", "round-4"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_quiet_run_says_which_damaged_checkpoint_it_skips) {
  output_of(run("train", "kept",
                set({"train.max_steps=4", "train.checkpoint={every=\"2 steps\", keep=5}",
                     "train.early_stop.keep_best=false"})));
  for (const auto& entry : fs::directory_iterator(path("kept") + "/001/checkpoints"))
    if (const fs::path manifest = entry.path() / "manifest.json";
        entry.path().filename().string().ends_with("round-4"))
      fs::resize_file(manifest, fs::file_size(manifest) - 20);
  const std::string output = output_of(
      run("train", "kept",
          set({"train.max_steps=6", "train.early_stop.keep_best=false"}, {"--resume", "auto", "-q"})));
  BOOST_TEST(output.find("troupe: skipped a damaged checkpoint: ") != std::string::npos, output);
  BOOST_TEST(output.find("resumed") == std::string::npos, output);
}

BOOST_AUTO_TEST_CASE(a_run_that_cannot_go_on_keeps_its_files) {
  output_of(run("train", "kept", set({"train.max_epochs=1"})));
  const std::string top = path("kept"), earlier = top + "/001/config.toml";
  const Arguments narrow = {"model.variables.w1.shape=[64, 50]", "model.variables.b1.shape=[50]",
                            "model.variables.w2.shape=[50, 10]"};
  const Arguments narrower = {
      "--set model.variables.w1.shape: model.variables.w1.shape.1 is 50, but 100 in " + earlier};
  check_refused(top, set(narrow, {"--resume", "auto"}), narrower);
  check_refused(top, set(narrow, {"--resume", top + "/001"}), narrower);
  check_refused(top, set(narrow, {"--resume", "auto", "--local", "ps=1,worker=1"}), narrower);
  check_refused(top, {"--resume", top + "/001"}, {earlier}, "penguins");
  check_refused(top, set({"train.optimizer={type='sgd', lr=1}"}, {"--resume", "auto"}),
                {"train.optimizer.type is \"sgd\", but \"adam\" in " + earlier,
                 "model.init_from = \"" + top + "/001\""});
  check_refused(
      top,
      set({"train.plateau={monitor='valid/loss', mode='min', factor=0.5, patience=2}"}, {"--resume", "auto"}),
      {"train.plateau is ", "but not given in " + earlier, "learning_rate_factor"});
  output_of({"eval", top});
}

BOOST_AUTO_TEST_CASE(samples_that_were_trained_on_are_not_held_out_later) {
  output_of(run("train", "kept", set({"train.max_epochs=1"})));
  const std::string top = path("kept"), earlier = top + "/001/config.toml";
  const auto refused = [&](const std::string& setting, const std::string& text) {
    check_refused(top, set({setting}, {"--resume", "auto"}), {text + " in " + earlier, "held out"});
  };
  refused("run.seed=8", "--set run.seed: run.seed is 8, but 7");
  refused("data.valid.split=0.3", "data.valid.split is 0.3, but 0.2");
  refused("data.valid.fold=1", "data.valid.fold is 1, but 0");
  refused("data.valid.stratify=true", "data.valid.stratify is true, but false");
}

BOOST_AUTO_TEST_CASE(columns_are_encoded_later_as_they_were_before) {
  output_of(run("train", "kept", set({"train.max_epochs=1"}), "penguins"));
  const std::string top = path("kept"), earlier = top + "/001/config.toml";
  const auto refused = [&](const std::string& key, const std::string& now, const std::string& before) {
    const std::string path = "data.columns.sizes." + key;
    check_refused(top, set({path + "='" + now + "'"}, {"--resume", "auto"}),
                  {path + " is \"" + now + "\", but \"" + before + "\" in " + earlier,
                   "other numbers than those it was trained with"},
                  "penguins");
  };
  refused("normalize", "range", "standard");
  refused("normalize", "none", "standard");
  refused("missing", "median", "mean");
}

BOOST_AUTO_TEST_CASE(workers_train_on_if_the_progress_of_their_trainer_cannot_be_written) {
  const Arguments workers = {"--local", "worker=2"};
  output_of(run("train", "kept", set({"train.max_epochs=1"}, workers)));
  fs::create_directory(path("kept") + "/001/live.new");  // so no file of this name can be created
  const Arguments resumed = {"--local", "worker=2", "--resume", "auto"};
  const std::string output = output_of(run("train", "kept", set({"train.max_epochs=3"}, resumed)));
  const std::string told = "its training can only go on from a checkpoint";
  BOOST_TEST_REQUIRE(output.find(told) != std::string::npos, output);
  BOOST_TEST(output.find(told) == output.rfind(told), output);
  BOOST_TEST(output.find("epoch 3 of 3") != std::string::npos, output);
}

BOOST_AUTO_TEST_CASE(only_folders_of_runs_are_resumed) {
  output_of(run("train", "kept", set({"train.max_epochs=1"})));
  fs::create_directory(path("other"));
  folder.write("other/notes.txt", "some text");
  check_refused(folder.path(), {"--resume", path("other")}, {path("other") + " has no config.toml"});
  check_refused(folder.path(), {"--resume", path("kept/001/model")},
                {path("kept/001/model") + " has no config.toml"});
  check_refused(folder.path(), {"--resume", path("kepp")},
                {"there is no run folder " + path("kepp"), "kept"});
  // Of a folder that contains runs the newest one goes on.
  output_of(run("train", "kept", set({"train.max_epochs=1"})));
  const auto first = files_in(path("kept/001"));
  const std::string output =
      output_of(run("train", "kept", set({"train.max_epochs=2"}, {"--resume", path("kept")})));
  BOOST_TEST(output.find("resumed " + path("kept") + "/002 at step 23") != std::string::npos, output);
  BOOST_TEST((files_in(path("kept/001")) == first));
}

BOOST_AUTO_TEST_CASE(a_run_has_the_values_with_which_it_has_gone_on) {
  output_of(run("train", "kept", set({"train.max_epochs=1"})));
  const Json trained =
      Json::parse(output_of(run("train", "kept",
                                set({"train.max_epochs=2", "train.optimizer.lr=1e-4", "data.batch=32"},
                                    {"--resume", "auto", "--json"}))));
  const std::string now = files_in(path("kept/001")).at(path("kept/001/config.toml"));
  for (const char* const value : {"batch = 32", "lr = 0.0001", "max_epochs = 2"})
    BOOST_TEST(now.find(value) != std::string::npos, now);
  const Json evaluated = Json::parse(output_of({"eval", path("kept"), "--json"}));
  BOOST_TEST(trained.at("valid/loss") == evaluated.at("scores").at("loss"));
  BOOST_TEST(trained.at("valid/accuracy") == evaluated.at("scores").at("accuracy"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::resume_test
