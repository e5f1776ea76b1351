// Samples of the ops that a saver carries out.
#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
namespace {

Tensor texts(std::initializer_list<std::string> values) { return Tensor::vector<std::string>(values); }
const Tensor saved = Tensor::of<float>(Shape{2, 3}, {1, 2, 3, 4, 5, 6});

void add_saving(OpCases& cases, const std::string& test) {
  cases.served("SaveV2", {text("model"), texts({"a", "b"}), texts({"", "4 3 0,2:-"}), saved, saved}, {}, "",
               test);
  cases.bad("SaveV2", {text("model"), texts({"a"}), texts({"", ""}), saved, saved}, {},
            "tensor_names of shape [1] names 1 tensors, but there are 2");
  cases.bad("SaveV2", {texts({"model"}), texts({"a"}), texts({""}), saved}, {}, "[1]");
  cases.served("Save", {text("model"), texts({"a", "b"}), saved, saved}, {}, "", test);
  cases.bad("Save", {text("model"), texts({"a"}), saved, saved}, {}, "names 1 tensors, but there are 2");
  cases.served("SaveSlices", {text("model"), texts({"a"}), texts({"4 3 0,2:-"}), saved}, {}, "", test);
  cases.bad("SaveSlices", {text("model"), texts({"a"}), texts({"", ""}), saved}, {},
            "shapes_and_slices of shape [2] names 2 tensors, but there are 1");
}

void add_restoring(OpCases& cases, const std::string& test) {
  const Attributes two = {{"dtypes", std::vector<DType>{f32, i64}}}, one = {{"dt", f32}};
  cases.served("RestoreV2", {text("model"), texts({"a", "b"}), texts({"", ""})}, two, "? ?", test);
  cases.bad("RestoreV2", {text("model"), texts({"a"}), texts({""})}, two, "names 1 tensors, but there are 2");
  cases.bad("RestoreV2", {text("model"), text("a"), texts({""})}, {{"dtypes", std::vector<DType>{f32}}},
            "[]");
  cases.served("Restore", {text("model"), text("a")}, one, "?", test);
  cases.bad("Restore", {text("model"), texts({"a"})}, one, "[1]");
  cases.served("RestoreSlice", {text("model"), text("a"), text("4 3 0,2:-")}, one, "?", test);
  cases.bad("RestoreSlice", {text("model"), text("a"), texts({"4 3 0,2:-"})}, one, "[1]");
}

void add_remapping(OpCases& cases, const std::string& test) {
  const Attributes lines = {{"new_vocab_offset", int64_t{1}}, {"num_new_vocab", int64_t{3}}};
  cases.served("GenerateVocabRemapping", {text("new"), text("old")}, lines, "[3] []", test);
  cases.bad("GenerateVocabRemapping", {text("new"), texts({"old"})}, lines, "[1]");
  const Tensor two = Tensor::vector<int64_t>({0, -1}), none = Tensor::vector<int64_t>({}),
               three = Tensor::vector<float>({1, 2, 3});
  const Attributes size = {{"num_rows", int64_t{2}}, {"num_cols", int64_t{3}}};
  cases.served("LoadAndRemapMatrix", {text("model"), text("w"), two, none, three}, size, "[2,3]", test);
  cases.bad("LoadAndRemapMatrix", {text("model"), texts({"w"}), two, none, three}, size, "[1]");
  cases.bad("LoadAndRemapMatrix", {text("model"), text("w"), two, none, three},
            {{"num_rows", int64_t{2}}, {"num_cols", int64_t{0}}}, "num_cols");
}

}  // namespace

void add_saver_cases(OpCases& cases) {
  const std::string test = "actors/services/saver_steps_test.cpp";
  add_saving(cases, test);
  add_restoring(cases, test);
  add_remapping(cases, test);
  cases.served("MergeV2Checkpoints", {texts({"a", "b"}), text("model")}, {}, "", test);
  cases.bad("MergeV2Checkpoints", {text("a"), text("model")}, {}, "[]");
  cases.served("DisableCopyOnRead", {text("v")}, {}, "", test);
  cases.bad("DisableCopyOnRead", {}, {}, "takes 1 inputs, got 0");
}

}  // namespace troupe::test
