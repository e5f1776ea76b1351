// The program as its users see it: the output of --json, exit codes, run folders, signals, warnings, drawings and terminals.
#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"
#include "tests/support/project_files.h"
#include "tests/support/says.h"

namespace troupe::program_test {
namespace {

namespace fs = std::filesystem;
using test::Program, test::says, test::troupe_program;
using Arguments = test::DigitsRuns::Arguments;
using Json = nlohmann::json;

const std::string digits = test::project_path("examples/digits.toml");
const Arguments brief = {"--set", "train.max_epochs=1"};

Arguments operator+(Arguments left, const Arguments& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

struct Fixture : test::DigitsRuns {
  /// Returns the JSON objects of a file that has one per line.
  static std::vector<Json> lines(const std::string& path) {
    std::ifstream file(path);
    std::vector<Json> objects;
    for (std::string line; std::getline(file, line);) objects.push_back(Json::parse(line));
    return objects;
  }
  std::vector<Json> metrics(const std::string& name) const {
    return lines(folder.path() + "/" + name + "/001/metrics.jsonl");
  }
  /// Waits until a file exists, for programs that print nothing. Returns whether it does.
  static bool appears(const std::string& path) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!fs::exists(path) && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return fs::exists(path);
  }
  /// Runs the program, checks its exit code and that it prints exactly one JSON object, and returns that object.
  static Json object_of(const Arguments& arguments, int code) {
    Program program(troupe_program(), arguments);
    BOOST_TEST(program.end() == code, program.output());
    const Json object = Json::parse(program.output(), nullptr, false);
    BOOST_TEST(object.is_object(), program.output());
    return object;
  }
};

BOOST_FIXTURE_TEST_SUITE(program, Fixture)

// JSON.

BOOST_AUTO_TEST_CASE(failures_are_objects_with_json) {
  const std::string none = folder.path() + "/none";
  const std::string bad = folder.write("bad.toml", "cluster = 3\n");
  const std::vector<std::pair<Arguments, int>> calls = {
      {{"train", none, "--json"}, 2},
      {{"train", digits, "--json", "--set", "train.optimizer.lr=fast"}, 2},
      {{"train", digits, "--json", "--local", "ps"}, 2},
      {{"train", digits, "--json", "--cluster", none}, 2},
      {{"train", digits, "--json", "--resume", none}, 2},
      {{"train", digits, "--json", "--set", "data.train='none.csv'"}, 3},
      {{"launch", digits, "--json", "--cluster", bad}, 2},
      {{"check", digits, "--json", "--set", "model.graph.loss=nope"}, 2},
      {{"check", digits, "--json", "--set", "data.train='none.csv'"}, 3},
      {{"data", digits, "--json", "--set", "data.train='none.csv'"}, 3},
      {{"node", "--json", "--cluster", none, "--job", "ps"}, 2},
      {{"certs", none, "--json", "--cluster", bad}, 2},
      {{"train", "--json"}, 2},
      {{"no-such-command", "--json"}, 2},
      {{"version", "--json", "--no-such-option"}, 2},
      {{"verify", none, "--json"}, 2},
      {{"verify", none, "--json", "--local", "ps"}, 2},
      {{"bench", none}, 2},
      {{"run", none, "--json", "--fetch", "x"}, 2},
      {{"graph", none, "--json"}, 2},
      {{"graph", digits, "--json", "--local", "wroker=1"}, 2},
      {{"graph", digits, "--json", "--form", "png"}, 2},
      {{"export", none, "none.h5", "--json"}, 2},
      {{"report", digits, "--json"}, 2},
  };
  for (const auto& [arguments, code] : calls) {
    const Json object = object_of(arguments, code);
    BOOST_TEST_CONTEXT(arguments[0] + " " + arguments[1]) {
      BOOST_TEST(object.value("exit_code", 0) == code);
      BOOST_TEST(object.value("error", "") != "");
      BOOST_TEST(object.value("code", "") != "");
    }
  }
}

BOOST_AUTO_TEST_CASE(numbers_that_json_lacks_are_null) {
  const Arguments diverging = {"--json", "--set", "train.optimizer={type='sgd',lr=1e30}"};
  const Json result = object_of(run("train", "diverged", brief + diverging), 4);
  BOOST_TEST((result.at("ending") == "diverged" && result.at("reason").is_string()), result);
  BOOST_TEST(result.at("valid/loss").is_null());
  const auto records = metrics("diverged");
  BOOST_TEST_REQUIRE(!records.empty());
  BOOST_TEST(records.back().at("train/loss").is_null());
}

BOOST_AUTO_TEST_CASE(results_are_objects_with_json) {
  const Json result = object_of(run("train", "a \"b\"", brief + Arguments{"--json"}), 0);
  BOOST_TEST(result.at("ending") == "completed");
  BOOST_TEST(result.at("input_share") >= 0.0);
  BOOST_TEST(result.at("input_share") < 1.0);
  BOOST_TEST(result.at("folder").get<std::string>() == folder.path() + "/a \"b\"/001");
  BOOST_TEST(fs::exists(result.at("checkpoint").get<std::string>()));
  const auto described = object_of({"data", digits, "--json"}, 0);
  BOOST_TEST(described.at("samples") == 1438);
  BOOST_TEST(described.at("held_out") == 359);
  BOOST_TEST(described.at("columns").at(0).at("name") == "image");
  BOOST_TEST(described.at("columns").at(0).at("max") == 1);
  BOOST_TEST(described.at("columns").at(1).at("counts").size() == 10u);
  const auto checked = object_of({"check", digits, "--json"}, 0);
  BOOST_TEST(checked.at("ok") == true);
  // Three floats for each of 7,510 parameters, of which Adam has two, and two powers.
  BOOST_TEST(checked.at("memory").at(0).at("variable_bytes") == 4 * (3 * 7510 + 2));
  BOOST_TEST(checked.at("memory").at(0).at("step_bytes") > 0);
  BOOST_TEST(object_of({"version", "--json"}, 0).contains("version"));
}

// Exit codes.

BOOST_AUTO_TEST_CASE(output_that_cannot_be_written_is_a_failure) {
  for (const char* const arguments : {"help", "version --json", "--help"}) {
    Program program("/bin/sh", {"-c", "\"$0\" " + std::string(arguments) + " > /dev/full", troupe_program()});
    BOOST_TEST(program.end() == 1, arguments);
    BOOST_TEST(program.output() == "troupe: cannot write to standard output: No space left on device\n");
  }
}

// A training goes on when the reader of its output has gone, and says so by its exit code.
BOOST_AUTO_TEST_CASE(a_reader_that_goes_ends_nothing) {
  const std::string code = folder.path() + "/code";
  Arguments arguments = {"-c", "{ \"$0\" \"$@\"; echo $? > " + code + "; } | true", troupe_program()};
  Program program("/bin/sh", arguments + run("train", "unread", brief));
  BOOST_TEST(program.end() == 0);
  BOOST_TEST(program.output() == "");
  int ended = 0;
  std::ifstream(code) >> ended;
  BOOST_TEST(ended == 128 + SIGPIPE);
  BOOST_TEST(weights("unread").tensors.size() > 0u);
}

BOOST_AUTO_TEST_CASE(a_file_that_would_be_too_large_is_an_error) {
  Arguments arguments = {"-c", "ulimit -f 10; exec \"$0\" \"$@\"", troupe_program()};
  Program program("/bin/sh", arguments + run("train", "large", brief));
  BOOST_TEST(program.end() > 0, program.output());
  BOOST_TEST(says(program.output(), "File too large"), program.output());
}

// Certificates.

BOOST_AUTO_TEST_CASE(an_authority_is_never_replaced) {
  const std::string tasks = "[cluster]\nname = 'lab'\n[jobs]\nworker = ['127.0.0.1:1']\n";
  const Arguments certs = {"certs", folder.path() + "/certs", "--cluster", folder.write("lab.toml", tasks)};
  const auto call = [&] {
    Program program(troupe_program(), certs);
    const int code = program.end();
    return std::pair(code, program.output());
  };
  const auto first = call();
  BOOST_TEST(first.first == 0, first.second);
  BOOST_TEST(says(first.second, "lab.toml has no [cluster.tls]"), first.second);
  BOOST_TEST(call().first == 0);
  for (const auto& [gone, left] : {std::pair("ca.key", "ca.pem"), std::pair("ca.pem", "ca.key")}) {
    const std::string path = folder.path() + "/certs/" + gone, away = folder.path() + '/' + gone;
    fs::rename(path, away);
    const auto refused = call();
    BOOST_TEST(refused.first > 0);
    BOOST_TEST(says(refused.second, std::string("/certs has ") + left + " but no " + gone), refused.second);
    BOOST_TEST(!fs::exists(path));
    fs::rename(away, path);
  }
  BOOST_TEST(call().first == 0);
}

BOOST_AUTO_TEST_CASE(a_file_that_is_not_there_is_a_matter_of_usage) {
  const std::string none = folder.path() + "/none.toml";
  for (const Arguments& arguments : std::vector<Arguments>{{"train", none},
                                                           {"check", none},
                                                           {"train", digits, "--cluster", none},
                                                           {"launch", digits, "--cluster", none},
                                                           {"node", "--cluster", none, "--job", "ps"},
                                                           {"certs", folder.path(), "--cluster", none},
                                                           {"train", digits, "--resume", none}}) {
    Program program(troupe_program(), arguments);
    BOOST_TEST(program.end() == 2, program.output());
    BOOST_TEST(says(program.output(), none), program.output());
  }
}

// Folders of runs.

BOOST_AUTO_TEST_CASE(a_folder_whose_name_is_no_text_is_refused_before_the_training) {
  const fs::path odd = folder.path() + "/d\xff";
  fs::create_directory(odd);
  fs::copy_file(digits, odd / "digits.toml");
  Program program(troupe_program(), {"train", odd / "digits.toml"});
  BOOST_TEST(program.end() == 2, program.output());
  BOOST_TEST(says(program.output(), "/d\\xff is not UTF-8"), program.output());
}

BOOST_AUTO_TEST_CASE(a_size_is_not_negative) {
  Program program(troupe_program(), run("train", "x", {"--memory", "-5"}));
  BOOST_TEST(program.end() == 2, program.output());
  BOOST_TEST(says(program.output(),
                  "--memory: expected a number of bytes, such as 1000000, 8GB or 512MiB; found '-5'"),
             program.output());
}

BOOST_AUTO_TEST_CASE(a_name_leads_to_no_other_folder) {
  const fs::path inside = folder.path();
  const std::string outside = "beside_" + inside.filename().string();
  for (const std::string& name : {"../" + outside, std::string("a/b"), std::string("..")}) {
    Program program(troupe_program(),
                    run("train", "x", brief + Arguments{"--set", "run.name='" + name + "'"}));
    BOOST_TEST(program.end() == 2, program.output());
    BOOST_TEST(says(program.output(), "run.name: expected the name of a folder"), program.output());
  }
  BOOST_TEST(fs::is_empty(folder.path()));
  BOOST_TEST(!fs::exists(inside.parent_path() / outside));
}

BOOST_AUTO_TEST_CASE(trainings_of_one_name_have_a_folder_each) {
  constexpr int count = 6;
  std::vector<std::unique_ptr<Program>> programs;
  for (int i = 0; i < count; ++i)
    programs.push_back(
        std::make_unique<Program>(troupe_program(), run("train", "same", brief + Arguments{"--json"})));
  std::set<std::string> folders;
  for (const auto& program : programs) {
    BOOST_TEST(program->end() == 0, program->output());
    folders.insert(Json::parse(program->output()).at("folder"));
  }
  BOOST_TEST(folders.size() == static_cast<size_t>(count));
  for (const auto& path : folders) BOOST_TEST(lines(path + "/metrics.jsonl").size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_folder_that_is_written_is_not_resumed) {
  Program first(troupe_program(), endless("train", "busy", {}));
  BOOST_TEST_REQUIRE(first.wait_for("epoch 2"), first.output());
  for (const std::string& resume : {std::string("auto"), folder.path() + "/busy/001"}) {
    Program second(troupe_program(), run("train", "busy", {"--resume", resume}));
    BOOST_TEST(second.end() == 1);
    BOOST_TEST(says(second.output(), "another training writes in " + folder.path() + "/busy/001"),
               second.output());
  }
  BOOST_TEST(first.end(SIGKILL) == -SIGKILL);
  Program third(troupe_program(), run("train", "busy", {"--resume", "auto", "--set", "train.max_steps=1"}));
  BOOST_TEST(third.end() == 0, third.output());
}

// The run goes on from its last checkpoint, so epochs after it are trained again.
BOOST_AUTO_TEST_CASE(a_resumed_run_has_each_epoch_once) {
  const Arguments settings = {"--set", "train.checkpoint.every=30 steps", "--set",
                              "train.early_stop.patience=100000"};
  Program first(troupe_program(),
                run("train", "again", settings + Arguments{"--set", "train.max_epochs=100000"}));
  BOOST_TEST_REQUIRE(first.wait_for("epoch 20 "), first.output());
  BOOST_TEST(first.end(SIGKILL) == -SIGKILL);
  const auto trained = lines(folder.path() + "/again/001/metrics.jsonl").size() + 3;
  const Arguments more = {"--resume", "auto", "--set", "train.max_epochs=" + std::to_string(trained)};
  Program second(troupe_program(), run("train", "again", settings + more));
  BOOST_TEST(second.end() == 0, second.output());
  BOOST_TEST(lines(folder.path() + "/again/001/metrics.jsonl").size() == trained);
}

BOOST_AUTO_TEST_CASE(a_run_that_is_complete_says_so_and_a_checkpoint_is_no_run) {
  BOOST_TEST(Program(troupe_program(), run("train", "whole", brief)).end() == 0);
  const std::string path = folder.path() + "/whole/001";
  Program again(troupe_program(), run("train", "whole", brief + Arguments{"--resume", path}));
  BOOST_TEST(again.end() == 0, again.output());
  BOOST_TEST(says(again.output(),
                  "nothing is left to train; raise train.max_epochs = 1, for example with --set "
                  "train.max_epochs=2"),
             again.output());
  object_of(run("train", "whole", brief + Arguments{"--resume", path, "--json"}), 0);
  Program more(troupe_program(), run("train", "whole", {"--set", "train.max_epochs=2", "--resume", path}));
  BOOST_TEST(more.end() == 0, more.output());
  BOOST_TEST(!says(more.output(), "nothing is left"), more.output());

  const std::string checkpoint = fs::directory_iterator(path + "/checkpoints")->path().string();
  Program wrong(troupe_program(), run("train", "whole", {"--resume", checkpoint}));
  BOOST_TEST(wrong.end() == 2, wrong.output());
  BOOST_TEST(says(wrong.output(), checkpoint + " is a checkpoint; a run is resumed by its folder, " + path),
             wrong.output());
  Program serving(troupe_program(), {"serve", checkpoint});
  BOOST_TEST(serving.end() == 2, serving.output());
  BOOST_TEST(says(serving.output(), "serve takes the folder of its run, " + path), serving.output());
}

BOOST_AUTO_TEST_CASE(the_loss_of_an_epoch_is_the_mean_of_its_steps) {
  const auto train = [&](const std::string& name, const Arguments& more) {
    Program program(troupe_program(), run("train", name, more));
    BOOST_TEST(program.end() == 0, program.output());
  };
  // With weights that do not change it is the loss of all samples, here in two batches.
  train("frozen",
        brief + Arguments{"--set", "data.batch=719", "--set", "train.optimizer={type='sgd', lr=1e-30}"});
  const Json evaluated = object_of({"eval", folder.path() + "/frozen", "--on", "train", "--json"}, 0);
  BOOST_TEST(std::abs(metrics("frozen").back().at("train/loss").get<double>() -
                      evaluated.at("scores").at("loss").get<double>()) < 1e-5);
  // An epoch that is interrupted has the same mean.
  train("whole_epoch", brief);
  train("two_parts", {"--set", "train.max_steps=10"});
  train("two_parts", brief + Arguments{"--resume", "auto"});
  BOOST_TEST(metrics("whole_epoch").back().at("train/loss") == metrics("two_parts").back().at("train/loss"));
}

BOOST_AUTO_TEST_CASE(a_run_says_which_epoch_has_the_model_that_is_kept) {
  Program program(troupe_program(), run("train", "best", {}));
  BOOST_TEST_REQUIRE(program.end() == 0, program.output());
  const std::string& output = program.output();
  const std::string begin = "\nthe model is that of epoch ", middle = ", which has the best valid/accuracy: ";
  const size_t at = output.find(begin);
  BOOST_TEST_REQUIRE(at != std::string::npos, output);
  const std::string line = output.substr(at + begin.size(), output.find('\n', at + 1) - at - begin.size());
  const std::string epoch = line.substr(0, line.find(',')), score = line.substr(epoch.size() + middle.size());
  const size_t of_epoch = output.find("epoch " + epoch + " of 40 ");
  BOOST_TEST(says(output.substr(of_epoch, output.find('\n', of_epoch) - of_epoch), "valid/accuracy " + score),
             output);
  const size_t end = output.find("early_stopped after ");
  BOOST_TEST_REQUIRE(end != std::string::npos, output);
  BOOST_TEST(says(output.substr(end), "valid/accuracy " + score + "  "), output);
}

BOOST_AUTO_TEST_CASE(the_metrics_of_an_epoch_that_is_cut_short_are_logged) {
  BOOST_TEST(Program(troupe_program(), run("train", "short", {"--set", "train.max_steps=3"})).end() == 0);
  const auto records = metrics("short");
  BOOST_TEST_REQUIRE(records.size() == 1u);
  BOOST_TEST(records[0].at("step") == 3);
  BOOST_TEST(records[0].at("epoch").get<double>() > 0);
  BOOST_TEST(records[0].at("epoch").get<double>() < 1);
  BOOST_TEST(records[0].at("train/loss").is_number());
  BOOST_TEST(records[0].at("valid/accuracy").is_number());

  BOOST_TEST(Program(troupe_program(), run("train", "whole", brief)).end() == 0);
  BOOST_TEST(metrics("whole").size() == 1u);

  Program stopped(troupe_program(), endless("train", "stopped", {}));
  BOOST_TEST_REQUIRE(stopped.wait_for("epoch 1"), stopped.output());
  BOOST_TEST(stopped.end(SIGINT) == 128 + SIGINT);
  BOOST_TEST(metrics("stopped").back().at("step") == weights("stopped").round);
}

// Signals.

BOOST_AUTO_TEST_CASE(a_signal_ends_with_its_code_and_says_what_was_saved) {
  for (const auto& [signal, name] : {std::pair(SIGINT, "SIGINT"), std::pair(SIGTERM, "SIGTERM")})
    for (const Arguments& how : std::vector<Arguments>{{}, {"-q"}, {"--local", "ps=1,worker=1"}}) {
      const std::string run_name = name + std::to_string(how.size());
      Program program(
          troupe_program(),
          endless("train", run_name, how + Arguments{"--set", "train.checkpoint.every='1 steps'"}));
      BOOST_TEST_REQUIRE(appears(folder.path() + "/" + run_name + "/001/checkpoints"));
      BOOST_TEST(program.end(signal) == 128 + signal, program.output());
      const std::string line = std::string("troupe: stopped by ") + name + " after step ";
      BOOST_TEST(says(program.output(), line), program.output());
      const size_t saved = program.output().find(": saved ");
      BOOST_TEST_REQUIRE(saved != std::string::npos, program.output());
      const std::string path =
          program.output().substr(saved + 8, program.output().find('\n', saved) - saved - 8);
      BOOST_TEST(fs::exists(path + "/manifest.json"), path);
    }
}

BOOST_AUTO_TEST_CASE(a_signal_that_saves_nothing_says_so) {
  const Arguments never = {"--set", "train.checkpoint={every='never',on_signal=false}"};
  Program program(troupe_program(), endless("train", "unsaved", never));
  BOOST_TEST_REQUIRE(program.wait_for("epoch 2"), program.output());
  BOOST_TEST(program.end(SIGINT) == 128 + SIGINT);
  BOOST_TEST(says(program.output(), ": no checkpoint was saved"), program.output());

  Program machine(troupe_program(), endless("train", "machine", never + Arguments{"--json"}));
  BOOST_TEST_REQUIRE(appears(folder.path() + "/machine/001/metrics.jsonl"));
  BOOST_TEST(machine.end(SIGTERM) == 128 + SIGTERM);
  BOOST_TEST(says(machine.output(), "\"signal\":\"SIGTERM\""), machine.output());
  BOOST_TEST(says(machine.output(), "\"checkpoint\":null"), machine.output());
}

BOOST_AUTO_TEST_CASE(an_option_that_is_not_there_gets_advice_that_the_subcommand_can_follow) {
  const auto refused = [&](const Arguments& arguments, const std::string& why) {
    Program program(troupe_program(), arguments);
    BOOST_TEST(program.end() == 2, program.output());
    BOOST_TEST(says(program.output(), why), program.output());
  };
  refused({"train", "run.toml", "--format", "csv"},
          "train takes no '--format'; write --set data.format=VALUE");
  refused({"export", "runs/x", "x.onnx", "--format", "onnx"},
          "export takes no '--format'; known: --help, --force, --json");
}

// Jobs and workers.

BOOST_AUTO_TEST_CASE(jobs_that_nobody_knows_are_refused) {
  const auto refused = [&](const std::string& local, const std::string& why) {
    Program program(troupe_program(), run("train", "bad", {"--local", local}));
    BOOST_TEST(program.end() == 2, program.output());
    BOOST_TEST(says(program.output(), why), program.output());
  };
  refused("ps=1,wroker=2",
          "--local ps=1,wroker=2: job 'wroker' takes no part in training; the nearest is 'worker'");
  refused("ps=1,ps=2", "job 'ps' is given twice");
  refused("worker=2x", "'worker=2x' is not of the form JOB=COUNT");
  refused("=2", "'=2' is not of the form JOB=COUNT");
}

BOOST_AUTO_TEST_CASE(idle_workers_are_told) {
  const auto output = [&](const Arguments& more) {
    Program program(troupe_program(), run("train", "crew", Arguments{"--dry-run", "1"} + more));
    BOOST_TEST(program.end() == 0, program.output());
    return program.output();
  };
  const Arguments alone = {"--set", "train.replication={mode='local'}"};
  const std::string idle = "troupe: train.replication.mode = \"local\" leaves 1 of 2 workers idle";
  BOOST_TEST(says(output(alone + Arguments{"--local", "ps=1,worker=2"}), idle));
  BOOST_TEST(says(output(alone + Arguments{"--set", "cluster.in_process.worker=2"}), idle));
  BOOST_TEST(
      says(output({"--local", "worker=3"}), "train.replication.shards = 2 leaves 1 of 3 workers idle"));
  for (const Arguments& busy :
       {Arguments{"--local", "ps=1,worker=2"}, alone, Arguments{"--local", "worker=3", "-q"}})
    BOOST_TEST(!says(output(busy), "idle"));
}

// Drawings.

BOOST_AUTO_TEST_CASE(a_run_file_is_drawn_where_it_would_run) {
  const std::string out = folder.path() + "/drawn";
  Program plain(troupe_program(), {"graph", digits, "--out", out});
  BOOST_TEST(plain.end() == 0, plain.output());
  std::ifstream file(out + ".placed.dot");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  BOOST_TEST(says(text, "/job:worker/replica:0/task:0/device:CPU:0"));

  const Json spread = object_of({"graph", digits, "--out", out, "--json", "--local", "ps=2"}, 0);
  BOOST_TEST(spread.at("files").size() >= 2u);
  for (const auto& path : spread.at("files")) BOOST_TEST(fs::exists(path.get<std::string>()));
}

BOOST_AUTO_TEST_CASE(a_drawing_has_the_form_of_its_ending) {
  const std::string dot = folder.path() + "/one.dot", page = folder.path() + "/page.html";
  const auto text_of = [](const std::string& path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  BOOST_TEST(object_of({"graph", digits, "-o", dot, "--json"}, 0).at("files") == Json::array({dot}));
  for (const char* const part : {"<b>hidden</b>", "<b>w1</b>", "float [?,10]\\n40 B per row"})
    BOOST_TEST(says(text_of(dot), part));
  BOOST_TEST(!says(text_of(dot), "shard_0"));  // the model, not its training
  object_of({"graph", digits, "-o", dot, "--json", "--gradients", "--depth", "0"}, 0);
  BOOST_TEST(says(text_of(dot), "shard_0"));

  Program program(troupe_program(), {"graph", digits, "-o", page, "--depth", "0"});
  if (program.end() == 1 && says(program.output(), "is not installed"))
    return;  // without graphviz there are no pictures
  const std::string html = text_of(page);
  for (const char* const part : {"<svg", "id=\"whole\"", "data-scope=\"hidden\"", "data-scope=\"logits\""})
    BOOST_TEST(says(html, part));
  BOOST_TEST(!says(html, "http-equiv"));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_drawn_leaves_nothing) {
  const std::string graph = folder.write(
      "graph.pbtxt",
      "node { name: 'x' op: 'NoOp' device: '/job:nowhere/task:0' }\nnode { name: 'y' op: 'NoOp' }\n");
  const std::string out = folder.path() + "/left";
  for (const Arguments& what : {Arguments{graph, "--target", "x", "--local", "ps=1"},
                                Arguments{graph, "--target", "z"}, Arguments{digits, "--local", "cook=1"}}) {
    Program program(troupe_program(), Arguments{"graph"} + what + Arguments{"--out", out});
    BOOST_TEST(program.end() != 0, program.output());
  }
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(folder.path()))
    files += entry.path().filename() != "graph.pbtxt";
  BOOST_TEST(files == 0u);
}

BOOST_AUTO_TEST_CASE(what_is_probably_not_meant_is_said) {
  const auto output = [](const std::string& example, const Arguments& more) {
    Program program(troupe_program(),
                    Arguments{"check", test::project_path("examples/") + example + ".toml"} + more);
    BOOST_TEST(program.end() == 0, program.output());
    return program.output();
  };
  for (const char* const example : {"digits", "digits_cnn", "linear", "ratings", "reviews"})
    BOOST_TEST(!says(output(example, {}), "troupe: "), example);
  BOOST_TEST(says(output("linear", {"--set", "data.inputs.y={from='label', cast='float'}"}),
                  "'loss' combines [?,1] with [?] element by element (Sub): the result has an element for "
                  "each pair of samples"));
  BOOST_TEST(says(output("digits", {"--set", "model.graph.spare=logits * 2.0"}),
                  "model.graph.spare is used by neither the loss nor a metric nor an output"));
  BOOST_TEST(!says(
      output("digits", {"--set", "model.graph.spare=logits * 2.0", "--set", "model.outputs={spare='spare'}"}),
      "spare is used"));
  BOOST_TEST(says(output("digits", {"--set", "data.batch=5000"}),
                  "data.batch = 5000 is more than the 1438 samples to train on"));
}

// Help.

BOOST_AUTO_TEST_CASE(help_comes_out_of_the_tables) {
  const auto says_all = [](const Arguments& arguments, int code, const std::vector<std::string>& texts) {
    Program program(troupe_program(), arguments);
    BOOST_TEST(program.end() == code, program.output());
    for (const std::string& text : texts) BOOST_TEST(says(program.output(), text), program.output());
  };
  says_all({"help"}, 0, {"Usage: troupe", "  train ", "  serve "});
  says_all({"help", "predict"}, 0, {"Usage: troupe predict", "--probabilities"});
  says_all({"help", "keys", "train.optimizer.lr"}, 0,
           {"train.optimizer.lr: a number, above 0; required\n    learning rate\n"});
  says_all({"help", "keys", "model.variables.w.shape"}, 0, {"model.variables.*.shape: a list of integers"});
  says_all(
      {"help", "layers", "nn.dense"}, 0,
      {"nn.dense(x, ...)", "x [..., n] times weights [n, units]", "model.layers.dense.units: an integer"});
  says_all({"help", "ops", "matmul"}, 0, {"## MatMul", "transpose_a = false"});
  says_all({"help", "ops", "MatMul"}, 0, {"`matmul(a, b,"});
  says_all({"help", "keys", "train.optimiser"}, 2,
           {"run files have no key 'train.optimiser'; the nearest is 'train.optimizer'"});
  says_all({"help", "layers", "dens"}, 2, {"the nearest is 'dense'"});
  says_all({"help", "tarin"}, 2, {"there is no help on 'tarin'; the nearest is 'train'"});
  says_all({}, 2, {"Usage: troupe", "`troupe help` explains"});
  says_all({"--version"}, 0, {"troupe 0."});
  says_all({"trian"}, 2, {"there is no subcommand 'trian'; the nearest is 'train'"});
}

// Terminals.

/// Returns the output of the program to a terminal with the given number of columns.
std::string on_terminal(const Arguments& arguments, unsigned short columns) {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  BOOST_TEST_REQUIRE(master >= 0);
  ::grantpt(master);
  ::unlockpt(master);
  const int slave = ::open(::ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  const winsize size{25, columns, 0, 0};
  ::ioctl(slave, TIOCSWINSZ, &size);
  const pid_t pid = ::fork();
  if (pid == 0) {
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(slave, descriptor);
    std::vector<std::string> words = Arguments{troupe_program()} + arguments;
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::execv(troupe_program().c_str(), argv.data());
    ::_exit(127);
  }
  ::close(slave);
  std::string output;
  char buffer[4096];
  for (ssize_t count; (count = ::read(master, buffer, sizeof buffer)) > 0;)
    output.append(buffer, static_cast<size_t>(count));
  int status = 0;
  ::waitpid(pid, &status, 0);
  ::close(master);
  BOOST_TEST(status == 0, output);
  return output;
}

// A progress line begins where the line is cleared and ends where the next one begins.
BOOST_AUTO_TEST_CASE(a_progress_line_fits_the_terminal) {
  const Arguments steps =
      run("train", "narrow", {"--set", "train.max_epochs=400", "--set", "train.early_stop.patience=1000"});
  for (const uint16_t columns : {uint16_t{20}, uint16_t{45}}) {
    const std::string output = on_terminal(steps, columns), clear = "\r\033[K";
    size_t drawn = 0;
    for (size_t at = output.find(clear); at != std::string::npos;) {
      const size_t begin = at + clear.size(), end = output.find(clear, begin);
      const std::string line = output.substr(begin, end == std::string::npos ? end : end - begin);
      at = end;
      if (!line.starts_with("epoch ") || says(line, "\n")) continue;
      ++drawn;
      BOOST_TEST(line.size() < columns, line);
    }
    BOOST_TEST(drawn > 0u, output);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::program_test
