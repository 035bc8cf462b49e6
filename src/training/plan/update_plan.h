// The plan of steps. It says how each parameter's gradient is added up and reduced, and when the
// parameter is updated. The first step shows how gradients arrive. Then the plan is made, once.
#pragma once

#include "ops/gradient_buffer/gradient_buffer.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lockstep {

// How the run reduces gradients and updates weights.
struct UpdateFacts {
  bool low_precision = false;   // the model computes in bf16 or fp16
  bool exact = false;           // ranks sum gradients in one fixed order
  bool sharded = false;         // ranks share the update
  bool reads_low_sums = false;  // ranks reduce in bf16, and norm and update can read bf16
};

struct ParameterPlan {
  FirstGradient first = FirstGradient::adds_to_zeros;
  // Norm and update read the sum in the reduce buffer. Otherwise it is copied back to f32.
  bool sum_in_reduce_buffer = false;
  // By rank: the number of rows of the gradient, which the ranks gather. Empty: the gradient is
  // dense, and the ranks reduce it.
  std::vector<std::int64_t> rows_of_ranks;
  std::size_t group = 0;  // the update group
  friend bool operator==(const ParameterPlan&, const ParameterPlan&) = default;
};

struct UpdatePlan {
  std::vector<ParameterPlan> parameters;
  bool observed = false;  // a step has shown how gradients arrive
  // The graph begins with the update of the previous step, group by group.
  bool deferred = false;
  // Groups are counted from 0. In a deferred update, group 0 must be updated when the forward pass
  // begins. Group b must be updated before blocks[b - 1] or any later block begins. Then comes one
  // group for each sparse parameter that is updated after its reader.
  std::size_t groups = 1, block_groups = 1;
  std::vector<std::int64_t> blocks;  // in the order of the forward pass

  bool reads_reduce_buffer() const;  // true: norm and update read some parameter's sum there
  std::size_t group_of_block(std::int64_t block) const;  // for an unknown block: the group of the
                                                         // last block
  // Returns the parameter of a group with a number at or above block_groups.
  std::size_t sparse_parameter(std::size_t group) const;
  // Whether both plans zero-fill and update in the same way. They may differ in rows_of_ranks.
  bool updates_like(UpdatePlan other) const;
  friend bool operator==(const UpdatePlan&, const UpdatePlan&) = default;
};

// The plan before anything is known: it zero-fills all memory, reads sums in f32, and has one
// group.
UpdatePlan plan_before_warm_up(std::size_t parameters);
// The facts of one parameter, and the observations of one whole step and of the steps before it.
struct ParameterObservation {
  GradientObservation gradient;
  std::int64_t elements = 0;
  std::int64_t tensors = 1;  // number of tensors that share the parameter's memory and get separate
                             // gradients
};
UpdatePlan make_update_plan(std::span<const ParameterObservation> seen, const UpdateFacts& facts);

// How a forward pass uses the parameters.
struct BlockUse {
  std::vector<std::int64_t> blocks;                  // in the order of the forward pass
  std::vector<std::vector<std::size_t>> parameters;  // parameters of each block
  std::vector<bool> is_early;  // by parameter: something used it before the last block began
};

// Assumptions of a deferred update about parameters that are in no block. If one turns out wrong,
// the next is tried.
enum class Deferral {
  sparse_behind_reader,  // one operation reads a large sparse parameter; some other parameters are
                         // used late
  sparse_first,          // sparse parameters are also read in other ways
  all_first              // all parameters in no block are used before the first block
};

// Makes the update groups of a deferred update. large_sparse: by parameter, whether it is worth a
// group of its own.
void defer_update(UpdatePlan& plan, const BlockUse& use, const std::vector<bool>& large_sparse,
                  Deferral how);

}  // namespace lockstep
