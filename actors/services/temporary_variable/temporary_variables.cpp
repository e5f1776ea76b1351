#include "actors/services/temporary_variable/temporary_variables.h"

namespace troupe {

/// A variable of a step. Owned by the context of the step.
class TemporaryVariables::Variable {
 public:
  Variable(TemporaryVariables& all, Key key, uint64_t number)
      : site_(all.site_.shared_from_this()), all_(all), key_(std::move(key)),
        container_("temporary variable " + std::to_string(number) + " of " + site_->device->name().text()) {}
  ~Variable() {
    all_.forget(key_, this);
    if (cell_) end();
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

  Status open(Tensor value) {
    TROUPE_ASSIGN(cell_, site_->state->require(container_, key_.second, value.dtype(),
                                               PartialShape(value.shape()), site_->device->name().text()));
    cell_->publish(std::move(value));
    return {};
  }
  /// Removes the cell from the state of the task. Whoever has its handle still can read it.
  void end() {
    site_->state->drop(container_);
    site_->drop(*cell_);
  }
  const std::shared_ptr<StateCell>& cell() const { return cell_; }

 private:
  const std::shared_ptr<DeviceSite> site_;
  TemporaryVariables& all_;
  const Key key_;
  const std::string container_;
  std::shared_ptr<StateCell> cell_;
};

Result<std::shared_ptr<StateCell>> TemporaryVariables::make(const StepInfo& step, const std::string& name,
                                                            Tensor value) {
  std::shared_ptr<Variable> made;
  {
    const std::lock_guard guard(mutex_);
    const auto [at, is_new] = variables_.try_emplace(key(step, name), nullptr);
    if (!is_new)
      return already_exists("the step has a temporary variable '" + name +
                            "' already, which must be destroyed before another one gets its name");
    made = std::make_shared<Variable>(*this, at->first, ++last_);
    at->second = made.get();
  }
  TROUPE_RETURN_IF_FAILED(made->open(std::move(value)));
  return std::shared_ptr<StateCell>(made, made->cell().get());
}

Result<Tensor> TemporaryVariables::destroy(const StepInfo& step, const std::string& name, StateCell& cell) {
  Snapshot snapshot;
  const auto reading = cell.try_read(snapshot);
  const std::lock_guard guard(mutex_);
  const auto variable = variables_.extract(key(step, name));
  if (!variable) return not_found("the step has no temporary variable '" + name + "'");
  if (reading != StateCell::Reading::Ready)
    return failed_precondition(
        "variable '" + cell.name() +
        "' is being changed; the control inputs of this node must wait for all changes");
  const auto& own = variable.mapped()->cell();
  if (own.get() == &cell) own->publish(Tensor());  // the caller becomes the only holder of the value
  variable.mapped()->end();
  return std::move(snapshot.value);
}

void TemporaryVariables::forget(const Key& key, const Variable* variable) {
  const std::lock_guard guard(mutex_);
  if (const auto at = variables_.find(key); at != variables_.end() && at->second == variable)
    variables_.erase(at);
}

}  // namespace troupe
