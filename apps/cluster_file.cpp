#include "apps/cluster_file.h"

#include "apps/config/cluster_file.h"
#include "messages/env/real_disk.h"

namespace troupe {

ClusterSpec read_cluster_file(const std::string& path, const std::string& job, int task) {
  RealDisk disk;
  return value_or_throw(config::load_cluster(disk, path, job, task));
}

}  // namespace troupe
