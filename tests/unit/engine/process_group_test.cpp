// Collectives on tensors, as ranks see them.
#include "fakes/thread_ranks.h"

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>

namespace lockstep {
namespace {

TEST(ProcessGroup, GathersEqualPiecesAndTheRestOfTheLastRank) {
  for (const int ranks : {1, 2, 3, 5})
    for (const std::int64_t piece : {0, 1, 64})
      for (const std::int64_t rest : {0, 1, 200})
        testing::with_ranks(ranks, [&](ProcessGroup& group) {
          // What is not the rank's own is -1 at first.
          at::Tensor whole = at::full({piece * ranks + rest}, -1, at::kFloat);
          const bool is_last = group.rank() + 1 == ranks;
          whole.narrow(0, group.rank() * piece, piece + (is_last ? rest : 0)).fill_(group.rank());
          group.gather_pieces(whole, piece)->wait();
          for (int rank = 0; rank < ranks; ++rank)
            EXPECT_TRUE(whole.narrow(0, rank * piece, piece).eq(rank).all().item<bool>());
          EXPECT_TRUE(whole.narrow(0, ranks * piece, rest).eq(ranks - 1).all().item<bool>());
        });
}

}  // namespace
}  // namespace lockstep
