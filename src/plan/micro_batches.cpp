#include "plan/micro_batches.h"

#include "base/check.h"
#include "base/error.h"
#include "base/text.h"
#include "base/whole_number.h"

namespace lockstep {
namespace {

std::int64_t share_of(const BatchPlan& batch) { return batch.global / batch.world_size; }

}  // namespace

std::vector<MicroChange> parse_micro_changes(const std::string& text, const std::string& option) {
  std::vector<MicroChange> changes;
  if (text.empty()) return changes;
  for (const std::string& part : split(text, ',')) {
    const std::vector<std::string> words = split(part, ':');
    const bool two = words.size() == 2;
    const auto step = two ? whole_number(words[0]) : std::nullopt;
    const auto micro = two ? whole_number<std::int64_t>(words[1], 1) : std::nullopt;
    if (!step || !micro)
      throw Error(
          cat(option, " takes STEP:SAMPLES, with commas between several, but holds \"", part, "\""),
          cat("for example ", option, "=120:8,300:4"));
    const MicroChange change{.step = *step, .micro = *micro};
    if (!changes.empty() && changes.back().step >= change.step)
      throw Error(cat("the steps of ", option, " must rise, but ", change.step, " follows ",
                      changes.back().step),
                  "write them in order");
    changes.push_back(change);
  }
  return changes;
}

BatchPlan with_micro(BatchPlan batch, std::int64_t micro) {
  LOCKSTEP_CHECK(micro > 0 && share_of(batch) % micro == 0);
  batch.micro = micro;
  batch.accumulation = share_of(batch) / micro;
  return batch;
}

std::int64_t next_smaller_micro(const BatchPlan& batch) {
  return batch.micro == 1 ? 0 : largest_divisor(share_of(batch), batch.micro - 1);
}

void check_micro_changes(const std::vector<MicroChange>& changes, const BatchPlan& batch,
                         const std::string& option) {
  for (const MicroChange& change : changes)
    if (share_of(batch) % change.micro != 0)
      throw Error(cat(option, ": micro-batch ", change.micro, " does not divide the ",
                      share_of(batch), " samples of a rank"),
                  cat("write a divisor of ", share_of(batch)));
}

}  // namespace lockstep
