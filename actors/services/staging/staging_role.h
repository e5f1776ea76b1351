// StagingRole: what stages and maps share: requests that wait, and how much there is. Used by staging.cpp's and
// staging_map.cpp's roles.
#pragma once

#include <vector>

#include "actors/services/staging/staging_spec.h"
#include "actors/site/waiting_role.h"

namespace troupe {

/// How much an area may hold after a put; 0: any.
struct PutLimits {
  uint64_t tuples = 0, bytes = 0;
};

/// A put that waits for room.
struct WaitingPut : WaitingRequest {
  PutLimits limits;
  std::vector<Tensor> tensors;
  uint64_t bytes = 0;
  // Of maps:
  int64_t key = 0;
  std::vector<int32_t> indices = {};
  uint32_t size = 0;
};

/// A take that waits for a tuple.
struct WaitingTake : WaitingRequest {
  std::vector<uint32_t> types = {};
  bool peek = false;
  uint64_t index = 0;  ///< of stages
  // Of maps:
  bool any_key = false;
  int64_t key = 0;
  std::vector<int32_t> indices = {};
};

class StagingRole : public WaitingRole {
 protected:
  StagingRole(ActorNode& node, const StagingSpec& spec);

  virtual Progress try_put(WaitingPut& put) = 0;
  virtual Progress try_take(WaitingTake& take) = 0;
  virtual void clear() = 0;
  virtual uint64_t complete() const = 0;
  /// The tuples that have come in part.
  virtual uint64_t incomplete() const { return 0; }
  /// Whether puts are carried out in the order in which they came.
  virtual bool keeps_order() const = 0;

  /// `message` has the tensors to put.
  void add(WaitingPut put, const AnyMessage& message);
  void add(WaitingTake take);

  bool has_room(const WaitingPut& put, size_t tuples) const {
    return (put.limits.tuples == 0 || tuples < put.limits.tuples) &&
           (put.limits.bytes == 0 || bytes_ + put.bytes <= put.limits.bytes);
  }
  /// Fails with InvalidArgument unless the tensors have the types that the take wants.
  Status check_types(const WaitingTake& take, const std::vector<const Tensor*>& tensors) const;
  /// Answers a take with its tensors.
  Progress give(WaitingTake& take, std::vector<Tensor> tensors, int64_t key = 0);
  static Progress refuse(WaitingRequest& request, Status status);
  static Progress staged(WaitingPut& put);

  uint64_t bytes_ = 0;  ///< of all tensors in the area

 private:
  void end_waiting(const Concerned& concerned, const Status& reason) override;
  void advance();

  WaitingLine<WaitingPut> puts_;
  WaitingLine<WaitingTake> takes_;
};

uint64_t bytes_of(const std::vector<Tensor>& tensors);

/// Returns the role of an empty map.
std::unique_ptr<Role> make_staging_map(ActorNode& node, const StagingSpec& spec);

}  // namespace troupe
