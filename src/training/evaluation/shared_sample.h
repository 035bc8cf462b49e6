// A validation sample that several ranks evaluate together. Each rank evaluates one piece of it.
#pragma once

#include "training/distributed/process_group.h"
#include "training/evaluation/evaluation_share.h"
#include "training/recipe/prediction.h"

#include <cstdint>

namespace lockstep {

// A sample is shared by the ranks from sample * ranks / samples up to the first rank of the next
// sample. The first of these ranks joins the pieces.
struct SharedSample {
  std::int64_t sample = 0;
  int first_rank = 0;
  ItemPiece piece;  // the piece of this rank
  // The rows whose records this rank has at the end.
  RowShare share() const {
    return {.begin = sample + (piece.index > 0 ? 1 : 0), .end = sample + 1};
  }
};

// Returns this rank's sample out of `count` samples, which are fewer than the ranks.
SharedSample shared_sample(const ProcessGroup& group, std::int64_t count);

// All ranks call it together, and each evaluates its piece (Recipe::evaluate_piece). The first rank
// of a sample returns the record. Failures are returned as by evaluate_alone.
OwnRecords evaluate_shared(Recipe& recipe, Model& model, const Dataset& dataset,
                           ProcessGroup& group, Backend& backend, const EvaluatorOptions& options,
                           const SharedSample& shared);

}  // namespace lockstep
