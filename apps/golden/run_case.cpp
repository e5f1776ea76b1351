#include "apps/golden/run_case.h"

#include <map>

#include "apps/golden/compare.h"
#include "graph/build/gradients.h"

namespace troupe::golden {
namespace {

class Runner {
 public:
  explicit Runner(Case& golden) : golden_(golden) {}

  /// Adds the gradients that the case requests. Throws Error as the graph builder does.
  void add_gradients() {
    const Scope scope(golden_.graph);
    for (const GradientRequest& request : golden_.gradients) {
      std::vector<Output> by;
      for (const auto& name : request.by) by.push_back(tensor(name));
      const auto found = gradients(scope, {tensor(request.of)}, by);
      for (size_t i = 0; i < by.size(); ++i)
        added_[request.name + ":" + std::to_string(i)] = dense(scope, found[i], by[i]);
    }
  }

  /// Runs a step. Returns how it failed, or an empty string if it passed.
  std::string run(Session& session, const Step& step, std::chrono::nanoseconds timeout) const {
    std::vector<Tensor> got;
    try {
      std::vector<std::pair<Output, Tensor>> feeds;
      for (const auto& [name, value] : step.feeds) feeds.emplace_back(tensor(name), value);
      std::vector<Output> fetches;
      for (const auto& name : step.fetches) fetches.push_back(tensor(name));
      for (const auto& name : step.targets)
        fetches.push_back(value_or_throw(golden_.graph.find_target(name)));
      got = session.run(feeds, fetches, {.timeout = timeout});
    } catch (const Error& error) {
      if (step.failure && error.status().code() == *step.failure) return {};
      return (step.failure ? "fails, but not with " + std::string(name(*step.failure)) + ": " : "fails: ") +
             error.status().message();
    }
    if (step.failure) return "does not fail; expected " + std::string(name(*step.failure));
    for (size_t i = 0; i < got.size(); ++i)
      if (std::string what = difference(got[i], step.expected[i], {step.relative, step.absolute});
          !what.empty())
        return step.fetches[i] + ": " + what;
    return {};
  }

 private:
  Output tensor(const std::string& name) const {
    const auto at = added_.find(name);
    return at != added_.end() ? at->second : value_or_throw(golden_.graph.find_output(name));
  }

  Case& golden_;
  std::map<std::string, Output> added_;
};

}  // namespace

std::vector<std::string> run_case(Case& golden, const std::function<Session(const Graph&)>& open,
                                  std::chrono::nanoseconds step_timeout) try {
  Runner runner(golden);
  runner.add_gradients();
  Session session = open(golden.graph);
  std::vector<std::string> failures;
  for (size_t i = 0; i < golden.steps.size(); ++i)
    if (const std::string what = runner.run(session, golden.steps[i], step_timeout); !what.empty())
      failures.push_back("step " + std::to_string(i + 1) + ": " + what);
  session.close();
  return failures;
} catch (const Error& error) {
  return {error.status().message()};
}

}  // namespace troupe::golden
