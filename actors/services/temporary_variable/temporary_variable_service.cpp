#include "actors/services/temporary_variable/temporary_variable_service.h"

#include <algorithm>

#include "devices/transfer.h"

namespace troupe {
namespace {

/// Returns zeros, or empty strings, in the memory of the device.
Result<Tensor> zeros_on(Device& device, DType dtype, const Shape& shape) {
  TROUPE_ASSIGN(Tensor zeros, Tensor::allocate(dtype, shape, device.context().host_memory()));
  if (is_plain(dtype)) std::fill_n(zeros.mutable_data(), zeros.bytes(), std::byte{0});
  return transfer(zeros, device, device);
}

/// TemporaryVariable.
class MakeNode final : public ServedNode {
 public:
  MakeNode(DeviceSite& site, TemporaryVariables& variables, DType dtype, Shape shape, std::string name)
      : site_(site), variables_(variables), dtype_(dtype), shape_(std::move(shape)), name_(std::move(name)) {}

  Result<ServiceCall> call(const StepRequest&, const StepInfo& step) const override {
    TROUPE_ASSIGN(Tensor value, zeros_on(*site_.device, dtype_, shape_));
    ServiceCall call;
    TROUPE_ASSIGN(call.reply.cell, variables_.make(step, name_, std::move(value)));
    return call;
  }
  StepReply reply(Result<AnyMessage> answer) const override { return {answer.status(), {}, false}; }

 private:
  DeviceSite& site_;
  TemporaryVariables& variables_;
  const DType dtype_;
  const Shape shape_;
  const std::string name_;
};

/// DestroyTemporaryVariable.
class DestroyNode final : public ServedNode {
 public:
  DestroyNode(TemporaryVariables& variables, std::string name)
      : variables_(variables), name_(std::move(name)) {}

  Result<ServiceCall> call(const StepRequest& request, const StepInfo& step) const override {
    const Slot& variable = request.inputs[0];
    if (variable.kind != Slot::Kind::Handle)
      return invalid_argument("the input that must be a variable was fed with a value");
    TROUPE_ASSIGN(Tensor value, variables_.destroy(step, name_, *variable.cell));
    ServiceCall call;
    call.reply.outputs.push_back(std::move(value));
    return call;
  }
  StepReply reply(Result<AnyMessage> answer) const override { return {answer.status(), {}, false}; }

 private:
  TemporaryVariables& variables_;
  const std::string name_;
};

}  // namespace

Result<std::unique_ptr<const ServedNode>> TemporaryVariableService::prepare(
    const std::shared_ptr<const Graph>&, const Node& node) {
  std::unique_ptr<const ServedNode> prepared;
  std::string variable = node.attrs.get<std::string>("var_name");
  if (node.type() == "DestroyTemporaryVariable") {
    if (variable.empty()) return invalid_argument("var_name is empty; it must name the variable to destroy");
    prepared = std::make_unique<DestroyNode>(variables_, std::move(variable));
    return prepared;
  }
  if (variable.empty()) variable = node.name;
  const DType dtype = node.attrs.get<DType>("dtype");
  TROUPE_ASSIGN(Shape shape, node.attrs.get<PartialShape>("shape").to_shape(dtype));
  prepared = std::make_unique<MakeNode>(site_, variables_, dtype, std::move(shape), std::move(variable));
  return prepared;
}

}  // namespace troupe
