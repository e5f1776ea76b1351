#include "messages/wire/wire.h"

namespace troupe {

void write(const Status& status, wire::Status::Builder builder) {
  builder.setCode(static_cast<uint8_t>(status.code()));
  builder.setText(as_text(status.text()));
  if (!status.op().empty()) builder.setOp(as_text(status.op()));
  if (!status.node().empty()) builder.setNode(as_text(status.node()));
  if (!status.device().empty()) builder.setDevice(as_text(status.device()));
  builder.setStep(status.step());
}

Status read(wire::Status::Reader reader) {
  if (reader.getCode() == 0) return {};
  const auto code = reader.getCode() <= static_cast<uint8_t>(Code::DataLoss)
                        ? static_cast<Code>(reader.getCode())
                        : Code::Unknown;
  return Status(code, std::string(view(reader.getText())))
      .at_node(view(reader.getOp()), view(reader.getNode()))
      .at_device(view(reader.getDevice()))
      .at_step(reader.getStep());
}

void write(const Address& address, wire::Address::Builder builder) {
  builder.setTask(as_text(address.task));
  builder.setIncarnation(address.incarnation);
  builder.setRole(as_text(address.role));
  builder.setKey(as_text(address.key));
}

Address read(wire::Address::Reader reader) {
  return {std::string(view(reader.getTask())), reader.getIncarnation(), std::string(view(reader.getRole())),
          std::string(view(reader.getKey()))};
}

}  // namespace troupe
