#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "actors/net/transport/ucx_network.h"
#include "apps/doctor/findings.h"
#include "devices/gpus.h"
#include "messages/objects/s3_disk.h"

namespace troupe::doctor {
namespace {

namespace fs = std::filesystem;

constexpr double gib = 1 << 30;

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// Returns the value of the first line of /proc/cpuinfo with this key.
std::string of_processor(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with(key) && colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

Finding processor() {
  const std::string flags = ' ' + of_processor("flags") + ' ';
  const auto has = [&](std::string_view flag) {
    return flags.find(fmt::format(" {} ", flag)) != std::string::npos;
  };
  Finding finding{
      Level::Ok,
      "processor",
      fmt::format("{}, {} threads", of_processor("model name"), std::thread::hardware_concurrency()),
      {}};
  if (!has("sse4_2") || !has("popcnt"))
    finding = {Level::Fail, "processor", finding.state + ", without SSE 4.2",
               "the program needs the instructions of x86-64-v2"};
  else if (!has("avx2"))
    finding = {Level::Warn, "processor", finding.state + ", without AVX2",
               "vector code is slow; a virtual machine may hide what its host has"};
  else
    finding.state += has("avx512f") ? ", AVX-512" : ", AVX2";
  return finding;
}

Finding memory() {
  const double all =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  const std::string limit = first_line("/sys/fs/cgroup/memory.max");
  const double allowed = limit.empty() || limit == "max" ? all : std::min(all, std::atof(limit.c_str()));
  Finding finding{Level::Ok, "memory", fmt::format("{:.1f} GiB", allowed / gib), {}};
  if (allowed < gib)
    finding = {Level::Warn, "memory", finding.state, "less than 1 GiB; --memory bounds what tensors take"};
  return finding;
}

Finding huge_pages() {
  const std::string state = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
  if (state.empty())
    return {Level::Warn, "huge pages", "unknown",
            "the kernel has no transparent huge pages; large tensors are slower"};
  if (state.find("[never]") != std::string::npos)
    return {Level::Warn, "huge pages", state,
            "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled, as root"};
  return {Level::Ok, "huge pages", state, {}};
}

Finding shared_memory() {
  struct statvfs info {};
  if (::statvfs("/dev/shm", &info) != 0)
    return {Level::Warn, "shared memory", "there is no /dev/shm",
            "nodes of this host use TCP; mount a tmpfs at /dev/shm"};
  const double free = static_cast<double>(info.f_bavail) * static_cast<double>(info.f_frsize);
  Finding finding{Level::Ok, "shared memory", fmt::format("{:.2f} GiB free in /dev/shm", free / gib), {}};
  if (free < gib / 4)
    finding = {Level::Warn, "shared memory", finding.state, "a container may need --shm-size=1g"};
  return finding;
}

Finding open_files() {
  struct rlimit limit {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  constexpr rlim_t few = 256, enough = 1024;
  const std::string state = fmt::format("{} at most", limit.rlim_cur);
  if (limit.rlim_cur < few) return {Level::Fail, "open files", state, "ulimit -n 4096"};
  if (limit.rlim_cur < enough)
    return {Level::Warn, "open files", state, "a node of a large cluster needs more: ulimit -n 4096"};
  return {Level::Ok, "open files", state, {}};
}

/// Certificates, the times of records and the timelines of several hosts depend on the clock.
Finding clock() {
  struct timex state {};
  const bool is_synchronised = ::adjtimex(&state) != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
  const std::time_t now = std::time(nullptr);
  const std::string time = fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(now));
  if (!is_synchronised)
    return {Level::Warn, "clock", time + ", not synchronised",
            "certificates may seem to be not valid yet; a service of NTP helps, such as chrony"};
  return {Level::Ok,
          "clock",
          fmt::format("{}, right within {:.3f} s", time, static_cast<double>(state.maxerror) / 1e6),
          {}};
}

/// Looks at the folder, or at the nearest one above it that exists.
Finding space(const std::string& directory) {
  std::error_code error;
  fs::path path = fs::absolute(directory, error);
  while (!fs::exists(path, error) && path.has_relative_path()) path = path.parent_path();
  struct statvfs info {};
  if (::statvfs(path.c_str(), &info) != 0 || ::access(path.c_str(), W_OK) != 0)
    return {Level::Fail, "space for runs", fmt::format("{} cannot be written", path.string()),
            "choose another folder: --set run.directory=PATH"};
  const double free = static_cast<double>(info.f_bavail) * static_cast<double>(info.f_frsize);
  const std::string state = fmt::format("{:.1f} GiB free at {}", free / gib, path.string());
  if (free < gib / 16)
    return {Level::Fail, "space for runs", state,
            "checkpoints need space; choose another folder: --set run.directory=PATH"};
  if (free < gib) return {Level::Warn, "space for runs", state, "checkpoints of large models may not fit"};
  return {Level::Ok, "space for runs", state, {}};
}

Finding program(const std::string& name, const std::string& use, const std::string& package) {
  std::istringstream folders(std::getenv("PATH") ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (std::string path = fmt::format("{}/{}", folder, name); ::access(path.c_str(), X_OK) == 0)
      return {Level::Ok, fmt::format("program {}", name), std::move(path), {}};
  return {Level::Warn, "program " + name, "not found; " + use + " needs it", "apt-get install " + package};
}

/// Says how many GPUs the program can use, or why it can use none. A machine needs none.
Finding gpus() {
  const auto count = count_gpus();
  return {Level::Ok, "GPUs", count ? std::to_string(*count) : count.status().text(), {}};
}

/// Says which parts the program has that a build may lack.
Finding parts_of_program() {
  const bool has_s3 = make_s3_disk({}).status().code() != Code::Unimplemented;
  return {
      Level::Ok,
      "parts of the program",
      fmt::format("{} UCX, {} libcurl (s3://)", has_ucx() ? "with" : "without", has_s3 ? "with" : "without"),
      {}};
}

}  // namespace

std::vector<Finding> check_machine(const std::string& directory) {
  return {processor(),
          memory(),
          huge_pages(),
          shared_memory(),
          open_files(),
          clock(),
          space(directory),
          program("dot", "a picture of a graph", "graphviz"),
          program("ssh", "a cluster on several hosts", "openssh-client"),
          gpus(),
          parts_of_program()};
}

}  // namespace troupe::doctor
