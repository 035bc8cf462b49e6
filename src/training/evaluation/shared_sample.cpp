// Evaluates a piece of a sample on each rank. The pieces are gathered on the hosts and joined.
#include "training/evaluation/shared_sample.h"

#include "core/base/error.h"
#include "runtime/launch/watch/heartbeat.h"
#include "training/distributed/gather_on_host.h"
#include "training/recipe/records.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <utility>

namespace lockstep {
namespace {

// Gathers the pieces of all ranks on the hosts, u8 [any] each. They are sent as words of 8 bytes.
// Returns nothing if a rank could not make its piece, and so has an undefined `own`.
std::vector<at::Tensor> gather_pieces(const at::Tensor& own, ProcessGroup& group) {
  constexpr std::int64_t word = 8;
  at::Tensor sizes = at::zeros({group.size()}, at::kLong);
  auto* const size = sizes.mutable_data_ptr<std::int64_t>();
  size[group.rank()] = own.defined() ? own.numel() : -1;
  group.all_reduce_on_host(sizes)->wait();
  if (std::any_of(size, size + group.size(), [](std::int64_t one) { return one < 0; })) return {};
  std::vector<std::int64_t> begins{0};
  for (int rank = 0; rank < group.size(); ++rank)
    begins.push_back(begins.back() + (size[rank] + word - 1) / word);
  const auto at_rank = [&](int rank) { return begins[static_cast<std::size_t>(rank)]; };
  at::Tensor words = at::zeros({at_rank(group.rank() + 1) - at_rank(group.rank())}, at::kLong);
  words.view(at::kByte).narrow(0, 0, own.numel()).copy_(own);
  const at::Tensor all =
      gather_on_host(words, at_rank(group.rank()), begins.back(), group).view(at::kByte);
  std::vector<at::Tensor> pieces;
  for (int rank = 0; rank < group.size(); ++rank)
    pieces.push_back(all.narrow(0, at_rank(rank) * word, size[rank]));
  return pieces;
}

at::Tensor checked_piece(const at::Tensor& piece) {
  if (!piece.defined() || piece.scalar_type() != at::kByte)
    throw WrongRecords("evaluate_piece must return a tensor of u8",
                       "a piece without anything is an empty one");
  return piece.reshape({-1}).cpu();
}

}  // namespace

SharedSample shared_sample(const ProcessGroup& group, std::int64_t count) {
  const std::int64_t ranks = group.size(), sample = group.rank() * count / ranks;
  const auto first_of = [&](std::int64_t one) { return (one * ranks + count - 1) / count; };
  const std::int64_t first = first_of(sample);
  return {.sample = sample,
          .first_rank = static_cast<int>(first),
          .piece = {.index = group.rank() - first, .count = first_of(sample + 1) - first}};
}

OwnRecords evaluate_shared(Recipe& recipe, Model& model, const Dataset& dataset,
                           ProcessGroup& group, Backend& backend, const EvaluatorOptions& options,
                           const SharedSample& shared) {
  OwnRecords own;
  Batch batch;
  StepContext context = evaluation_context(backend, options);
  at::Tensor piece;
  try_alone(backend, own, [&] {
    const RowShare one{.begin = shared.sample, .end = shared.sample + 1};
    const auto loader = load_rows(dataset, one, backend, options);
    batch = upload_batch(backend, std::move(loader->next().batches[0]));
    piece = checked_piece(recipe.evaluate_piece(model, batch, shared.piece, context));
  });
  beat();
  std::vector<at::Tensor> pieces = gather_pieces(piece, group);
  if (pieces.empty() || shared.piece.index > 0) return own;
  pieces = {pieces.begin() + shared.first_rank,
            pieces.begin() + shared.first_rank + shared.piece.count};
  try_alone(backend, own, [&] {
    const at::Tensor record = recipe.join_evaluated(batch, pieces, context);
    own.values = record.reshape({-1}).to(at::kCPU, at::kDouble);
    own.lengths = {own.values.numel()};
  });
  return own;
}

}  // namespace lockstep
