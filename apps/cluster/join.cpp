#include "apps/cluster/join.h"

#include "actors/net/inquiry.h"

namespace troupe::cluster {

Result<ResolvedCluster> resolve_by_asking(const ResolverOptions& options) {
  if (options.name.empty()) return invalid_argument("--join needs --name, the name of the cluster");
  if (!options.tls && options.job.empty())
    return invalid_argument("--join needs --job, or a certificate (--cert) that names the task of this node");
  InquiryOptions inquiry;
  inquiry.endpoint = options.join;
  inquiry.cluster.name = options.name;
  inquiry.cluster.tls = options.tls;
  inquiry.cluster.plain_anywhere = options.plain;
  inquiry.job = options.job;
  inquiry.task = options.task.value_or(-1);
  inquiry.take = options.take;
  auto found = inquire(inquiry);
  if (!found)
    return Status(found.status().code(), "asked " + options.join + " for a task: " + found.status().text());
  return ResolvedCluster{std::move(found->cluster), found->job, found->task,
                         "by asking " + options.join + ", which is " + found->member};
}

}  // namespace troupe::cluster
