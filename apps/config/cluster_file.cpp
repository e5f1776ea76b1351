#include "apps/config/cluster_file.h"

#include <filesystem>
#include <map>

#include "apps/config/reader.h"
#include "apps/config/run_config.h"

namespace troupe::config {
namespace {

// One row per key.
// clang-format off
constexpr Key keys[] = {
    {"cluster", Kind::Section, "the cluster itself", {.required = true}},
    {"cluster.name", Kind::String, "the name that all members give; it is a secret if there is no TLS",
     {.required = true}},
    {"cluster.plain", Kind::Boolean, "allows connections without TLS between hosts", {.initial = "false"}},
    {"cluster.tls", Kind::Section,
     "certificates; in their paths {job} and {task} stand for those of each task"},
    {"cluster.tls.cert", Kind::Paths, "certificate of a task (PEM)", {.required = true}},
    {"cluster.tls.key", Kind::Paths, "key of that certificate (PEM)", {.required = true}},
    {"cluster.tls.ca", Kind::Paths, "certificate of the authority that signed all certificates (PEM)",
     {.required = true}},
    {"jobs", Kind::Section, "the tasks of each job", {.required = true}},
    {"jobs.*", Kind::Endpoints, "the addresses of the tasks of a job, task 0 first"},
};
// clang-format on

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

std::string file_of(const Reader& tls, const char* key, const std::string& job, int task) {
  const auto paths = tls.list<std::string>(key);
  return paths.empty() ? std::string()
                       : replaced(replaced(paths[0], "{job}", job), "{task}", std::to_string(task));
}

/// Returns what is wrong with an endpoint of a job, or an empty text. `owners` has the tasks of the endpoints before.
std::string mistake_in(const std::string& job, const std::string& task, const std::string& endpoint,
                       std::map<std::string, std::string>& owners) {
  const auto [owner, is_free] = owners.emplace(endpoint, task);
  const std::string place = "jobs." + job + ": \"" + endpoint + '"';
  if (!is_free) return place + " is the address of " + owner->second + ", too; each task needs its own";
  return endpoint.ends_with(":0") ? place + " has port 0; others need to know the port: 1 to 65535"
                                  : std::string();
}

/// Refuses endpoints that two tasks have, and those without a port of their own.
void check_endpoints(const Reader& jobs, Diagnostics& diagnostics) {
  std::map<std::string, std::string> owners;  // by endpoint
  jobs.each([&](const std::string& job, SourceLocation, const Value& value) {
    int index = 0;
    for (const Value& one : std::get<List>(value.data)) {
      std::string task = job;
      task.append("/").append(std::to_string(index++));
      if (auto mistake = mistake_in(job, task, std::get<std::string>(one.data), owners); !mistake.empty())
        diagnostics.error(one.place, std::move(mistake));
    }
  });
}

}  // namespace

std::span<const Key> cluster_schema() { return keys; }

Result<ClusterSpec> parse_cluster(std::string text, const std::string& file, const std::string& folder,
                                  const std::string& job, int task) {
  TROUPE_ASSIGN(Document document, Document::parse(file, std::move(text)));
  Diagnostics diagnostics(document);
  check(document, keys, folder, diagnostics);
  if (!diagnostics.empty()) return diagnostics.status();
  const Reader root(&document.root()), cluster = root.table("cluster");
  check_endpoints(root.table("jobs"), diagnostics);
  if (!diagnostics.empty()) return diagnostics.status();
  ClusterSpec spec;
  spec.name = cluster.string("name");
  spec.plain_anywhere = cluster.get<bool>("plain");
  if (cluster.has("tls")) {
    const Reader tls = cluster.table("tls");
    spec.tls = {file_of(tls, "cert", job, task), file_of(tls, "key", job, task),
                file_of(tls, "ca", job, task)};
  }
  root.table("jobs").each([&](const std::string& name, SourceLocation, const Value& value) {
    int index = 0;
    for (const Value& endpoint : std::get<List>(value.data))
      spec.jobs[name][index++] = std::get<std::string>(endpoint.data);
  });
  return spec;
}

std::map<std::string, int64_t> tasks_of(const ClusterSpec& cluster) {
  std::map<std::string, int64_t> tasks;
  for (const auto& [job, addresses] : cluster.jobs) tasks[job] = static_cast<int64_t>(addresses.size());
  return tasks;
}

Status check_training_jobs(const ClusterSpec& cluster) {
  Status failure = invalid_argument("the cluster has no jobs");
  for (const auto& [job, tasks] : cluster.jobs) {
    failure = check_training_job(job);
    if (failure.ok()) return {};
  }
  return invalid_argument("the cluster has neither a job worker nor a job ps: " + failure.text());
}

Result<ClusterSpec> load_cluster(Disk& disk, const std::string& path, const std::string& job, int task) {
  TROUPE_ASSIGN(auto text, read_document(disk, path));
  const auto folder = std::filesystem::absolute(path).parent_path().string();
  return parse_cluster(std::move(text), path, folder, job, task);
}

}  // namespace troupe::config
