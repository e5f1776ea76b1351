// Mistakes of people who know TensorFlow, Keras, PyTorch and scikit-learn: what they write in run files and on the command line,
// and what the message must say.
#include <boost/test/unit_test.hpp>

#include "apps/runs/run_file.h"
#include "apps/train/data/train_data.h"
#include "kernels/core/kernel.h"
#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/config/run_file.h"
#include "tests/apps/train/digits_runs.h"
#include "tests/support/memory_disk.h"
#include "tests/support/project_files.h"

namespace troupe::mistakes_test {
namespace {

using Parts = std::vector<std::string>;

void check_says(const std::string& message, const Parts& parts, const std::string& written) {
  for (const std::string& part : parts)
    BOOST_TEST(message.find(part) != std::string::npos, written << ": '" << part << "' is not in:\n"
                                                                << message);
  const bool has_place = message.find("run.toml:") != std::string::npos;
  BOOST_TEST((has_place || message.find("attribute") == std::string::npos), message);
}

/// Returns the valid file with the line that begins so replaced by others.
std::string with(std::string_view beginning, std::string_view line) {
  std::string text = config::good;
  const size_t begin = text.find('\n' + std::string(beginning)) + 1;
  return text.replace(begin, text.find('\n', begin) - begin, line);
}

BOOST_AUTO_TEST_SUITE(mistakes)

struct Expressed {
  const char* expression;
  Parts parts;
};

BOOST_AUTO_TEST_CASE(in_expressions) {
  const std::vector<Expressed> rows = {
      {"mean(softmax_cross_entropy_with_logits(logits, label))",
       {"input labels is int32", "write sparse_softmax_cross_entropy_with_logits(logits, label)"}},
      {"reduce_mean(image)", {"'reduce_mean'", "write mean(x, axis)"}},
      {"reduce_sum(image, 1)", {"write sum(x, axis)"}},
      {"tf.nn.relu(image)", {"'tf.nn.relu'", "write relu(x)"}},
      {"tf.matmul(image, w1)", {"write matmul(...)"}},
      {"np.mean(image)", {"write mean(...)"}},
      {"torch.relu(image)", {"write relu(x)"}},
      {"F.cross_entropy(image, label)", {"write nn.softmax_cross_entropy(logits, label)"}},
      {"keras.layers.Dense(10)", {"write nn.dense(x, ...)"}},
      {"nn.Linear(image, 64, 10)", {"write nn.dense(x, units=10)"}},
      {"nn.Conv2d(image, 3)", {"write nn.conv2d(x, ...)"}},
      {"Dense(10)", {"write nn.dense(x, ...)"}},
      {"nn.relu(image)", {"write relu(x)", "activation = \"relu\""}},
      {"categorical_crossentropy(image, label)", {"train.loss = \"softmax_cross_entropy\""}},
      {"sparse_categorical_crossentropy(image, label)", {"train.loss = \"softmax_cross_entropy\""}},
      {"binary_crossentropy(image, label)", {"train.loss = \"binary_cross_entropy\""}},
      {"mse(image, label)", {"write nn.mean_squared_error(prediction, label)"}},
      {"mae(image, label)", {"write nn.mean_absolute_error(prediction, label)"}},
      {"cross_entropy(image, label)", {"write nn.softmax_cross_entropy"}},
      {"nll_loss(image, label)", {"write nn.softmax_cross_entropy"}},
      {"BCELoss(image, label)", {"write nn.binary_cross_entropy"}},
      {"image @ w1", {"found '@'", "write matmul(a, b)"}},
      {"image ** 2", {"write pow(x, y) or square(x)"}},
      {"image // 2", {"write floor_div(x, y)"}},
      {"square(image).mean()", {"found '.'", "a value has no methods: write mean(x)"}},
      {"matmul(cast(image, 'int32'), w1)", {"expected int32", "must have the same type"}},
      {"nn.mean_squared_error(nn.dense(image, units=3), label)",
       {"[?,3]", "classes take the loss softmax_cross_entropy"}},
      {"nn.softmax_cross_entropy(image, label, from_logits=true)", {"'from_logits'", "leave it out"}},
      {"nn.lstm(image, units=3)", {"its rank must be 3", "sequences = true"}},
      {"image[0]", {"found '['", "slice(x, begin, size)"}},
      {"image * 1e-3f", {"found 'f'", "a number has no letter at its end"}},
      {"sum(image, 1, keep_dims=True)", {"'True'", "write true, in small letters"}},
      {"sum(image, None)", {"'None'", "leave the argument out"}},
      {"image.shape", {"'image.shape'", "write shape(...)"}},
      {"image.mean()", {"'image.mean'", "write mean(...)"}},
      {"reshape(image, (8, 8))", {"square brackets, [8, 8]"}},
      {"relu(matmul(image, w1)", {"found the end", "the '(' behind 'relu' is not closed"}},
      {"relu(image))", {"this bracket closes nothing"}},
      {"cast(image, 'float)", {"the quotes are not closed"}},
      {"concatenate([image, image])", {"write concat([a, b], axis)"}},
      {"image if label else b1", {"there is no if"}},
      {"softmax(image, dim=1)", {"no parameter is called 'dim'", "usage: softmax(logits)"}},
      {"nn.dense(image, out_features=10)", {"'out_features'", "write units"}},
      {"nn.dense(image, 10, activation='Relu')", {"no activation 'Relu'", "one of linear, relu"}},
      {"nn.conv2d(image, filters=3, kernel_size=3)", {"'kernel_size'", "write kernel"}},
      {"nn.conv2d(image, filters=3, kernel=3)", {"its rank must be 4", "reshape(x, [-1, height, width"}},
      {"mean(equal(argmax(logits, 1), label))", {"is bool", "mean(cast(equal(a, b), 'float'))"}},
      {"nn.embedding(image, rows=20, units=2)",
       {"the ids are float", "write cast(x, 'int32')", "[data.inputs]"}},
      {"nn.dropout(image, p=0.5)", {"'p'", "write rate"}},
      {"matmul(hidden, w1)", {"[?,100]", "[64,100]", "inner dimensions"}},
  };
  for (const auto& [expression, parts] : rows) {
    const std::string text =
        with("[model.graph]", "[model.graph]\nspare = \"" + std::string(expression) + '"');
    Parts all = parts;
    all.emplace_back("run.toml:13:");
    check_says(config::mistakes(text), all, expression);
  }
}

struct Line {
  const char *beginning, *line;
  Parts parts;
};

const std::string layer_before = "[model]\nlayers = [";

BOOST_AUTO_TEST_CASE(in_keys_and_values) {
  const std::vector<Line> rows = {
      {"optimizer",
       "optimizer = { type = 'adam', learning_rate = 1 }",
       {":18:30", "write train.optimizer.lr"}},
      {"max_epochs", "epochs = 4", {":20:1", "train.epochs", "write train.max_epochs"}},
      {"batch", "batch_size = 4", {":7:1", "write data.batch"}},
      {"optimizer", "optimizer = 'adam'", {":18:13", "write { type = \"adam\", lr = 1e-3 }"}},
      {"optimizer", "optimizer = { type = 'SGD', lr = 1 }", {":18:22", "write \"sgd\""}},
      {"optimizer", "optimizer = { type = 'sgd', lr = 1, momentum = 0.9 }", {"write type = \"momentum\""}},
      {"loss = \"loss", "loss = 'mse'", {":17:9", "unknown loss 'mse'; write \"mean_squared_error\""}},
      {"metrics", "metrics = ['acc']", {":19:13", "unknown metric 'acc'; write \"accuracy\""}},
      {"metrics", "metrics = ['accuracy', 'f1_score']", {":19:25", "write \"f1\""}},
      {"metrics", "metrics = ['mae']", {":19:13", "write \"mean_absolute_error\""}},
      {"metrics", "metrics = ['something']", {":19:13", "known: accuracy, "}},
      {"valid", "validation_split = 0.2", {":6:1", "write data.valid = { split = 0.2 }"}},
      {"valid", "test_size = 0.2", {":6:1", "write data.valid = { split = 0.2 }"}},
      {"[model.variables]", "[model]\nnum_layers = 3\n[model.variables]", {":9:1", "model.layers"}},
      {"[model.variables]", "[model]\nhidden_size = 3\n[model.variables]", {":9:1", "write units"}},
      {"w1", "w1 = { shape = [64, 100], init = 'xavier_uniform' }", {":9:34", "write \"glorot_uniform\""}},
      {"batch", "batch = 64\ndevice = 'cuda'", {":8:1", "run.gpus", "built with CUDA"}},
      {"batch", "batch = 64\nnum_workers = 4", {":8:1", "run.threads", "--local worker=2"}},
      {"batch", "batch = 64\nshuffle = 'yes'", {":8:11", "expected true or false", "without quotes"}},
      {"max_epochs", "max_epochs = 4\ngpus = 1", {":21:1", "run.gpus"}},
      {"optimizer",
       "optimizer = { type = 'Adam', learning_rate = 1, beta1 = 0.9 }",
       {":18:22", "write \"adam\"", ":18:30", "write train.optimizer.lr"}},
      {"batch", "batch = '64'", {":7:9", "write 64, without quotes"}},
      {"batch", "batch = 1e3", {":7:9", "expected an integer", "write 1000"}},
      {"batch", "batch = 1e-3", {":7:9", "expected an integer", "found 0.001"}},
      {"batch", "batch = -1", {":7:9", "at least 1", "found -1"}},
      {"batch", "batch = [64]", {":7:9", "expected an integer", "found [64]"}},
      {"max_epochs", "max_epochs = 0", {":20:14", "at least 1", "found 0"}},
      {"batch", "batch = 64\nshuffle = True", {":8:", "write true, in small letters"}},
      {"batch", "batch = None", {":7:", "leave the key out"}},
      {"format", "format = csv", {":3:", "a text is written in quotes"}},
      {"batch", "batch: 64", {":7:6", "write '=' instead of ':'"}},
      {"batch", "batch = 64  # gr\xfcn", {":7:", "no text in UTF-8, which run files (TOML) are"}},
      {"max_epochs",
       "max_epochs = 4\nmax_epochs = 5",
       {":21:1", "max_epochs is given twice, first in line 20"}},
      {"batch",
       "batch = [64",
       {":7:9", "the bracket that begins here is not closed: ']' is missing before line 8"}},
      {"early_stop", "early_stopping = { patience = 3 }", {":21:1", "write train.early_stop"}},
      {"batch", "batch = 64\nsep = ';'", {":8:1", "write data.delimiter"}},
      {"loss = \"loss",
       "loss = 'logits'",
       {":17:9", "float[?,10]", "must be a scalar", "mean(...) of it is one"}},
      {"metrics",
       "metrics = { all = 'all(equal(argmax(logits, 1), label))' }",
       {"all is bool[]; it must be a scalar of a floating type; cast(..., 'float') of it is one"}},
      {"metrics",
       "metrics = { each = 'equal(argmax(logits, 1), label)' }",
       {"each is bool[?]", "mean(cast(..., 'float')) of it is one"}},
      {"hidden",
       "hidden = 'softmax_cross_entropy_with_logits(w2, label)'",
       {":15:11", "labels is int32", "float"}},
  };
  for (const auto& [beginning, line, parts] : rows)
    check_says(config::mistakes(with(beginning, line)), parts, line);
  const std::vector<std::pair<std::string, Parts>> layers = {
      {"{ type = 'Dense', units = 3 }", {"\"Dense\" is unknown", "write \"dense\""}},
      {"{ type = 'Linear', out_features = 3 }", {"\"Linear\" is unknown", "write \"dense\""}},
      {"{ type = 'MaxPool2d' }", {"write \"max_pool2d\""}},
      {"{ type = 'UpSampling2D' }", {"write \"upsample2d\""}},
      {"{ type = 'Conv1D', filters = 3, kernel = 3 }", {"write \"conv1d\""}},
      {"{ type = 'SimpleRNN', units = 3 }", {"write \"rnn\""}},
      {"{ type = 'RNN', units = 3 }", {"write \"rnn\""}},
      {"{ type = 'Bidirectional' }", {"add bidirectional=true to a layer rnn, lstm or gru"}},
      {"{ type = 'conv1d', filters = 3, kernel = 9, padding = 'VALID', input = 'reshape(image, [-1, 8, 8])' "
       "}",
       {"'conv1d_1'", "kernel covers 9 steps, which is more than the 8 of a sequence"}},
      {"{ type = 'dense', units = 3, dropout = 0.5 }", {"a layer of its own, { type = \"dropout\""}},
      {"{ type = 'dense', in_features = 3, units = 5 }", {"leave it out"}},
      {"{ type = 'conv2d', filters = 3, kernel_size = 3 }", {"write kernel"}},
      {"{ type = 'dense', units = 3, activation = 'Relu' }", {"no activation 'Relu'", "one of linear, relu"}},
      {"{ type = 'conv2d', filters = 3, kernel = 3 }", {"'conv2d_1'", "its rank must be 4", "reshape("}},
      {"{ type = 'max_pool2d', window = 9, input = 'reshape(image, [-1, 8, 8, 1])' }",
       {"'max_pool2d_1'", "window is 9 x 9, which is more than the 8 x 8 of an image", "0 x 0"}},
      {"{ type = 'avg_pool2d', window = [2, 10], input = 'reshape(image, [-1, 8, 8, 1])' }",
       {"'avg_pool2d_1'", "window is 2 x 10", "a result of 4 x 0"}},
      {"{ type = 'conv2d', filters = 3, kernel = 9, padding = 'VALID', input = 'reshape(image, [-1, 8, 8, "
       "1])' "
       "}",
       {"'conv2d_1'", "kernel is 9 x 9", "0 x 0"}},
  };
  for (auto [layer, parts] : layers) {
    parts.emplace_back("run.toml:9:");
    check_says(config::mistakes(with("[model.variables]", layer_before + layer + "]\n[model.variables]")),
               parts, layer);
  }
}

BOOST_AUTO_TEST_CASE(in_files_of_data) {
  struct Row {
    std::string bytes;
    const char* more;  ///< lines of [data]
    Parts parts;
  };
  const std::string rows = "1,2,0\n3,4,1\n";
  const std::vector<Row> files = {
      {"1;2;0\n3;4;1\n", "", {"with data.delimiter = \";\" its first row has 3 columns"}},
      {"1\t2\t0\n", "", {"with data.delimiter = \"\\t\" its first row has 3 columns"}},
      {rows, "delimiter = ';'\n", {"with data.delimiter = \",\" its first row has 3 columns"}},
      {"a,b,c\n" + rows, "", {"row 1, column 1", "'a'", "set header = true"}},
      {"1,2,1\n" + rows,
       "header = true\n",
       {"takes the first row for the names", "some of them twice", "data.header at run.toml:4:1"}},
      {rows, "label = 3\n", {"the columns have the numbers 0 to 2", "data.label at run.toml:4:1"}},
      {"1,2,0.5\n", "", {"no class", "write cast = \"float\"", "mean_squared_error"}},
      {"1,2,\n", "", {"the label is missing", "leaves such rows out"}},
      {"a,b,c\n" + rows, "header = true\nlabel = 'target'\n", {"no column 'target'", "'a', 'b', 'c'"}},
      {"1,2,0\n3,nan,1\n", "", {"row 2, column 2", "'nan'", "data.columns can say"}},
      {"1;2;0\n3,5;4;1\n",
       "delimiter = ';'\n",
       {"row 2, column 1", "'3,5'", "data.decimal = \",\" reads it"}},
      {"1,2,0\n\"3,5\",4,1\n", "", {"row 2, column 1", "'3,5'", "data.decimal = \",\" reads it"}},
      {"1,2,0\n3,1\n", "", {"row 2", "has 2 columns", "first row has 3"}},
      {"1,2,0\n3,cat\n", "", {"row 2", "has 2 columns", "first row has 3"}},
      {"", "", {"the file has no samples"}},
      {"\xff\xfe\x31", "", {"UTF-16", "iconv"}},
      {"\x93NUMPY\x01", "", {"not csv, but a NumPy array", "data.format = \"npy\""}},
      {"PK\x03\x04", "", {"zip archive", "Excel"}},
      {"\x1f\x8b\x08", "", {"compressed by its first bytes", "end too early"}},
      {"1,2,cat\n3,4,dog\n",
       "label_names = ['cat', 'cow']\n",
       {"row 2, column 3", "'dog' is not in label_names"}},
  };
  const std::string model =
      "batch = 2\n[model.graph]\nloss = \"mean(image)\"\n[train]\nloss = \"loss\"\nmax_steps = 1\n"
      "optimizer = { type = \"sgd\", lr = 1.0 }\n";
  const auto failure = [&](test::MemoryDisk& disk, const std::string& more, const std::string& format) {
    const auto parsed =
        config::parse_run_config("[data]\nformat = \"" + format + "\"\ntrain = [\"x.csv\"]\n" + more + model,
                                 "run.toml", "/", {}, make_op_library()->ops);
    BOOST_REQUIRE_MESSAGE(parsed.ok(), parsed.status().text());
    return train::load_data(disk, *parsed).status().text();
  };
  for (const auto& [bytes, more, parts] : files) {
    test::MemoryDisk disk;
    disk.write("/x.csv", bytes);
    Parts all = parts;
    all.insert(all.end(), {"/x.csv", " at run.toml:"});
    check_says(failure(disk, more, "csv"), all, bytes);
  }
  test::MemoryDisk disk;
  check_says(failure(disk, "", "csv"), {"/x.csv", "named at run.toml:3:10"}, "missing");
  disk.write("/x.csv", rows);
  check_says(failure(disk, "", "npy"), {"not a .npy file", "named at run.toml:3:10"}, "npy");
  disk.write("/x.csv", "\xef\xbb\xbf" + rows);
  BOOST_TEST(failure(disk, "", "csv") == "");  // a byte order mark of UTF-8 does no harm
}

BOOST_AUTO_TEST_CASE(names_of_losses_and_metrics_need_a_result) {
  const auto failure = [](const std::string& result, const std::string& train) {
    const std::string text =
        "[data]\nformat = 'csv'\ntrain = ['x.csv']\nbatch = 2\ninputs = { label = { cast = 'float' } }\n"
        "[model.graph]\n" +
        result + " = \"squeeze(nn.dense(image, units=1), [1])\"\n[train]\n" + train +
        "\nmax_steps = 1\noptimizer = { type = 'sgd', lr = 1.0 }\n";
    return config::mistakes(text);
  };
  BOOST_TEST(failure("output", "loss = 'mean_squared_error'\nmetrics = ['r2']") == "");
  for (const std::string train :
       {"loss = 'mean_squared_error'", "loss = 'mean(square(p - label))'\nmetrics = ['r2']"})
    check_says(failure("p", train),
               {train.ends_with("['r2']") ? "'r2' compares" : "'mean_squared_error' compares",
                "no result of these names", "(RESULT, label)"},
               train);
}

struct Warned {
  const char *data, *layers, *train, *warning;
};

BOOST_AUTO_TEST_CASE(that_train_something_else_are_warned_of) {
  const std::string classes = "label_names = ['a', 'b', 'c']\n", words = "1,2,a\n3,4,b\n5,6,c\n7,8,a\n",
                    numbers = "1,2,0\n3,4,1\n5,6,7\n7,8,0\n";
  const std::vector<Warned> rows = {
      {classes.c_str(), "units = 2", "",
       "'logits' has 2 values for a sample, enough for 2 classes, but 'label' has 3 classes (\"a\", \"b\", "
       "\"c\"); write units = 3"},
      {classes.c_str(), "units = 1", "", "'logits' has one value for a sample"},
      {"", "units = 3", "",
       "'label' has the value 7; it is the last column, because data.label names no other"},
      {"label = 'last'\n", "units = 3", "", "'label' has the value 7"},
      {classes.c_str(), "units = 3, activation = 'softmax'", "", "'logits' is the result of a softmax"},
      {classes.c_str(), "units = 3, activation = 'sigmoid'", "",
       "run.toml:9:11: 'logits' is the result of a sigmoid"},
      {classes.c_str(), "units = 3", "early_stop = { monitor = 'valid/loss', mode = 'max', patience = 2 }\n",
       "run.toml:15:47: train.early_stop.mode: \"max\""},
      {classes.c_str(), "units = 3",
       "early_stop = { monitor = 'valid/accuracy', mode = 'min', patience = 2 }\n",
       "train.early_stop.mode: \"min\" takes the worst values of 'valid/accuracy' for the best ones; write "
       "\"max\""},
      {"", "units = 1", "loss = 'mean_squared_error'\n",
       "'accuracy' compares classes, but the loss mean_squared_error is one of numbers"},
      {classes.c_str(), "units = 3", "",
       "train.metrics: they are computed on samples that the training does not see, and there are none"},
  };
  for (const Warned& row : rows) {
    test::MemoryDisk disk;
    disk.write("/x.csv", *row.data == 'l' && row.data[5] == '_' ? words : numbers);
    const bool has_loss = std::string_view(row.train).starts_with("loss");
    const std::string valid =
        std::string_view(row.warning).starts_with("train.metrics") ? "" : "valid = { split = 0.5 }\n";
    const std::string text =
        "[data]\nformat = 'csv'\ntrain = ['x.csv']\n" + valid + "batch = 2\n" + row.data +
        (has_loss ? "[data.inputs]\nlabel = { cast = 'float', shape = [1] }\nimage = { from = 'image' }\n"
                  : "") +
        "[model]\ninput = 'image'\nlayers = [{ type = 'dense', name = 'logits', " + row.layers +
        " }]\n[train]\nmetrics = ['accuracy']\nmax_steps = 1\noptimizer = { type = 'sgd', lr = 1.0 }\n" +
        (has_loss ? "" : "loss = 'softmax_cross_entropy'\n") + row.train;
    const auto parsed = config::parse_run_config(text, "run.toml", "/", {}, make_op_library()->ops);
    BOOST_REQUIRE_MESSAGE(parsed.ok(), parsed.status().text());
    const auto data = train::load_data(disk, *parsed);
    BOOST_REQUIRE_MESSAGE(data.ok(), data.status().text());
    std::string all;
    const auto warnings = runs::warnings_of_run(disk, *parsed, *data);
    if (!warnings) all = warnings.status().text();
    for (const std::string& warning : warnings ? *warnings : std::vector<std::string>())
      all += warning + '\n';
    check_says(all, {row.warning}, text);
  }
}

BOOST_FIXTURE_TEST_CASE(on_the_command_line, test::DigitsRuns) {
  const auto check = [](const Arguments& arguments, const Parts& parts, int code = 2) {
    test::Program program(test::troupe_program(), arguments);
    BOOST_TEST(program.end() == code, program.output());
    check_says(program.output(), parts, arguments.front() + ' ' + arguments.back());
  };
  const std::string digits = test::project_path("examples/digits.toml"), none = folder.path() + "/none";
  folder.write("x.csv", "1,2,0\n3,4,-1\n5,6,2\n");
  const std::string negative =
      folder.write("negative.toml",
                   "[data]\nformat = 'csv'\ntrain = ['x.csv']\nbatch = 2\n[model]\n"
                   "layers = [{ type = 'dense', units = 3 }]\n[train]\nloss = 'softmax_cross_entropy'\n"
                   "max_steps = 1\noptimizer = { type = 'sgd', lr = 1.0 }\n");
  for (const char* const command : {"check", "train"})
    check({command, negative}, {"'label' has the value -1", "from 0 on"}, 3);
  check({"fit", digits}, {"no subcommand 'fit'", "write `troupe train FILE`", "`troupe help` lists"});
  check({"evaluate", none}, {"no subcommand 'evaluate'", "write `troupe eval RUN`"});
  check({"train"}, {"troupe train: missing: file (run file (TOML))", "Example: troupe train"});
  check({"predict"}, {"troupe predict: missing: run (", "Example: troupe predict"});
  check({"run", digits}, {"digits.toml is a run file, not a graph", "`troupe train"});
  check({"train", test::project_path("examples/iris.csv")}, {"is a table", "`troupe init"});
  check({"train", digits, "--epochs", "5"}, {"'--epochs'", "--set train.max_epochs=VALUE"});
  check({"train", digits, "--lr=0.1"}, {"'--lr=0.1'", "--set train.optimizer.lr=VALUE"});
  check({"train", digits, "--batch-size", "3"}, {"--set data.batch=VALUE"});
  check({"train", digits, "--gpu"}, {"'--gpu'", "run.gpus"});
  check({"train", digits, "--set", "lr=0.1"}, {"--set lr", "write train.optimizer.lr"});
  check({"train", digits, "--set", "optimizer.lr=0.1"}, {"write train.optimizer"});
  check(run("train", "x", {"--local", "2"}), {"JOB=COUNT", "such as worker=2"});
  folder.write("nune", "");
  check(run("train", "x", {"--resume", none}),
        {"there is no run folder", none, "the nearest in its folder is 'nune'"});
  check({"predict", none, digits}, {"there is no run or model", none});
  check({"train", digits, "--resume"}, {"troupe train: --resume needs a value (", "`troupe help train`"});
  check({"graph", digits, "--form", "png"}, {"graph: --form: expected dot, svg or html; found 'png'"});
  check({"ctl", none, "kill"},
        {"expected pause, resume, checkpoint, stop, drain, add or backups; found 'kill'"});
  check({"ckpt", "list", none}, {"action: expected ls, show, diff, convert or average; found 'list'"});
  check({"train", digits, "--memory", "8 gigs"}, {"--memory: expected a number of bytes", "found '8 gigs'"});
  check({"train", digits, "--transport", "x"}, {"--transport: expected auto, shared, tcp or ucx; found 'x'"});
  check({"train", digits, "--dry-run", "0"}, {"--dry-run: expected a whole number above 0; found '0'"});
  check({"serve", none, "--port", "http"}, {"expected a whole number from 0 to 65535; found 'http'"});
  check({"sweep", digits, "--try", "data.batch=1", "--seed", "x"},
        {"--seed: expected a whole number of at least 0; found 'x'"});
  check({"train", digits, "--local", "ps=1", "--cluster", none}, {"cannot be used together"});
  check({"export", none, none + ".h5"}, {"none.h5: export writes no .h5 files; allowed: NAME.onnx"});
  check({"graph", digits, "-o", none + ".pdf"},
        {"none.pdf: graph writes no .pdf files; allowed: .dot, .svg"});
  const Parts is_run_file = {"digits.toml is a run file; expected the folder of a run, such as runs/digits/"};
  check({"predict", digits, none}, is_run_file);
  check({"eval", digits}, is_run_file);
  check({"export", digits, none}, is_run_file);
  check({"report", digits}, is_run_file);
  check({"serve", digits}, is_run_file);
  check({"train", digits, "--resume", digits}, is_run_file);
  check({"predict", folder.path(), none, "--set", "train.max_epochs=1"},
        {"--set train.max_epochs: with a trained model only keys of [data] have an effect"});
  check({"sweep", digits, "--try", "data.batch=64", "--random", "3"},
        {"data.batch=64 is one value", "the 3 trials of --random", "data.batch=LOW..HIGH"});
  check({"init", folder.write("logo.png", "\x89PNG\r\n")}, {"init reads text with columns", "a picture"}, 3);
  check(run("train", "x", {"--set", "model.init_from=" + folder.write("w.h5", "")}),
        {"--set model.init_from: ", "w.h5 is a file of Keras; allowed: ", "safetensors.numpy.save_file"});
  folder.write("run.toml", "");
  check({"train", folder.path() + "/rum.toml"}, {"cannot open", "the nearest in its folder is 'run.toml'"});
  const std::string folder_data = "data.train=[\"" + folder.path() + "\"]";
  check(run("check", "x", {"--set", folder_data}), {"named by a pattern", "named at --set data.train"}, 3);
  folder.write("big.csv", "1,2,0\n3,4,12\n5,6,1\n7,8,0\n");
  const std::string text = "run = { directory = '" + folder.path() +
                           "' }\n[data]\nformat = 'csv'\ntrain = ['big.csv']\nbatch = 4\n[model.graph]\n"
                           "logits = 'nn.dense(image, units=10)'\n"
                           "loss = 'mean(logits) + mean(gather(random_normal([10]), label))'\n[train]\n"
                           "loss = 'loss'\nmax_steps = 1\noptimizer = { type = 'sgd', lr = 0.1 }\n";
  const std::string penguins = test::project_path("examples/penguins.toml");  // no mistake
  check({"graph", penguins, "-o", folder.path() + "/model.dot"}, {"model.dot"}, 0);
  check({"train", folder.write("big.toml", text)}, {"12 is not in [0, 10)", "in 'loss' at", "big.toml:8:8"});
  check({"sweep", digits, "--try", "train.max_epochs=1,5"},
        {"--try train.max_epochs: all trials train for the same"});
  check({"sweep", digits, "--try", "data.valid.fold=0,1", "--folds", "2"},
        {"--folds says which samples are held out"});
  check({"train", digits, "--set", "train.early_stop.monitor=train/accuracy"},
        {"'train/accuracy' is not computed: of the training part only train/loss is"});
  check({"train", digits, "--set", "train.optimizer={tpye=\"adam\",lr=0.1}"}, {"tpye", "type"});
  check({"sweep", digits, "--try", "lr=1e-3,1e-2"}, {"--try lr: lr: unknown key; write train.optimizer.lr"});
  check({"status"}, {"missing: the folder of a run, such as runs/digits/001, or --cluster FILE"});
  check({"status", none}, {"there is no run '" + none, "the nearest in its folder is 'nune'"}, 2);
  check({"serve", none}, {"there is no run or model '" + none, "'nune'"});
  check({"init", none}, {"there is no file or folder '" + none, "'nune'"}, 3);
  check({"ckpt", "show", folder.write("model.pt", "x")}, {"model.pt is a file of PyTorch; allowed: "});
  check({"help", "keys", "lr"}, {"no key 'lr'; write train.optimizer.lr"});
  check({"help", "ops", "reduce_mean"}, {"no op 'reduce_mean'; write mean(x, axis)"});
  check({"help", "optimizers"}, {"the nearest is 'optimizer'", "`troupe help keys`"});
  check({"help", "data.batch"}, {"data.batch: an integer, at least 1"}, 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::mistakes_test
