#include "actors/services/files/files_service.h"

#include "actors/services/files/files.h"
#include "actors/site/scalar_input.h"
#include "actors/site/task_sites.h"
#include "messages/schemas/files.capnp.h"

namespace troupe {
namespace {

enum class FilesOp : uint8_t { Read, Write, Find };

Status check(const StepRequest& request, FilesOp op) {
  const Slot& first = request.inputs[0];
  if (op == FilesOp::Find) {
    if (first.tensor.shape().rank() <= 1) return {};
    return invalid_argument("pattern has shape " + first.tensor.shape().text() +
                            ", but must be a scalar or a vector");
  }
  TROUPE_RETURN_IF_FAILED(scalar_input<std::string>(first, "filename").status());
  return op == FilesOp::Write ? scalar_input<std::string>(request.inputs[1], "contents").status() : Status{};
}

class FilesNode final : public ServedNode {
 public:
  FilesNode(const ActorPlace& actor, FilesOp op) : actor_(actor), op_(op) {}

  Result<ServiceCall> call(const StepRequest& request, const StepInfo&) const override {
    TROUPE_RETURN_IF_FAILED(check(request, op_));
    std::vector<Tensor> inputs;
    for (Slot& slot : request.inputs) inputs.push_back(std::move(slot.tensor));
    return ServiceCall{actor_.get(), message(std::move(inputs))};
  }
  StepReply reply(Result<AnyMessage> answer) const override {
    if (!answer) return {answer.status(), {}, false};
    const auto outputs = answer->attachments();
    return {{}, {outputs.begin(), outputs.end()}, false};
  }

 private:
  AnyMessage message(std::vector<Tensor> inputs) const {
    switch (op_) {
      case FilesOp::Read: return Draft<wire::ReadFile>().finish(std::move(inputs));
      case FilesOp::Write: return Draft<wire::WriteFile>().finish(std::move(inputs));
      case FilesOp::Find: break;
    }
    return Draft<wire::FindFiles>().finish(std::move(inputs));
  }

  const ActorPlace& actor_;
  const FilesOp op_;
};

}  // namespace

Result<std::unique_ptr<const ServedNode>> FilesService::prepare(const std::shared_ptr<const Graph>&,
                                                                const Node& node) {
  for (const auto& [op, kind] : {std::pair{"ReadFile", FilesOp::Read},
                                 {"WriteFile", FilesOp::Write},
                                 {"MatchingFiles", FilesOp::Find}})
    if (node.type() == op) return std::unique_ptr<const ServedNode>(new FilesNode(actor_, kind));
  return unimplemented("the files service does not know this op");
}

std::vector<ChildSpec> FilesService::actors(const TaskSites& task) {
  const auto site = site_.shared_from_this();
  return {{task.address("files", site_.device->name().text()),
           [site] { return site->node.engine.spawn(make_files(site->node)); },
           [this, site](const ActorRef& actor, ChildSpec::Standing) { actor_.put(actor); }}};
}

}  // namespace troupe
