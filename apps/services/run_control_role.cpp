#include "apps/services/run_control_role.h"

#include <memory>
#include <string>

#include "actors/engine/role.h"
#include "messages/schemas/trainer.capnp.h"
#include "messages/wire/wire.h"

namespace troupe::services {
namespace {

AnyMessage done(const std::string& checkpoint) {
  Draft<wire::TrainingControlled> draft;
  draft->setCheckpoint(as_text(checkpoint));
  return draft.finish();
}

class ControlActor final : public Role {
 public:
  explicit ControlActor(observe::RunControl& control) {
    on<wire::ControlTraining>([&control](const auto& message, Reply reply) {
      control.ask(std::string(view(message->getAction())), std::string(view(message->getArgument())),
                  [reply = std::make_shared<Reply>(std::move(reply))](const Result<std::string>& checkpoint) {
                    checkpoint ? (*reply)(done(*checkpoint)) : (*reply)(checkpoint.status());
                  });
    });
  }
};

}  // namespace

RunControlRole::RunControlRole(Runtime& runtime, observe::RunControl& control) : runtime_(runtime) {
  throw_if_failed(runtime.services().start(control_role, std::make_unique<ControlActor>(control)));
}

RunControlRole::~RunControlRole() { runtime_.services().stop(control_role); }

}  // namespace troupe::services
