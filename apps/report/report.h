// The report of a run: one page of HTML that needs nothing else: what came out of the training, how it went, what the model
// predicts, and with which config. A function that reads files and computes; any thread that may block.
#pragma once

#include <string>
#include <vector>

#include "apps/report/sections.h"
#include "messages/env/disk.h"

namespace troupe::report {

struct ReportOptions {
  std::string run;               ///< what find_run() takes
  std::vector<std::string> set;  ///< changes of the run file that concern the data, "data.test.files=x.csv"
  size_t threads = 0;            ///< compute threads; 0: one for each core
  int64_t samples = 10'000;      ///< the most samples to predict
  Facts environment;             ///< what is known of the program and the machine
};

struct Report {
  std::string folder;  ///< of the run
  std::string page;
  std::vector<std::string> missing;  ///< a sentence for each part that could not be made
};

/// Makes the report of what is there; what is not is said in it. Fails with NotFound if there is no such run, and as the disk does.
Result<Report> make_report(Disk& disk, const ReportOptions& options);

}  // namespace troupe::report
