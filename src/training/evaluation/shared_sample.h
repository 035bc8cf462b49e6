// Lets several ranks evaluate one validation sample together. Each of them evaluates one piece.
#pragma once

#include "training/distributed/process_group.h"
#include "training/evaluation/evaluation_share.h"
#include "training/recipe/prediction.h"

#include <cstdint>

namespace lockstep {

// The sample that this rank shares with other ranks. Sample i belongs to the ranks from ceil(i *
// ranks / samples) up to the rank before the first rank of sample i + 1. The first of these ranks
// joins the pieces.
struct SharedSample {
  std::int64_t sample = 0;
  int first_rank = 0;
  ItemPiece piece;  // the piece of this rank
  // The rows whose records this rank returns: the one row of the sample if this is the sample's
  // first rank, else no rows.
  RowShare share() const {
    return {.begin = sample + (piece.index > 0 ? 1 : 0), .end = sample + 1};
  }
};

// Returns the sample and the piece of this rank. count: the number of samples, which must be below
// the number of ranks.
SharedSample shared_sample(const ProcessGroup& group, std::int64_t count);

// All ranks call it together, and each evaluates its piece (Recipe::evaluate_piece). The first rank
// of each sample returns the record. The result reports a failure in the same way as the result of
// evaluate_alone.
OwnRecords evaluate_shared(Recipe& recipe, Model& model, const Dataset& dataset,
                           ProcessGroup& group, Backend& backend, const EvaluatorOptions& options,
                           const SharedSample& shared);

}  // namespace lockstep
