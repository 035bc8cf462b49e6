// A validation sample that several ranks evaluate together, each of them a piece of it.
#pragma once

#include "training/distributed/process_group.h"
#include "training/evaluation/evaluation_share.h"
#include "training/recipe/prediction.h"

#include <cstdint>

namespace lockstep {

// Ranks [sample * ranks / samples, …) share a sample; the first of them joins its pieces.
struct SharedSample {
  std::int64_t sample = 0;
  int first_rank = 0;
  ItemPiece piece;  // this rank's
  // The rows whose records this rank has in the end.
  RowShare share() const {
    return {.begin = sample + (piece.index > 0 ? 1 : 0), .end = sample + 1};
  }
};

// This rank's of `count` samples, which are fewer than the ranks.
SharedSample shared_sample(const ProcessGroup& group, std::int64_t count);

// All ranks together, each its piece (Recipe::evaluate_piece). The record is in what the first rank
// of a sample returns. Failures are in what a rank returns, as of evaluate_alone.
OwnRecords evaluate_shared(Recipe& recipe, Model& model, const Dataset& dataset,
                           ProcessGroup& group, Backend& backend, const EvaluatorOptions& options,
                           const SharedSample& shared);

}  // namespace lockstep
