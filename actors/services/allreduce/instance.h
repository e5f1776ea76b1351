// Instance: one run of a collective at one site: the tensors of the ranks that are here, what other sites have contributed, and
// what is missing until the results are complete. It computes, and sends nothing. Owned by the allreduce role, in whose actor all
// of this runs, except that the pool may run a BlockWork.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/engine/role.h"
#include "actors/services/allreduce/gpu_group.h"
#include "actors/services/allreduce/layout.h"
#include "actors/site/device_site.h"

namespace troupe {

/// The computation of a block from the parts of all ranks, or the copy of a block that another site has computed.
struct BlockWork {
  Reduction reduction = Reduction::Sum;
  std::vector<int64_t> samples;
  std::vector<std::vector<Tensor>> parts;  ///< by piece, then by rank
  std::vector<Tensor> results;             ///< by piece; they share the buffers of the instance's results

  size_t bytes() const;
  void run(Pool& pool);
};

struct Instance {
  /// A rank of this site.
  struct Own {
    uint32_t rank = 0;
    StepKey step;
    Reply reply;
    std::vector<Tensor> tensors;
  };
  /// A request of another site that waits.
  struct Asking {
    Reply reply;
    bool wanted = false;
  };
  /// A block that this site owns.
  struct Owned {
    std::vector<std::vector<Tensor>> parts;  ///< by rank
    std::vector<bool> given;                 ///< by rank: whether the part is there
    uint32_t missing = 0;
    std::vector<Asking> asking;
  };
  /// A request to another site that has not been sent.
  struct Question {
    uint32_t rank = 0, block = 0;
    bool wanted = false;
  };
  /// The requests of one rank to one site. Each rank has a line of its own: the answer to one rank may need the part of another.
  struct Line {
    std::deque<Question> waiting;
    size_t under_way = 0;
  };
  struct Site {
    ActorRef actor;                  ///< null for this site
    std::map<uint32_t, Line> lines;  ///< by rank of this site
  };

  /// Makes an instance in which no rank takes part yet. `tensors` are those of the first rank. Fails with ResourceExhausted.
  static Result<std::unique_ptr<Instance>> make(std::shared_ptr<const Collective> what, uint64_t serial,
                                                std::span<const Tensor> tensors, Allocator& memory);

  const Collective& what() const { return *collective; }
  bool reduces() const {
    return what().kind == CollectiveKind::Reduce || what().kind == CollectiveKind::Scatter;
  }
  Own* find(uint32_t rank);
  /// Whether the tensor of a rank of this site is asked for by other sites.
  bool gives(uint32_t rank) const {
    return what().kind == CollectiveKind::Gather ||
           (what().kind == CollectiveKind::Broadcast && rank == what().root);
  }
  /// Adds the part of a rank to a block of this site. Fails if it does not fit, or is there already.
  Status add(uint32_t block, uint32_t rank, std::vector<Tensor> part, int64_t weight);
  /// Returns the computation of a block of this site, of which no part is missing. Fails with InvalidArgument if the weights
  /// have no mean.
  Result<BlockWork> reduction(uint32_t block);
  /// Returns the copy of a block of another site into the results. Takes over tensors that are whole results. Fails with
  /// InvalidArgument if the answer does not fit.
  Result<BlockWork> copy(uint32_t block, std::span<const Tensor> answer);
  /// Returns the results of a block.
  std::vector<Tensor> results_of(uint32_t block) const;
  /// Allocates the result of a gather and returns the work that copies the tensors of all ranks into it. Fails with InvalidArgument
  /// if they do not fit each other.
  Result<BlockWork> join(Allocator& memory);
  /// Allocates the results of an exchange between GPUs and returns what this site does in it.
  Result<GpuExchange> exchange(Allocator& memory);
  /// Returns the outputs of a rank of this site when all is done.
  std::vector<Tensor> outputs_of(uint32_t rank) const;

  std::shared_ptr<const Collective> collective;
  std::string lane;  ///< the name of its lane
  uint64_t serial = 0, number = 0, attempt = 0;
  bool training = false;
  int64_t since = 0;  ///< when it began, in nanoseconds of the clock
  std::string signature;
  BlockLayout layout;
  std::vector<int64_t> samples;    ///< by rank
  std::vector<uint64_t> sessions;  ///< by rank, as far as they are known; 0: unknown
  std::vector<Own> own;
  std::vector<Owned> owned;  ///< by block; `given` is empty if another site owns it
  std::vector<Site> sites;
  /// By rank of this site: the sites that wait for its tensor, and how many have had it.
  std::vector<std::vector<Asking>> asking;
  std::vector<std::vector<bool>> asked;
  /// Reduce: as the inputs. Scatter: by rank, those of this site. Gather and Broadcast: by rank.
  std::vector<Tensor> results;
  Tensor joined;
  /// If the members are GPUs: by rank, at the site that owns the block; and when the exchange runs.
  std::vector<GpuMember> gpu_members;
  GpuTurn turn;
  bool exchanges = false;  ///< whether the exchange has begun
  /// What is missing: ranks of this site, blocks, answers of other sites, questions of other sites.
  size_t unfinished = 0;
};

}  // namespace troupe
