#include "actors/services/reader/reader_service.h"

#include "actors/services/queue/queue_service.h"
#include "actors/services/reader/reader.h"
#include "actors/site/scalar_input.h"
#include "actors/site/waiting_role.h"
#include "messages/schemas/reader.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

class ReaderNode final : public ServedNode {
 public:
  enum class Op : uint8_t { Read, ReadUpTo, CountRecords, CountUnits, Save, Restore, Reset };

  ReaderNode(DeviceSite& site, const StateActors<ReaderSpec>& readers, Op op)
      : site_(site), readers_(readers), op_(op) {}

  /// Returns which op this is, or nothing if it is not an op on readers.
  static std::optional<Op> op_of(std::string_view type) {
    static constexpr std::pair<std::string_view, Op> ops[] = {{"ReaderRead", Op::Read},
                                                              {"ReaderReadUpTo", Op::ReadUpTo},
                                                              {"ReaderNumRecordsProduced", Op::CountRecords},
                                                              {"ReaderNumWorkUnitsCompleted", Op::CountUnits},
                                                              {"ReaderSerializeState", Op::Save},
                                                              {"ReaderRestoreState", Op::Restore},
                                                              {"ReaderReset", Op::Reset}};
    if (type.ends_with("V2")) type.remove_suffix(2);
    for (const auto& [name, op] : ops)
      if (name == type) return op;
    return std::nullopt;
  }

  Result<ServiceCall> call(const StepRequest& request, const StepInfo& step) const override {
    TROUPE_ASSIGN(const auto reader, readers_.find(request.inputs[0]));
    TROUPE_ASSIGN(AnyMessage message, message_of(request, step));
    return ServiceCall{reader->actor.get(), std::move(message), {}, op_ == Op::Read || op_ == Op::ReadUpTo};
  }

  StepReply reply(Result<AnyMessage> answer) const override {
    if (!answer) return {answer.status(), {}, false};
    if (op_ == Op::CountRecords || op_ == Op::CountUnits) {
      const Message<wire::ReaderCounts> counts(*answer);
      const uint64_t count = op_ == Op::CountRecords ? counts->getRecords() : counts->getUnits();
      return {{}, {Tensor::scalar(static_cast<int64_t>(count))}, false};
    }
    const auto outputs = answer->attachments();
    return {{}, {outputs.begin(), outputs.end()}, false};
  }

  AnyMessage cancellation(const StepInfo& step) const override { return cancellation_of(step); }

 private:
  Result<AnyMessage> message_of(const StepRequest& request, const StepInfo& step) const {
    switch (op_) {
      case Op::Read:
      case Op::ReadUpTo: return read_message(request, step);
      case Op::CountRecords:
      case Op::CountUnits: return AnyMessage(Draft<wire::GetReaderCounts>().finish());
      case Op::Save: return AnyMessage(Draft<wire::SaveReader>().finish());
      case Op::Reset: return AnyMessage(Draft<wire::ResetReader>().finish());
      case Op::Restore: break;
    }
    TROUPE_RETURN_IF_FAILED(scalar_input<std::string>(request.inputs[1], "state").status());
    return AnyMessage(Draft<wire::RestoreReader>().finish({std::move(request.inputs[1].tensor)}));
  }

  Result<AnyMessage> read_message(const StepRequest& request, const StepInfo& step) const {
    TROUPE_ASSIGN(const Address queue, QueueService::of(site_).queue_of_strings(request.inputs[1]));
    Draft<wire::ReadRecords> draft;
    set_step(draft->initStep(), step.session, step.ordinal);
    write(queue, draft->initQueue());
    draft->setSingle(op_ == Op::Read);
    draft->setCount(1);
    if (op_ == Op::ReadUpTo) {
      TROUPE_ASSIGN(const auto count, scalar_input<int64_t>(request.inputs[2], "num_records"));
      if (count < 0)
        return invalid_argument("num_records is " + std::to_string(count) + ", but must be at least 0");
      draft->setCount(static_cast<uint64_t>(count));
    }
    return AnyMessage(draft.finish());
  }

  DeviceSite& site_;
  const StateActors<ReaderSpec>& readers_;
  const Op op_;
};

}  // namespace

Result<std::unique_ptr<const ServedNode>> ReaderService::prepare(const std::shared_ptr<const Graph>&,
                                                                 const Node& node) {
  const auto op = ReaderNode::op_of(node.type());
  if (!op) return unimplemented("the reader service does not know this op");
  return std::unique_ptr<const ServedNode>(new ReaderNode(site_, states_, *op));
}

Status ReaderService::open(const Node& handle, const std::shared_ptr<StateCell>& cell) {
  TROUPE_ASSIGN(ReaderSpec spec, reader_spec(handle));
  return states_.open(cell, std::move(spec),
                      [&](const ReaderSpec& made) { return make_reader(site_.node, made); });
}

}  // namespace troupe
