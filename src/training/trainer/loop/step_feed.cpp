#include "training/trainer/loop/step_feed.h"

#include "backends/out_of_memory.h"
#include "core/base/check.h"
#include "runtime/launch/watch/heartbeat.h"
#include "training/step/loss_weights.h"

#include "planning/order/order.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <utility>

namespace lockstep {

StepFeed::StepFeed(const TrainerSetup& setup, std::shared_ptr<const Dataset> data,
                   StepRunner& runner)
    : setup_(setup),
      data_(std::move(data)),
      runner_(runner),
      batch_(setup.plan.batch),
      changes_(parse_micro_changes(setup.options.batch.micro_changes)),
      threads_(setup.options.data.threads,
               setup.plan.devices[static_cast<std::size_t>(setup.group.rank())].threads) {}

void StepFeed::start(std::int64_t step, const BatchPlan& batch) {
  forget_staged();
  failure_ = nullptr;
  loader_.reset();
  batch_ = batch;
  const TrainOptions& asked = setup_.options;
  LoaderOptions options{.seed = static_cast<std::uint64_t>(asked.seed),
                        .shuffle = asked.data.shuffle,
                        .batch = batch_,
                        .rank = setup_.group.rank(),
                        .first_step = step,
                        .last_step = setup_.plan.total_steps,
                        .threads = threads_.count(),
                        .prefetch_steps = asked.data.prefetch,
                        .drop_last = asked.data.drop_last,
                        .group_by_length = asked.data.group_by_length};
  options.loss_weights = [this](const Batch& one) {
    return checked_loss_weights(setup_.recipe, one);
  };
  options.pin = pin_for(setup_.backend);
  if (setup_.longest_first)
    options.row_of = longest_rows_first(*data_, {.seed = options.seed}, batch_.global);
  loader_ = std::make_unique<Loader>(data_, std::move(options));
}

// Waits for the collective of the staged step first, because it is in progress on all ranks.
void StepFeed::forget_staged() {
  if (staged_) staged_->agreement->wait();
  staged_.reset();
}

bool StepFeed::change_due(std::int64_t step) const {
  return !changes_.empty() && changes_.front().step <= step;
}

void StepFeed::skip_changes(std::int64_t step) {
  std::erase_if(changes_, [&](const MicroChange& change) { return change.step <= step; });
}

BatchPlan StepFeed::take_change(std::int64_t step) {
  std::int64_t micro = batch_.micro;
  while (change_due(step)) {
    micro = changes_.front().micro;
    changes_.erase(changes_.begin());
  }
  return with_micro(batch_, micro);
}

void StepFeed::fetch() {
  LOCKSTEP_CHECK(!staged_);
  const double begin_s = setup_.clock.now_s();
  enter_phase(Phase::data);
  StepData data;
  try {
    data = loader_->next();
  } catch (...) {
    failure_ = std::current_exception();
    data.samples.assign(static_cast<std::size_t>(batch_.accumulation * batch_.micro), -1);
  }
  const double waited_s = setup_.clock.now_s() - begin_s;
  wait_s_ += waited_s;
  threads_.waited(waited_s);
  if (setup_.options.run.record_samples) gather_samples(data);
  staged_ = failure_ ? runner_.stage_nothing() : runner_.stage(std::move(data));
}

bool StepFeed::has_data() const {
  LOCKSTEP_CHECK(staged_.has_value());
  return runner_.all_have_data(*staged_);
}

void StepFeed::gather_samples(const StepData& data) {
  const auto gather = [&] {
    at::Tensor own = at::empty({static_cast<std::int64_t>(data.samples.size())}, at::kLong);
    std::copy(data.samples.begin(), data.samples.end(), own.mutable_data_ptr<std::int64_t>());
    return setup_.group.all_gather(own.to(setup_.backend.device()));
  };
  const auto release = [&] { setup_.backend.release_cached_memory(); };
  const at::Tensor all = retry_after_freeing(gather, release).to(at::kCPU);
  const auto* next = all.const_data_ptr<std::int64_t>();
  std::vector<std::int64_t> by_row(static_cast<std::size_t>(all.numel()));
  for (int rank = 0; rank < setup_.group.size(); ++rank)
    for (std::int64_t m = 0; m < batch_.accumulation; ++m, next += batch_.micro)
      std::copy(next, next + batch_.micro, by_row.begin() + first_global_row(batch_, rank, m));
  // by_row may have more places than the step has rows, depending on the number of ranks. These are
  // dropped.
  samples_.clear();
  for (std::int64_t row = 0; row < batch_.rows(); row += batch_.rows_per_sample)
    samples_.push_back(by_row[static_cast<std::size_t>(row)]);
}

StagedStep StepFeed::take() {
  LOCKSTEP_CHECK(staged_.has_value());
  return *std::exchange(staged_, std::nullopt);
}

StagedStep StepFeed::fetch_apart(std::vector<std::int64_t>& samples) {
  StepData data = loader_->next();
  samples = data.samples;
  return runner_.stage(std::move(data));
}

double StepFeed::take_wait_s() { return std::exchange(wait_s_, 0); }

std::optional<double> StepFeed::adapt() {
  const auto share = threads_.step_done(setup_.clock.now_s());
  if (share)
    while (loader_->threads() < threads_.count()) loader_->add_thread();
  return share;
}

}  // namespace lockstep
