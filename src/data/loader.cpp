// The loader: a bounded window of steps, filled by threads a micro-batch at a time.
#include "data/loader.h"

#include "base/check.h"
#include "launch/heartbeat.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace lockstep {

Batch make_batch(const Dataset& dataset, const std::vector<Row>& rows, std::uint64_t seed,
                 std::int64_t step, bool training) {
  LOCKSTEP_CHECK(!rows.empty());
  std::vector<std::int64_t> samples;
  std::vector<SampleContext> contexts;
  samples.reserve(rows.size());
  contexts.reserve(rows.size());
  Batch batch;
  batch.first_global_row = rows[0].global_row;
  batch.row_weight = at::empty({static_cast<std::int64_t>(rows.size())}, at::kFloat);
  float* weight = batch.row_weight.mutable_data_ptr<float>();
  for (const Row& row : rows) {
    const auto stream_step = static_cast<std::uint64_t>(step);
    const auto global_row = static_cast<std::uint64_t>(row.global_row);
    contexts.push_back({.seed = seed,
                        .epoch = row.epoch,
                        .step = step,
                        .global_row = row.global_row,
                        .training = training,
                        .random = Random(seed, RandomStream::augment, stream_step, global_row)});
    samples.push_back(row.sample);
    *weight++ = row.sample >= 0 ? 1.0F : 0.0F;
  }
  beat();
  batch.tensors = dataset.batch(samples, contexts);
  return batch;
}

struct Loader::Impl {
  struct Slot {
    StepData data;
    std::vector<std::vector<double>> weights;  // by micro-batch, added up in order when complete
    std::int64_t missing = 0;                  // micro-batches not made yet
    std::exception_ptr error;
  };

  std::shared_ptr<const Dataset> dataset;
  LoaderOptions options;
  SampleOrder order;

  mutable std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::unique_ptr<Slot>> window;  // steps first_open, first_open + 1, …
  std::int64_t next_out;                     // step that `next` returns
  std::int64_t next_step;                    // step and micro-batch that a thread takes up next
  std::int64_t next_micro = 0;
  bool stopping = false;
  std::vector<std::thread> threads;

  Impl(std::shared_ptr<const Dataset> data, LoaderOptions opts)
      : dataset(std::move(data)),
        options(std::move(opts)),
        order(options.seed, dataset->size(), options.shuffle),
        next_out(options.first_step),
        next_step(options.first_step) {}

  std::vector<Row> rows_of(std::int64_t step, std::int64_t micro) const {
    std::vector<Row> rows;
    const std::int64_t first = first_global_row(options.batch, options.rank, micro);
    for (std::int64_t i = 0; i < options.batch.micro; ++i)
      rows.push_back(row_at(order, dataset->size(), options.batch.global, step, first + i));
    return rows;
  }

  void fill(Slot& slot, std::int64_t micro) const {
    const std::int64_t step = slot.data.step;
    const std::vector<Row> rows = rows_of(step, micro);
    Batch batch = make_batch(*dataset, rows, options.seed, step, /*training=*/true);
    std::vector<double> weights =
        options.loss_weights ? options.loss_weights(batch) : std::vector<double>{};
    if (options.pin)
      for (at::Tensor& tensor : batch.tensors) tensor = options.pin(std::move(tensor));
    for (std::size_t i = 0; i < rows.size(); ++i)
      slot.data.samples[static_cast<std::size_t>(micro * options.batch.micro) + i] = rows[i].sample;
    if (micro == 0) slot.data.epoch = rows[0].epoch;
    slot.weights[static_cast<std::size_t>(micro)] = std::move(weights);
    slot.data.batches[static_cast<std::size_t>(micro)] = std::move(batch);
  }

  std::unique_ptr<Slot> open_slot(std::int64_t step) const {
    auto slot = std::make_unique<Slot>();
    const auto micros = static_cast<std::size_t>(options.batch.accumulation);
    slot->data.step = step;
    slot->data.batches.resize(micros);
    slot->data.samples.resize(micros * static_cast<std::size_t>(options.batch.micro));
    slot->weights.resize(micros);
    slot->missing = options.batch.accumulation;
    return slot;
  }

  // Takes up one micro-batch; false if there is none to take up now. Lock held on entry and exit.
  bool work_once(std::unique_lock<std::mutex>& lock) {
    if (next_step >= options.last_step) return false;
    if (next_step - next_out >= std::max<std::int64_t>(options.prefetch_steps, 1)) return false;
    if (next_micro == 0) window.push_back(open_slot(next_step));
    Slot& slot = *window.back();  // stays put: unique_ptr, and `next` waits for missing == 0
    const std::int64_t micro = next_micro++;
    if (next_micro == options.batch.accumulation) {
      next_micro = 0;
      ++next_step;
    }
    lock.unlock();
    std::exception_ptr error;
    try {
      fill(slot, micro);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error && !slot.error) slot.error = error;
    if (--slot.missing == 0) changed.notify_all();
    return true;
  }

  void thread_main() {
    at::set_num_threads(1);
    std::unique_lock lock(mutex);
    while (!stopping)
      if (!work_once(lock)) changed.wait(lock);
  }

  StepData finish(std::unique_ptr<Slot> slot) const {
    if (slot->error) std::rethrow_exception(slot->error);
    for (const std::vector<double>& weights : slot->weights) {
      slot->data.weights.resize(weights.size());
      for (std::size_t i = 0; i < weights.size(); ++i) slot->data.weights[i] += weights[i];
    }
    return std::move(slot->data);
  }
};

Loader::Loader(std::shared_ptr<const Dataset> dataset, LoaderOptions options)
    : impl_(std::make_unique<Impl>(std::move(dataset), std::move(options))) {
  for (std::int64_t i = 0; i < impl_->options.threads; ++i) add_thread();
}

void Loader::add_thread() {
  impl_->threads.emplace_back([impl = impl_.get()] { impl->thread_main(); });
}

Loader::~Loader() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->changed.notify_all();
  for (std::thread& thread : impl_->threads) thread.join();
}

bool Loader::done() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->next_out >= impl_->options.last_step;
}

bool Loader::ready() const {
  const std::lock_guard lock(impl_->mutex);
  return !impl_->window.empty() && impl_->window.front()->missing == 0;
}

StepData Loader::next() {
  std::unique_lock lock(impl_->mutex);
  LOCKSTEP_CHECK(impl_->next_out < impl_->options.last_step);
  const auto complete = [this] {
    return !impl_->window.empty() && impl_->window.front()->missing == 0;
  };
  if (impl_->threads.empty()) {
    while (!complete()) LOCKSTEP_CHECK(impl_->work_once(lock));
  } else {
    impl_->changed.wait(lock, complete);
  }
  std::unique_ptr<Impl::Slot> slot = std::move(impl_->window.front());
  impl_->window.pop_front();
  ++impl_->next_out;
  lock.unlock();
  impl_->changed.notify_all();
  return impl_->finish(std::move(slot));
}

}  // namespace lockstep
