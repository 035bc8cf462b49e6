#include "training/step/rank_statistics.h"

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep {

std::shared_ptr<const StatisticsOfRanks> statistics_of_ranks(const TrainOptions& options,
                                                             ProcessGroup& group) {
  if (options.norm.statistics != NormStatistics::sync || group.size() == 1) return nullptr;
  return std::make_shared<const StatisticsOfRanks>(StatisticsOfRanks{
      .sum = [&group](const at::Tensor& values) { group.all_reduce_apart(values)->wait(); },
      .rank = group.rank(),
      .ranks = group.size()});
}

std::shared_ptr<const StatisticsOfRanks> without_the_others(
    const std::shared_ptr<const StatisticsOfRanks>& of_ranks) {
  if (!of_ranks) return nullptr;
  return std::make_shared<const StatisticsOfRanks>(StatisticsOfRanks{
      .sum = [](const at::Tensor&) {}, .rank = of_ranks->rank, .ranks = of_ranks->ranks});
}

void fail_where_ranks_wait(Phase failed, const std::string& why) {
  throw Error(cat("out of memory in ", phase_name(failed),
                  ", and the micro-batch cannot shrink, because statistics of batch norm span ",
                  "norm.rows = ranks x micro-batch rows", why.empty() ? "" : ": ", why),
              "begin a new run with a smaller norm.rows, or with norm.statistics=rank");
}

}  // namespace lockstep
