#include "actors/engine/file_role.h"

#include "messages/schemas/files.capnp.h"

namespace troupe {

FileRole::FileRole(ActorNode& node) : node_(node) {
  on<wire::FilesDone>([this](const Message<wire::FilesDone>& message, Reply) {
    const auto job = jobs_.extract(message->getJob());
    if (job) job.mapped()();
  });
}

namespace {

struct FileJob {
  FileJob(ActorNode& node, uint64_t job_number, ActorRef role, std::function<void()> what)
      : keep_alive(node), number(job_number), client(std::move(role)), work(std::move(what)) {}

  const ActorNode::KeepAlive keep_alive;  ///< the first member, so that it is destroyed last
  const uint64_t number;
  const ActorRef client;
  const std::function<void()> work;
};

}  // namespace

void FileRole::run(Run run_job, std::function<void()> work, std::function<void()> then) {
  jobs_.emplace(++last_job_, std::move(then));
  auto job = std::make_shared<const FileJob>(node_, last_job_, self(), std::move(work));
  (node_.scheduler.*run_job)(make_job([job = std::move(job), &node = node_] {
    try {
      job->work();
    } catch (const std::exception&) {  // the result then keeps its initial failure
    }
    Draft<wire::FilesDone> done;
    done->setJob(job->number);
    node.engine.send(job->client, done.finish());
  }));
}

}  // namespace troupe
