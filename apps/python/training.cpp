#include "apps/training.h"

#include <pybind11/stl.h>

#include "apps/python/arrays.h"
#include "apps/python/gil.h"
#include "apps/python/interrupts.h"
#include "apps/python/training.h"

namespace troupe::python {
namespace py = pybind11;
namespace {

/// The functions of Python that a training calls, without the global interpreter lock (GIL) of its own thread. What one of them
/// raises ends the training in order, and is raised when it has ended.
class Callbacks {
 public:
  Callbacks(py::object epoch, py::object progress, py::object log)
      : epoch_(std::move(epoch)), progress_(std::move(progress)), log_(std::move(log)) {}

  void add_to(TrainingOptions& options) {
    if (!epoch_.is_none())
      options.epoch = [this](const EpochReport& report) {
        return call([&] { return epoch_(report.step, report.epochs, dictionary(report.metrics)); });
      };
    if (!progress_.is_none())
      options.progress = [this](const TrainingProgress& progress) {
        return call([&] {
          return progress_(progress.step, progress.last_step, progress.epoch, progress.loss,
                           progress.samples_per_second);
        });
      };
    if (!log_.is_none())
      options.log = [this](const std::string& line) {
        if (!call([&] { return log_(line); })) cancellation_.cancel();
      };
    options.cancellation = &cancellation_;
  }

  Cancellation& cancellation() { return cancellation_; }
  /// Raises what a function has raised. Needs the GIL.
  void raise() {
    if (failure_) throw py::error_already_set(std::move(*failure_));
  }

  static py::dict dictionary(const Metrics& metrics) {
    py::dict result;
    for (const auto& [name, value] : metrics) result[py::str(name)] = value;
    return result;
  }

 private:
  /// Returns whether a function has answered False, or NumPy's false, which comparisons of its numbers yield.
  static bool is_false(const py::object& answer) {
    if (answer.is(py::handle(Py_False))) return true;
    return py::isinstance(answer, py::module_::import("numpy").attr("bool_")) && !answer.cast<bool>();
  }

  /// Returns whether the training goes on: unless the function returns False or raises something.
  template <class Function>
  bool call(Function function) {
    const GilTaken acquired;
    if (failure_) return false;
    try {
      return !is_false(function());
    } catch (py::error_already_set& error) {
      failure_.emplace(std::move(error));
      return false;
    }
  }

  const py::object epoch_, progress_, log_;
  Cancellation cancellation_;
  std::optional<py::error_already_set> failure_;
};

const char* joined_text(TrainingEnd end) {
  switch (end) {
    case TrainingEnd::Completed: return "completed";
    case TrainingEnd::EarlyStopped: return "early stopped";
    case TrainingEnd::Stopped: return "stopped";
    case TrainingEnd::Diverged: return "diverged";
  }
  return "completed";
}

TrainingOutcome train_without_gil(const RunFile& file, const TrainingOptions& options, Callbacks& callbacks) {
  const CancelOnInterrupt interrupt(&callbacks.cancellation());
  raise_signals();
  const GilReleased released;
  return file.train(options);
}

py::tuple train(const RunFile& file, std::optional<std::string> runs, const std::string& resume,
                const std::string& cluster, size_t memory, const py::object& on_epoch,
                const py::object& on_progress, const py::object& on_log, double progress_interval) {
  if (!(progress_interval >= 0 && progress_interval < 1e9))
    throw Error(invalid_argument("progress_interval must be a number of seconds, not " +
                                 std::to_string(progress_interval)));
  Callbacks callbacks(on_epoch, on_progress, on_log);
  TrainingOptions options{.runs = std::move(runs), .resume = resume, .cluster = cluster, .memory = memory};
  options.progress_interval = std::chrono::nanoseconds(static_cast<int64_t>(progress_interval * 1e9));
  callbacks.add_to(options);
  const TrainingOutcome outcome = [&] {
    try {
      return train_without_gil(file, options, callbacks);
    } catch (const Error&) {
      callbacks.raise();
      raise_signals();
      throw;
    }
  }();
  callbacks.raise();
  raise_signals();
  return py::make_tuple(joined_text(outcome.end), outcome.steps, outcome.epochs, outcome.seconds,
                        outcome.loss, Callbacks::dictionary(outcome.metrics), outcome.folder,
                        outcome.checkpoint);
}

py::dict evaluate_run(const std::string& path, const std::vector<std::string>& files,
                      const std::vector<std::string>& labels, const std::string& part,
                      const std::vector<std::string>& settings) {
  return Callbacks::dictionary(interruptible([&](const Cancellation* cancellation) {
    return evaluate(path, {.files = files,
                           .labels = labels,
                           .part = part,
                           .settings = settings,
                           .load = {},
                           .cancellation = cancellation});
  }));
}

py::dict predict_files(const std::string& path, PredictionOptions options) {
  auto columns = interruptible([&](const Cancellation* cancellation) {
    options.cancellation = cancellation;
    return predict(path, options);
  });
  py::dict results;
  for (auto& [name, values] : columns) results[py::str(name)] = to_array(std::move(values), nullptr);
  return results;
}

}  // namespace

void bind_training(py::module_& module) {
  py::class_<RunFile>(module, "RunFile")
      .def_static("read", &RunFile::read, py::arg("path"), py::arg("settings"))
      .def_static("parse", &RunFile::parse, py::arg("text"), py::arg("folder"), py::arg("settings"),
                  py::arg("name"))
      .def("effective", &RunFile::effective)
      .def("train", &train, py::kw_only(), py::arg("runs"), py::arg("resume"), py::arg("cluster"),
           py::arg("memory"), py::arg("on_epoch"), py::arg("on_progress"), py::arg("on_log"),
           py::arg("progress_interval"));
  module.def(
      "predict",
      [](const std::string& path, std::vector<std::string> files, std::string part,
         std::vector<std::string> outputs, std::vector<std::string> keep, std::vector<std::string> settings) {
        return predict_files(path, {.files = std::move(files),
                                    .part = std::move(part),
                                    .outputs = std::move(outputs),
                                    .keep = std::move(keep),
                                    .settings = std::move(settings),
                                    .load = {}});
      },
      py::arg("path"), py::arg("files"), py::arg("part"), py::arg("outputs"), py::arg("keep"),
      py::arg("settings"));
  module.def("evaluate", &evaluate_run, py::arg("path"), py::arg("files"), py::arg("labels"), py::arg("part"),
             py::arg("settings"));
}

}  // namespace troupe::python
