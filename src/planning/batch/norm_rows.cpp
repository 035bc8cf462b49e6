#include "planning/batch/norm_rows.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "planning/notes.h"
#include "planning/words.h"

#include <algorithm>

namespace lockstep {

std::int64_t micro_of_norm_rows(const TrainOptions& options, std::int64_t ranks,
                                const std::string& rank_word) {
  const std::int64_t rows = options.norm.rows;
  if (options.norm.statistics != NormStatistics::sync) {
    if (rows > 0)
      throw Error(cat("norm.rows is ", rows, ", but statistics span several devices only with ",
                      "norm.statistics=sync"),
                  "set norm.statistics=sync, or leave out norm.rows");
    return 0;
  }
  if (options.exact)
    throw Error(
        "exact = true adds up in an order that no number of ranks changes, but "
        "norm.statistics = sync adds up statistics by ranks",
        "set norm.statistics=frozen, or exact=false");
  if (!options.batch.micro_changes.empty())
    throw Error("norm.statistics = sync keeps one micro-batch, but batch.micro_changes is set",
                "leave out batch.micro_changes");
  if (rows == 0) return 0;
  if (rows % ranks != 0) {
    const std::int64_t below = rows / ranks * ranks;
    throw Error(
        cat("norm.rows ", rows, " does not divide into ", count_of(ranks, rank_word)),
        cat("use a number of ranks that divides ", rows, "; a new run may set norm.rows to ",
            below > 0 ? cat(below, " or ") : "", below + ranks));
  }
  const std::int64_t micro = rows / ranks;
  if (options.batch.micro > 0 && options.batch.micro != micro)
    throw Error(cat("norm.rows ", rows, " is ", count_of(ranks, rank_word), " x micro-batch ",
                    micro, ", but batch.micro is ", options.batch.micro),
                "leave out batch.micro or norm.rows");
  return micro;
}

std::int64_t norm_rows_of(const TrainOptions& options, const BatchPlan& batch) {
  if (options.norm.statistics != NormStatistics::sync) return 0;
  if (batch.places() != batch.rows())
    throw Error(
        cat("norm.statistics = sync needs a row in every place, but ", padding_words(batch)),
        "choose batch.global and batch.micro so that rows divide, or another number of "
        "devices");
  return batch.world_size * batch.micro;
}

}  // namespace lockstep
