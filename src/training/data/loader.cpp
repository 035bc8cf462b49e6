// The loader. Its threads fill a bounded window of steps, row by row.
#include "training/data/loader.h"

#include "core/base/check.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace lockstep {

struct Loader::Impl {
  struct MicroBatch {
    explicit MicroBatch(const PendingBatchOptions& what) : batch(what), missing(batch.parts()) {}
    PendingBatch batch;
    // number of parts that threads have taken; from parts() on, none is left
    std::atomic<std::int64_t> taken = 0;
    std::atomic<std::int64_t> missing;  // parts that are not read yet
    std::vector<double> weights;        // summed in order when the step is complete
    std::exception_ptr error;
  };
  struct Slot {
    StepData data;
    std::deque<MicroBatch> micro;
    std::int64_t missing = 0;  // micro-batches that are not assembled yet
  };

  std::shared_ptr<const Dataset> dataset;
  LoaderOptions options;

  mutable std::mutex mutex;
  std::condition_variable complete;  // signals that a step of the window is complete
  // signals that there is room for more steps, or that the loader stops
  std::condition_variable room;
  std::deque<std::shared_ptr<Slot>> window;  // steps next_out, next_out + 1, …
  std::int64_t next_out;                     // step that `next` returns
  std::int64_t next_step;                    // step that is opened next
  std::shared_ptr<Slot> open;                // the step whose parts threads are taking, or null
  std::size_t open_micro = 0;  // the micro-batch in `open` whose parts threads are taking
  std::atomic<bool> stopping = false;
  std::vector<std::thread> threads;
  std::atomic<std::int64_t> thread_count = 0;

  Impl(std::shared_ptr<const Dataset> data, LoaderOptions opts)
      : dataset(std::move(data)),
        options(std::move(opts)),
        next_out(options.first_step),
        next_step(options.first_step) {
    if (options.row_of) return;
    options.row_of = training_rows(*dataset,
                                   {.seed = options.seed,
                                    .shuffle = options.shuffle,
                                    .drop_last = options.drop_last,
                                    .group_by_length = options.group_by_length},
                                   options.batch.global);
  }

  std::shared_ptr<Slot> make_slot(std::int64_t step) const {
    auto slot = std::make_shared<Slot>();
    const BatchPlan& batch = options.batch;
    slot->data.step = step;
    slot->data.batches.resize(static_cast<std::size_t>(batch.accumulation));
    slot->data.samples.resize(static_cast<std::size_t>(batch.accumulation * batch.micro));
    slot->missing = batch.accumulation;
    for (std::int64_t micro = 0; micro < batch.accumulation; ++micro)
      slot->micro.emplace_back(
          PendingBatchOptions{.dataset = *dataset,
                              .row_of = options.row_of,
                              .seed = options.seed,
                              .step = step,
                              .first_row = first_global_row(batch, options.rank, micro),
                              .rows = batch.micro,
                              .training = options.training});
    return slot;
  }

  // Assembles a micro-batch. All its parts must be read.
  void make(Slot& slot, std::size_t number) const {
    try {
      put(slot, number, slot.micro[number].batch.assemble());
    } catch (...) {
      slot.micro[number].error = std::current_exception();
    }
  }

  void put(Slot& slot, std::size_t number, Batch batch) const {
    MicroBatch& micro = slot.micro[number];
    if (options.loss_weights) micro.weights = options.loss_weights(batch);
    if (options.pin)
      for (at::Tensor& tensor : batch.tensors) tensor = options.pin(std::move(tensor));
    const std::vector<Row>& rows = micro.batch.rows();
    const auto first =
        slot.data.samples.begin() + static_cast<std::int64_t>(number) * options.batch.micro;
    std::transform(rows.begin(), rows.end(), first, [](const Row& row) { return row.sample; });
    if (number == 0) slot.data.epoch = rows[0].epoch;
    slot.data.batches[number] = std::move(batch);
  }

  std::int64_t steps_ahead() const {
    const std::int64_t rows =
        std::max<std::int64_t>(1, options.batch.accumulation * options.batch.micro);
    return std::max(
        {std::int64_t{1}, options.prefetch_steps, 1 + (thread_count.load() + rows - 1) / rows});
  }

  // Returns a part to read from micro-batch `open_micro` of `open`, or -1 if there is none now. The
  // lock must be held.
  std::int64_t take_up() {
    while (true) {
      if (!open) {
        if (next_step >= options.last_step || next_step - next_out >= steps_ahead()) return -1;
        open = window.emplace_back(make_slot(next_step++));
        open_micro = 0;
      }
      MicroBatch& micro = open->micro[open_micro];
      const std::int64_t part = micro.taken++;
      if (part < micro.batch.parts()) return part;
      if (++open_micro == open->micro.size()) open.reset();
    }
  }

  // Reads parts of one micro-batch until none is left. Assembles the micro-batch if this thread
  // read its last missing part. Returns false if there is nothing to do now. The lock is held on
  // entry and exit, but not meanwhile.
  bool work_once(std::unique_lock<std::mutex>& lock) {
    std::int64_t part = take_up();
    if (part < 0) return false;
    const std::shared_ptr<Slot> slot = open;
    const std::size_t number = open_micro;
    MicroBatch& micro = slot->micro[number];
    lock.unlock();
    bool last = false;
    for (; part < micro.batch.parts() && !stopping; part = micro.taken++) {
      micro.batch.read(part);
      last = --micro.missing == 0;
    }
    if (last) make(*slot, number);
    lock.lock();
    if (last && --slot->missing == 0) complete.notify_all();
    return true;
  }

  void thread_main() {
    at::set_num_threads(1);
    std::unique_lock lock(mutex);
    while (!stopping)
      if (!work_once(lock)) room.wait(lock);
  }

  static StepData finish(const std::shared_ptr<Slot>& slot) {
    for (const MicroBatch& micro : slot->micro) {
      if (micro.error) std::rethrow_exception(micro.error);
      slot->data.weights.resize(micro.weights.size());
      for (std::size_t i = 0; i < micro.weights.size(); ++i)
        slot->data.weights[i] += micro.weights[i];
    }
    return std::move(slot->data);
  }
};

Loader::Loader(std::shared_ptr<const Dataset> dataset, LoaderOptions options)
    : impl_(std::make_unique<Impl>(std::move(dataset), std::move(options))) {
  for (std::int64_t i = 0; i < impl_->options.threads; ++i) add_thread();
}

void Loader::add_thread() {
  ++impl_->thread_count;
  impl_->threads.emplace_back([impl = impl_.get()] { impl->thread_main(); });
}

Loader::~Loader() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->room.notify_all();
  for (std::thread& thread : impl_->threads) thread.join();
}

std::int64_t Loader::threads() const { return std::ssize(impl_->threads); }

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
    impl_->complete.wait(lock, complete);
  }
  const std::shared_ptr<Impl::Slot> slot = std::move(impl_->window.front());
  impl_->window.pop_front();
  ++impl_->next_out;
  lock.unlock();
  impl_->room.notify_all();
  return Impl::finish(slot);
}

}  // namespace lockstep
