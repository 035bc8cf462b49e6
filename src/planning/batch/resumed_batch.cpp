#include "planning/batch/resumed_batch.h"

#include "core/base/text/text.h"
#include "planning/batch/micro_batch.h"
#include "planning/words.h"

#include <algorithm>

namespace lockstep {
namespace {

// Whether both lists have the same number of devices of the same kinds. If so, a micro-batch that
// fitted on the old devices fits on the new ones.
bool are_alike(const std::vector<Device>& some, const std::vector<Device>& others) {
  return std::equal(some.begin(), some.end(), others.begin(), others.end(),
                    [](const Device& one, const Device& other) {
                      return one.kind == other.kind && one.name == other.name;
                    });
}

// Returns, for example, "2 CPU ranks" or "2 x Tesla T4".
std::string words_for(const std::vector<Device>& devices) {
  const Device& first = devices.front();
  const bool one_kind = first.kind == DeviceKind::cuda &&
                        std::all_of(devices.begin(), devices.end(), [&](const Device& device) {
                          return device.name == first.name;
                        });
  return one_kind ? cat(devices.size(), " x ", first.name)
                  : count_of(static_cast<std::int64_t>(devices.size()), rank_word(devices));
}

// Whether a micro-batch can also be used on other devices than those of the last start.
bool can_be(std::int64_t micro, const BatchPlan& last, const TrainOptions& options,
            const Facts& facts, const std::vector<Device>& devices) {
  const BatchPlan batch{.world_size = static_cast<std::int64_t>(devices.size()),
                        .global = options.batch.global,
                        .rows_per_sample = std::max<std::int64_t>(1, facts.rows_per_sample)};
  const bool spans_norm_rows = last.norm_rows == 0 || batch.world_size * micro == last.norm_rows;
  return spans_norm_rows && fits_share(batch, micro);
}

// The reason why the recorded batch.micro is not kept.
std::string why_not(std::int64_t micro, const Plan& now) {
  const std::string rank = rank_word(now.devices);
  if (now.batch.norm_rows > 0)
    return cat("norm.rows = ", now.batch.norm_rows, " is shared out over ", words_for(now.devices));
  if (fits_share(now.batch, micro)) return "memory ran out with it";
  const bool has_rows = now.batch.rows_per_sample > 1;
  return cat(has_rows ? "it is more than the " : "it does not divide the ",
             count_of(now.batch.rows_per_rank(), has_rows ? "row" : "sample"), " of a ", rank);
}

// Limits the changes after `step` to at most `limit` rows.
std::string later_changes_within(std::int64_t limit, const std::string& micro_changes,
                                 std::int64_t step) {
  std::vector<MicroChange> changes = parse_micro_changes(micro_changes);
  for (MicroChange& change : changes)
    if (change.step > step) change.micro = std::min(change.micro, limit);
  return format_micro_changes(changes);
}

// The batch to keep if the devices are those of the last start.
KeptBatch batch_of_last_start(const BatchSizes& recorded, const LastBatch& last,
                              const BatchSizes& typed) {
  KeptBatch kept{.sizes = recorded, .micro = last.micro};
  kept.sizes.global = typed.global;
  if (recorded.micro_changes.empty()) return kept;
  kept.micro = last.micro_then;
  for (const MicroChange& change : parse_micro_changes(recorded.micro_changes))
    if (change.step > last.then_since && change.step <= last.step) kept.micro = change.micro;
  if (last.shrunk_to == 0) return kept;
  kept.micro = std::min(kept.micro, last.shrunk_to);
  if (typed.micro_changes.empty())
    kept.sizes.micro_changes =
        later_changes_within(last.shrunk_to, recorded.micro_changes, last.step);
  return kept;
}

}  // namespace

std::int64_t micro_due(const std::string& micro_changes, std::int64_t step) {
  std::int64_t micro = 0;
  for (const MicroChange& change : parse_micro_changes(micro_changes))
    if (change.step <= step) micro = change.micro;
  return micro;
}

KeptBatch batch_to_keep(const BatchSizes& recorded, const LastBatch& last,
                        const TrainOptions& options, const Facts& facts,
                        const std::vector<Device>& devices) {
  const BatchSizes& typed = options.batch;
  const bool are_typed = typed.micro > 0 || typed.accumulation > 0;
  KeptBatch kept{.sizes = typed};
  if (are_alike(last.plan.devices, devices)) {
    if (!are_typed) return batch_of_last_start(recorded, last, typed);
    kept.sizes = recorded;
    kept.sizes.global = typed.global;
    return kept;
  }
  const std::int64_t micro =
      last.shrunk_to > 0 ? std::min(recorded.micro, last.shrunk_to) : recorded.micro;
  if (micro <= 0 || are_typed) return kept;
  if (!can_be(micro, last.plan.batch, options, facts, devices)) return kept;
  kept.sizes.micro = recorded.micro;
  kept.micro = micro;
  return kept;
}

std::vector<std::string> notes_on_kept_batch(const BatchSizes& recorded, const Plan& before,
                                             const Plan& now) {
  if (are_alike(before.devices, now.devices)) return {};
  std::vector<std::string> notes;
  const bool is_set = recorded.micro > 0;
  const std::int64_t had = is_set ? recorded.micro : before.batch.micro;
  const std::string meant_for = cat("it was for ", words_for(before.devices));
  if (now.batch.micro != had)
    notes.push_back(cat("the run's ", is_set ? "batch.micro=" : "micro-batch of ", had,
                        " is not kept: ", is_set ? why_not(had, now) : meant_for,
                        ", and now it is ", now.batch.micro));
  if (recorded.accumulation > 0 && now.batch.accumulation != recorded.accumulation)
    notes.push_back(cat("the run's batch.accumulation=", recorded.accumulation,
                        " is not kept: ", meant_for, ", and now it is ", now.batch.accumulation));
  if (!recorded.micro_changes.empty())
    notes.push_back(
        cat("the run's batch.micro_changes=", recorded.micro_changes, " is not kept: ", meant_for));
  return notes;
}

}  // namespace lockstep
