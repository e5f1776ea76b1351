// Trains the model of a run file, ends the training when the model is good enough, and loads it.
//
//   run_file FILE FOLDER        the run file, and the folder of runs: run_file examples/digits.toml runs
#include <troupe/training.h>

#include <cstdio>

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::fprintf(stderr, "usage: run_file FILE FOLDER\n");
    return 2;
  }
  const auto file = troupe::RunFile::read(argv[1], {"train.max_epochs=40"});
  const auto goes_on = [](const troupe::EpochReport& report) {
    for (const auto& [name, value] : report.metrics)
      if (name == "valid/accuracy") {
        std::printf("step %llu: %.3f\n", static_cast<unsigned long long>(report.step), value);
        return value < 0.9;
      }
    return true;
  };
  const auto run = file.train({.runs = argv[2], .epoch = goes_on});
  for (const auto& [name, value] : troupe::evaluate(run.folder))
    std::printf("%s = %.3f\n", name.c_str(), value);
  const troupe::Model model = troupe::load(run.folder);
  for (const auto& input : model.signature().inputs) std::printf("takes %s\n", input.name.c_str());
} catch (const troupe::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
