#include "apps/report/report.h"

#include <fmt/format.h>

#include "apps/draw/model_svg.h"
#include "apps/inference/model_source.h"
#include "apps/report/assets.h"
#include "apps/report/html.h"
#include "apps/runs/trained_run.h"
#include "kernels/core/kernel.h"

namespace troupe::report {
namespace {

/// A report that is being made.
class Maker {
 public:
  Maker(Disk& disk, const ReportOptions& options) : disk_(disk), options_(options) {}

  Result<Report> make() && {
    TROUPE_ASSIGN(report_.folder, find_run(disk_, options_.run));
    TROUPE_ASSIGN(const RunRecords records, read_records(disk_, report_.folder));
    std::string body = summary(records) + curves(records) + predictions_of_run();
    body += section("Model", model_of_run());
    body += section("Config", records.config.empty()
                                  ? leave_out("The folder has no config.toml.")
                                  : "<pre class=\"config\">" + html(records.config) + "</pre>");
    body += section("Made with", facts(options_.environment));
    report_.page =
        fmt::format(page_text, fmt::arg("title", html(records.name)),
                    fmt::arg("style", std::string(style_text) + graph_style_text), fmt::arg("body", body));
    return std::move(report_);
  }

 private:
  std::string leave_out(const std::string& why) {
    report_.missing.push_back(why);
    return missing(why);
  }

  std::string predictions_of_run() {
    // A path that names a checkpoint stands for its variables.
    const bool is_model = inference::kind_of(disk_, options_.run) != inference::ModelKind::None;
    const auto run = runs::open_trained_run(disk_, is_model ? options_.run : report_.folder, options_.set,
                                            {.threads = options_.threads});
    if (!run) return section("Predictions", leave_out("There are no predictions: " + run.status().message()));
    const auto comparison = compare_samples(*run);
    if (!comparison)
      return section("Predictions",
                     leave_out("Predictions are not compared with labels: " + comparison.status().message()));
    return predictions(*comparison);
  }

  Result<Comparison> compare_samples(const runs::TrainedRun& run) {
    const std::string part = run.config ? runs::default_part(*run.config) : std::string();
    TROUPE_ASSIGN(const auto samples,
                  runs::samples_to_evaluate(disk_, run, {.files = {}, .labels = {}, .part = part}));
    return compare(run, *samples, part, options_.samples);
  }

  std::string model_of_run() {
    const auto library = make_op_library();
    const auto source =
        inference::open_model(disk_, report_.folder + '/' + inference::run_model, {"serve"}, library->ops);
    if (!source) return leave_out("The model is not drawn: " + source.status().message());
    const auto svg = draw::model_svg(source->meta);
    return svg ? "<div class=\"picture\">" + *svg + "</div>"
               : leave_out("The model is not drawn: " + svg.status().message());
  }

  Disk& disk_;
  const ReportOptions& options_;
  Report report_;
};

}  // namespace

Result<Report> make_report(Disk& disk, const ReportOptions& options) { return Maker(disk, options).make(); }

}  // namespace troupe::report
