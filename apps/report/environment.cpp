#include "apps/report/environment.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <thread>

namespace troupe::report {
namespace {

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace

Facts environment(const std::string& version) {
  const double memory =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  return {{"program", "troupe " + version},
          {"processor of the machine that made this page", processor()},
          {"its threads", std::to_string(std::thread::hardware_concurrency())},
          {"its memory", fmt::format("{:.1f} GiB", memory / (1 << 30))},
          {"made at", fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)))}};
}

}  // namespace troupe::report
