// Declares the update plan. It says how each parameter's gradient is added up and reduced, and when
// the parameter is updated. The plan is made after a step has shown how gradients arrive, and made
// again after TrainStep::reset.
#pragma once

#include "ops/gradient_buffer/gradient_buffer.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lockstep {

// Says how the run reduces gradients and updates weights.
struct UpdateFacts {
  bool low_precision = false;  // the model computes in bf16 or fp16
  bool exact = false;          // ranks sum gradients in one fixed order
  bool sharded = false;        // each rank updates only its own shards
  // Ranks reduce gradients in bf16, and the optimizer's rule can read them in bf16.
  bool reads_low_sums = false;
};

struct ParameterPlan {
  FirstGradient first = FirstGradient::adds_to_zeros;
  // True: the gradient norm and the update read the sum over the ranks in the bf16 reduce buffer.
  // False: the sum is first copied back to f32.
  bool sum_in_reduce_buffer = false;
  // The number of rows in each rank's gradient, if the ranks gather rows (SparseAllGather). The
  // list is empty if the ranks reduce the gradient as a dense tensor.
  std::vector<std::int64_t> rows_of_ranks;
  std::size_t group = 0;  // the update group, see UpdatePlan::groups
  friend bool operator==(const ParameterPlan&, const ParameterPlan&) = default;
};

struct UpdatePlan {
  std::vector<ParameterPlan> parameters;
  bool observed = false;  // whether a step has shown how gradients arrive
  // True: a graph begins with the update of the previous step, which it makes group by group.
  bool deferred = false;
  // `groups` is the number of all update groups; block_groups leaves out the groups of sparse
  // parameters. Groups are counted from 0. A deferred update must finish group 0 before the forward
  // pass begins. It must finish group b before blocks[b - 1] or a later block begins. Groups from
  // block_groups on each hold one sparse parameter, which is updated after the operation that reads
  // it.
  std::size_t groups = 1, block_groups = 1;
  std::vector<std::int64_t> blocks;  // block numbers in the order of the forward pass

  bool reads_reduce_buffer() const;  // whether sum_in_reduce_buffer is true for any parameter
  // Returns the update group of a block. A block that is not in `blocks` belongs to the last
  // block's group.
  std::size_t group_of_block(std::int64_t block) const;
  // Returns the sparse parameter of `group`, which must be at or above block_groups.
  std::size_t sparse_parameter(std::size_t group) const;
  // Whether this plan and `other` are equal, except for rows_of_ranks. Equal plans zero-fill and
  // update in the same way.
  bool updates_like(UpdatePlan other) const;
  friend bool operator==(const UpdatePlan&, const UpdatePlan&) = default;
};

// Returns the plan that is used until a step has shown how gradients arrive. This plan zero-fills
// all gradients, reads all sums in f32, and has one group.
UpdatePlan plan_before_warm_up(std::size_t parameters);
// The size of one parameter, and how its gradient arrived in a whole step and in the steps before
// it.
struct ParameterObservation {
  GradientObservation gradient;
  std::int64_t elements = 0;
  std::int64_t tensors = 1;  // how many tensors of the model share the parameter's memory
};
UpdatePlan make_update_plan(std::span<const ParameterObservation> seen, const UpdateFacts& facts);

// Records which block of the model uses which parameters in a forward pass.
struct BlockUse {
  std::vector<std::int64_t> blocks;  // block numbers in the order of the forward pass
  std::vector<std::vector<std::size_t>> parameters;  // the parameters of each block
  // For each parameter: whether anything used it before the last block began.
  std::vector<bool> is_early;
};

// Assumptions about parameters that are in no block, from the fastest to the safest. If an
// assumption turns out to be wrong, the next one is tried (TrainStep::plan_graph).
enum class Deferral {
  // Exactly one operation reads each large sparse parameter; parameters that were not used early
  // (BlockUse::is_early) are used after the last block begins.
  sparse_behind_reader,
  sparse_first,  // like sparse_behind_reader, but any operations may read a sparse parameter
  all_first      // all parameters that are in no block may be used before the first block
};

// Changes `plan` into a plan with a deferred update, and sets its update groups. large_sparse: the
// result of GradientBuffers::large_sparse.
void defer_update(UpdatePlan& plan, const BlockUse& use, const std::vector<bool>& large_sparse,
                  Deferral how);

}  // namespace lockstep
