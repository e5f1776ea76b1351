// FunctionRef: refers to a callable for the length of one call. It has the size of two pointers and
// allocates nothing. It must not outlive the callable, so it is used for parameters only, never for members.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace troupe {

template <class Signature>
class FunctionRef;

template <class R, class... Arguments>
class FunctionRef<R(Arguments...)> {
 public:
  template <class F, class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, FunctionRef> &&
                                              std::is_invocable_r_v<R, F&, Arguments...>>>
  FunctionRef(F&& callable)  // NOLINT: any callable converts
      : callable_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* target, Arguments... arguments) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(target))(std::forward<Arguments>(arguments)...);
        }) {}

  R operator()(Arguments... arguments) const {
    return call_(callable_, std::forward<Arguments>(arguments)...);
  }

 private:
  void* callable_;
  R (*call_)(void*, Arguments...);
};

}  // namespace troupe
