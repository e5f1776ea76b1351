#include "apps/cluster/certs.h"

#include <sys/stat.h>

#include "actors/net/transport/certificate_files.h"
#include "actors/net/transport/certificates.h"
#include "apps/cluster/processes.h"
#include "messages/env/real_disk.h"
#include "messages/values/device_name.h"

namespace troupe::cluster {
namespace {

using namespace std::chrono_literals;

constexpr auto valid = 24h * 365;
constexpr uint64_t max_bytes = 1 << 16;

class Folder {
 public:
  explicit Folder(std::string path) : path_(std::move(path)) {}

  Status write(const std::string& name, const std::string& text) {
    TROUPE_ASSIGN(auto file, NewFile::create(disk_, path_ + '/' + name));
    TROUPE_RETURN_IF_FAILED(file.write(text));
    TROUPE_RETURN_IF_FAILED(file.commit());
    written_.push_back(path_ + '/' + name);
    return {};
  }
  Status write(const std::string& name, const KeyPair& pair) {
    TROUPE_RETURN_IF_FAILED(write(name + ".pem", pair.certificate));
    return write(name + ".key", pair.key);
  }
  Result<std::string> read(const std::string& name) {
    return read_file(disk_, path_ + '/' + name, max_bytes);
  }
  Status make() { return make_folders(disk_, path_); }
  const std::string& path() const { return path_; }
  const std::vector<std::string>& written() const { return written_; }

 private:
  RealDisk disk_;
  const std::string path_;
  std::vector<std::string> written_;
};

/// Fails if a file could not be read for another reason than that there is none.
Status check_read(const Result<std::string>& file) {
  return file || file.status().code() == Code::NotFound ? Status() : file.status();
}

/// Returns the authority in the folder, or makes one where there is none at all: a new one in the place of another would make all
/// certificates worthless that nodes have already.
Result<KeyPair> authority_in(Folder& folder, const std::string& cluster) {
  const auto certificate = folder.read("ca.pem"), key = folder.read("ca.key");
  TROUPE_RETURN_IF_FAILED(check_read(certificate));
  TROUPE_RETURN_IF_FAILED(check_read(key));
  if (certificate && key) {
    const std::string authority = folder.path() + "/ca.pem";
    if (const Status status = check_valid({authority, folder.path() + "/ca.key", authority}); !status.ok())
      return Status(status.code(), status.text() +
                                       "; another folder gets a new authority, whose certificates " +
                                       "all nodes then need");
    return KeyPair{*certificate, *key};
  }
  if (certificate || key)
    return failed_precondition(folder.path() + " has " + (certificate ? "ca.pem" : "ca.key") + " but no " +
                               (certificate ? "ca.key" : "ca.pem") +
                               ": copy it there to use this authority again; another folder gets a new "
                               "authority, whose certificates all nodes then need");
  TROUPE_ASSIGN(auto authority, make_authority(cluster, valid));
  TROUPE_RETURN_IF_FAILED(folder.write("ca", authority));
  return authority;
}

}  // namespace

Result<std::vector<std::string>> write_certificates(const std::string& folder_path,
                                                    const ClusterSpec& cluster) {
  const mode_t mask = ::umask(077);
  Folder folder(folder_path);
  const auto write_all = [&]() -> Status {
    TROUPE_RETURN_IF_FAILED(folder.make());
    TROUPE_ASSIGN(const auto authority, authority_in(folder, cluster.name));
    auto jobs = cluster.jobs;
    jobs[owner_job][0];
    for (const auto& [job, tasks] : jobs)
      for (const auto& [task, endpoint] : tasks) {
        const std::string name = DeviceName{job, 0, task, "", DeviceName::unset}.text();
        TROUPE_ASSIGN(const auto pair, make_certificate(authority, name, valid));
        TROUPE_RETURN_IF_FAILED(folder.write(job + "-" + std::to_string(task), pair));
      }
    return {};
  };
  const Status status = write_all();
  ::umask(mask);
  if (!status.ok()) return status;
  return folder.written();
}

}  // namespace troupe::cluster
