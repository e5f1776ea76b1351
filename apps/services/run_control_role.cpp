#include "apps/services/run_control_role.h"

#include <memory>
#include <string>

#include "actors/engine/role.h"
#include "messages/schemas/trainer.capnp.h"
#include "messages/wire/wire.h"

namespace troupe::services {
namespace {

AnyMessage done(const std::string& checkpoint = {}) {
  Draft<wire::TrainingControlled> draft;
  draft->setCheckpoint(as_text(checkpoint));
  return draft.finish();
}

class ControlActor final : public Role {
 public:
  explicit ControlActor(observe::RunControl& control) : control_(control) {
    on<wire::ControlTraining>([this](const auto& message, Reply reply) {
      act(std::string(view(message->getAction())), std::move(reply));
    });
  }

 private:
  void act(const std::string& action, Reply reply) {
    const auto answer = [&](const Status& status) { status.ok() ? reply(done()) : reply(status); };
    if (action == "pause") return answer(control_.pause());
    if (action == "resume") return answer(control_.resume());
    if (action == "stop") {
      control_.stop();
      return answer({});
    }
    if (action != "checkpoint") return reply(unimplemented("'" + action + "' is not available yet"));
    control_.save([reply = std::make_shared<Reply>(std::move(reply))](const Result<std::string>& saved) {
      saved ? (*reply)(done(*saved)) : (*reply)(saved.status());
    });
  }

  observe::RunControl& control_;
};

}  // namespace

RunControlRole::RunControlRole(Runtime& runtime, observe::RunControl& control) : runtime_(runtime) {
  throw_if_failed(runtime.services().start(control_role, std::make_unique<ControlActor>(control)));
}

RunControlRole::~RunControlRole() { runtime_.services().stop(control_role); }

}  // namespace troupe::services
