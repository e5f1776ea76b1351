#include "actors/services/session_tensors/session_tensors_service.h"

#include <optional>

#include "actors/services/session_tensors/session_tensors.h"
#include "actors/services/session_tensors/tensor_handle.h"
#include "actors/site/scalar_input.h"
#include "actors/site/session_tensors_role.h"
#include "actors/site/task_sites.h"
#include "messages/schemas/session_tensors.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

class GetSessionHandleNode final : public ServedNode {
 public:
  GetSessionHandleNode(SessionTensorsService& service, std::string node)
      : service_(service), node_(std::move(node)) {}

  Result<ServiceCall> call(const StepRequest& request, const StepInfo& step) const override {
    Draft<wire::KeepTensor> draft;
    draft->setSession(step.session);
    draft->setNumber(service_.next_number());
    return ServiceCall{service_.actor(), draft.finish({std::move(request.inputs[0].tensor)})};
  }
  StepReply reply(Result<AnyMessage> answer) const override {
    if (!answer) return {answer.status(), {}, false};
    const Message<wire::TensorKept> kept(*answer);
    const TensorHandle handle{node_, kept->getSession(), service_.incarnation(), kept->getNumber(),
                              service_.site().device->name().text()};
    return {{}, {Tensor::scalar(handle.text())}, false};
  }

 private:
  SessionTensorsService& service_;
  const std::string node_;
};

/// GetSessionTensor, or DeleteSessionTensor if there is no dtype.
class UseSessionHandleNode final : public ServedNode {
 public:
  UseSessionHandleNode(SessionTensorsService& service, std::optional<DType> dtype)
      : service_(service), dtype_(dtype) {}

  Result<ServiceCall> call(const StepRequest& request, const StepInfo& step) const override {
    TROUPE_ASSIGN(const std::string text, scalar_input<std::string>(request.inputs[0], "handle"));
    TROUPE_ASSIGN(const TensorHandle handle, TensorHandle::parse(text));
    if (handle.session != step.session)
      return invalid_argument("handle '" + text + "' belongs to another session");
    TROUPE_ASSIGN(const ActorRef actor, find_actor(handle));
    return ServiceCall{actor, message(handle)};
  }
  StepReply reply(Result<AnyMessage> answer) const override {
    if (!answer) return {answer.status(), {}, false};
    const auto outputs = answer->attachments();
    return {{}, {outputs.begin(), outputs.end()}, false};
  }

 private:
  Result<ActorRef> find_actor(const TensorHandle& handle) const {
    if (handle.device == service_.site().device->name().text() &&
        handle.incarnation == service_.incarnation())
      return service_.actor();
    const auto device = DeviceName::parse(handle.device);
    if (!device) return invalid_argument("handle '" + handle.text() + "' names no device");
    return service_.site().node.directory.find(
        {device->task_name().text(), handle.incarnation, session_tensors_role, handle.device});
  }

  AnyMessage message(const TensorHandle& handle) const {
    if (!dtype_) {
      Draft<wire::DeleteTensor> draft;
      draft->setSession(handle.session);
      draft->setNumber(handle.number);
      return draft.finish();
    }
    Draft<wire::GetTensor> draft;
    draft->setSession(handle.session);
    draft->setNumber(handle.number);
    draft->setType(static_cast<uint32_t>(*dtype_));
    return draft.finish();
  }

  SessionTensorsService& service_;
  const std::optional<DType> dtype_;
};

}  // namespace

Result<std::unique_ptr<const ServedNode>> SessionTensorsService::prepare(const std::shared_ptr<const Graph>&,
                                                                         const Node& node) {
  std::unique_ptr<const ServedNode> served;
  if (node.type() == "GetSessionHandle" && node.attrs.get<DType>("T") == DType::Resource)
    return invalid_argument("a handle of a variable or queue cannot be kept as a tensor");
  if (node.type() == "GetSessionHandle")
    served = std::make_unique<GetSessionHandleNode>(*this, node.name);
  else if (node.type() == "GetSessionTensor")
    served = std::make_unique<UseSessionHandleNode>(*this, node.attrs.get<DType>("dtype"));
  else if (node.type() == "DeleteSessionTensor")
    served = std::make_unique<UseSessionHandleNode>(*this, std::nullopt);
  else
    return unimplemented("the session tensors service does not know this op");
  return served;
}

std::vector<ChildSpec> SessionTensorsService::actors(const TaskSites& task) {
  incarnation_ = task.incarnation;
  const auto site = site_.shared_from_this();
  const std::string& device = site_.device->name().text();
  return {{task.address(session_tensors_role, device),
           [site, device] { return site->node.engine.spawn(make_session_tensors(device)); },
           [this, site](const ActorRef& actor, ChildSpec::Standing) { actor_.put(actor); }}};
}

}  // namespace troupe
