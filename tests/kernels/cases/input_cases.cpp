// Samples of the ops that bring data into graphs: files, readers, and the maps that keep sparse tensors on their way.
#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
namespace {

Tensor word(const std::string& value) { return Tensor::scalar(value); }
Tensor words() { return strings({"a", "b"}); }

void add_files(OpCases& cases) {
  const std::string test = "actors/files_steps_test.cpp";
  cases.served("ReadFile", {word("a")}, {}, "[]", test);
  cases.bad("ReadFile", {words()}, {}, "of shape [2] has rank 1, expected 0");
  cases.served("WriteFile", {word("a"), word("b")}, {}, "", test);
  cases.bad("WriteFile", {words(), word("b")}, {}, "of shape [2] has rank 1, expected 0");
  cases.bad("WriteFile", {word("a"), words()}, {}, "of shape [2] has rank 1, expected 0");
  cases.served("MatchingFiles", {words()}, {}, "[?]", test);
  cases.bad("MatchingFiles", {words().reshaped(Shape{2, 1})}, {}, "pattern has shape [2,1]");
}

}  // namespace

void add_input_cases(OpCases& cases) {
  add_files(cases);
}

}  // namespace troupe::test
