// The plan of steps: how each parameter's gradient is added up and reduced, and when the parameter
// is updated. A first step shows how gradients come; then the plan is made, once.
#pragma once

#include "ops/gradient_buffer/gradient_buffer.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lockstep {

// How the run reduces and updates.
struct UpdateFacts {
  bool low_precision = false;   // the model computes in bf16 or fp16
  bool exact = false;           // gradients are summed in one fixed order
  bool sharded = false;         // ranks share the update
  bool reads_low_sums = false;  // ranks reduce in bf16, and norm and update can read that
};

struct ParameterPlan {
  FirstGradient first = FirstGradient::adds_to_zeros;
  // Norm and update read the sum in the reduce buffer. Otherwise it is copied back to f32.
  bool sum_in_reduce_buffer = false;
  // By rank: the gradient is so many rows, which the ranks gather. Empty: it is dense, and reduced.
  std::vector<std::int64_t> rows_of_ranks;
  std::size_t group = 0;  // the update group
  friend bool operator==(const ParameterPlan&, const ParameterPlan&) = default;
};

struct UpdatePlan {
  std::vector<ParameterPlan> parameters;
  bool observed = false;  // a step showed how gradients come
  // The graph begins with the update of the step before it, group by group.
  bool deferred = false;
  // Groups are counted from 0. Those of a deferred update: group 0 is due when the forward pass
  // begins, group b when blocks[b - 1] does, or one behind it. Then comes one group for each sparse
  // parameter that is updated behind its reader.
  std::size_t groups = 1, block_groups = 1;
  std::vector<std::int64_t> blocks;  // in the order of the forward pass

  bool reads_reduce_buffer() const;                      // for some parameter
  std::size_t group_of_block(std::int64_t block) const;  // the last of blocks for an unknown one
  // The parameter of a group at or above block_groups.
  std::size_t sparse_parameter(std::size_t group) const;
  // Zero-fills and updates the same: they differ in rows_of_ranks at most.
  bool updates_like(UpdatePlan other) const;
  friend bool operator==(const UpdatePlan&, const UpdatePlan&) = default;
};

// Before anything is known: all memory is zero-filled, sums are read in f32, one group.
UpdatePlan plan_before_warm_up(std::size_t parameters);
// The facts of one parameter, and what one whole step and those before it showed.
struct ParameterObservation {
  GradientObservation gradient;
  std::int64_t elements = 0;
  std::int64_t tensors = 1;  // that share the parameter's memory, and get gradients one by one
};
UpdatePlan make_update_plan(std::span<const ParameterObservation> seen, const UpdateFacts& facts);

// How a forward pass uses the parameters.
struct BlockUse {
  std::vector<std::int64_t> blocks;                  // in their order
  std::vector<std::vector<std::size_t>> parameters;  // of each block
  std::vector<bool> is_early;  // by parameter: something used it before the last block began
};

// Assumptions of a deferred update about parameters in no block. Each is tried where the one before
// turned out wrong.
enum class Deferral {
  sparse_behind_reader,  // one operation reads a large sparse parameter; some others are used late
  sparse_first,          // sparse ones are read otherwise, too
  all_first              // all of them are used before the first block
};

// Makes the update groups of a deferred update. large_sparse: by parameter, whether it is worth a
// group of its own.
void defer_update(UpdatePlan& plan, const BlockUse& use, const std::vector<bool>& large_sparse,
                  Deferral how);

}  // namespace lockstep
