// Saves checkpoints in the background.
#include "training/checkpoint/snapshot.h"

#include "backends/exception_text.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "runtime/launch/watch/heartbeat.h"
#include "training/checkpoint/contents.h"
#include "training/checkpoint/flat_copy.h"
#include "training/checkpoint/host_copy.h"
#include "training/checkpoint/tensor_file.h"
#include "training/gradients/not_finite.h"

#include <ATen/core/grad_mode.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

namespace lockstep {
namespace {

using Tensors = std::vector<std::pair<std::string, at::Tensor>>;

// Everything that a checkpoint contains, while it is copied to the host.
struct Job {
  std::int64_t step = 0;
  std::string failure;  // why the checkpoint cannot be written; empty = it can
  nlohmann::json state, metrics;
  // for names and layout, which do not change during a run
  const ParameterStorage* storage = nullptr;
  FlatCopy master, average;
  std::map<std::string, FlatCopy> moments;
  std::map<std::string, std::unique_ptr<Download>> scalars;
  std::vector<std::pair<std::string, std::unique_ptr<Download>>> frozen, buffers, average_buffers;
  std::vector<Alias> buffer_aliases;
};

// Copies the state that every rank holds. So rank 0 needs no other rank for it.
void start_others(Job& job, const Trained& trained, Backend& backend) {
  const FrozenParameters& frozen = trained.storage.frozen();
  for (std::size_t i = 0; i < frozen.size(); ++i) {
    const at::Tensor values = frozen.values(i);
    const bool may_change = values.is_alias_of(frozen.tensor(i)) || !values.is_cpu();
    job.frozen.emplace_back(frozen.name(i),
                            may_change ? copy_to_host(backend, values) : on_host(values));
  }
  for (const auto& [name, scalar] : trained.optimizer->scalar_state())
    job.scalars[name] = copy_to_host(backend, scalar);
  for (const NamedTensor& buffer : unique_buffers(trained))
    job.buffers.emplace_back(buffer.name, copy_to_host(backend, buffer.tensor));
  job.buffer_aliases = buffer_aliases(trained);
  if (const WeightAverage* average = trained.optimizer->average())
    for (const NamedTensor& buffer : average->buffers())
      job.average_buffers.emplace_back(buffer.name, copy_to_host(backend, buffer.tensor));
}

// Copies the flat buffers. All ranks do so in the same order.
void start_flat(Job& job, const Trained& trained, FlatCopier& copier) {
  job.master = copier.copy(trained.storage.master());
  for (const StateBuffer& state : trained.optimizer->states())
    job.moments[state.name()] = copier.copy(state);
  if (const WeightAverage* average = trained.optimizer->average())
    job.average = copier.copy(average->flat());
}

std::atomic<int> being_written{0};  // number of checkpoints that this process is writing

// A checkpoint with weights that are not finite must not replace good checkpoints.
void require_finite(const Tensors& weights) {
  for (const auto& [name, tensor] : weights)
    if (!is_finite(tensor)) throw Error(cat("the weights ", name, " are not finite"));
}

// Other state may be infinite, as masks are.
void require_numbers(const char* what, const Tensors& tensors) {
  for (const auto& [name, tensor] : tensors)
    if (has_nan(tensor)) throw Error(cat("the ", what, " ", name, " holds NaN"));
}

Tensors finished(std::vector<std::pair<std::string, std::unique_ptr<Download>>>& downloads) {
  Tensors tensors;
  for (auto& [name, download] : downloads) tensors.emplace_back(name, download->get());
  return tensors;
}

// The checked contents of model.safetensors.
Tensors model_tensors(Job& job) {
  Tensors model = job.master.tensors(*job.storage, "");
  require_finite(model);
  const Tensors frozen = finished(job.frozen), buffers = finished(job.buffers);
  require_numbers("frozen parameter", frozen);
  require_numbers("buffer", buffers);
  model.insert(model.end(), frozen.begin(), frozen.end());
  model.insert(model.end(), buffers.begin(), buffers.end());
  return model;
}

void write_optimizer(CheckpointWriter& writer, Job& job) {
  Tensors tensors;
  std::vector<Alias> aliases;
  for (auto& [name, flat] : job.moments) {
    const std::string prefix = name + ".";
    std::set<std::string> held;
    for (auto& entry : flat.tensors(*job.storage, prefix)) {
      held.insert(entry.first);
      tensors.push_back(std::move(entry));
    }
    for (Alias& alias : parameter_aliases(*job.storage, prefix))
      if (held.contains(alias.of)) aliases.push_back(std::move(alias));
  }
  write_tensors(writer, optimizer_file, tensors, aliases);
}

void write_average(CheckpointWriter& writer, Job& job) {
  Tensors tensors = job.average.tensors(*job.storage, "");
  const Tensors buffers = finished(job.average_buffers);
  require_numbers("average of the buffer", buffers);
  tensors.insert(tensors.end(), buffers.begin(), buffers.end());
  write_tensors(writer, average_file, tensors, parameter_aliases(*job.storage));
}

CheckpointInfo write(const std::filesystem::path& checkpoints, Job& job,
                     const std::function<void()>& before_commit) {
  if (!job.failure.empty()) throw Error(job.failure);
  const ParameterStorage& storage = *job.storage;
  const Tensors model = model_tensors(job);
  CheckpointWriter writer(checkpoints, job.step);
  std::vector<Alias> aliases = parameter_aliases(storage);
  aliases.insert(aliases.end(), job.buffer_aliases.begin(), job.buffer_aliases.end());
  write_tensors(writer, model_file, model, aliases);
  write_optimizer(writer, job);
  if (!job.average.empty()) write_average(writer, job);
  for (auto& [name, download] : job.scalars)
    job.state["optimizer"][name] = download->get().to(at::kDouble).item<double>();
  const std::string text = job.state.dump(1);
  writer.append("state.json", text.data(), text.size());
  before_commit();
  return writer.commit(job.metrics);
}

}  // namespace

struct CheckpointSaver::Impl {
  std::filesystem::path checkpoints;
  Retention retention;
  Backend& backend;
  std::function<void(const Result&)> on_done;
  std::function<void()> before_commit;
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Job> job;
  bool stopping = false;
  std::string last_damage;               // the damage of the newest checkpoint that was written
  std::set<std::filesystem::path> told;  // old checkpoints already reported as undeleted
  std::thread thread;
  std::jthread reserving;

  void thread_main() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [this] { return job.has_value() || stopping; });
      if (!job) return;
      lock.unlock();
      ++being_written;
      const Result result = write_one(*job);
      on_done(result);
      --being_written;
      lock.lock();
      last_damage = result.info.damage;
      job.reset();
      changed.notify_all();
    }
  }

  Result write_one(Job& work) {
    Result result{.step = work.step};
    const auto begin = std::chrono::steady_clock::now();
    try {
      result.info = write(checkpoints, work, before_commit);
      result.seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    } catch (const std::exception& error) {
      result.info.damage = message_of(error);
      return result;
    }
    try {
      delete_old(result.undeleted);
    } catch (const std::exception&) {
      return result;  // the new checkpoint is valid all the same
    }
    return result;
  }

  // If an old checkpoint cannot be deleted now, this is tried again after the next checkpoint.
  void delete_old(std::vector<std::string>& undeleted) {
    for (const CheckpointInfo& old : to_delete(list_checkpoints(checkpoints, false), retention)) {
      try {
        remove_checkpoint(old);
      } catch (const Error& error) {
        if (told.insert(old.path).second)
          undeleted.push_back(cat(error.what(), error.hint().empty() ? "" : "; ", error.hint()));
      }
    }
  }

  void wait_idle() {
    std::unique_lock lock(mutex);
    // Sends heartbeats, so that slow storage is not taken for a hang.
    while (!changed.wait_for(lock, std::chrono::seconds(1), [this] { return !job.has_value(); }))
      beat();
  }
};

void wait_for_checkpoints(double at_most_s) {
  for (const double end_s = system_clock().now_s() + at_most_s;
       being_written > 0 && system_clock().now_s() < end_s;)
    system_clock().sleep_s(0.01);
}

CheckpointSaver::CheckpointSaver(std::filesystem::path checkpoints, Retention retention,
                                 Backend& backend, std::function<void(const Result&)> on_done,
                                 std::function<void()> before_commit)
    : impl_(new Impl{.checkpoints = std::move(checkpoints),
                     .retention = std::move(retention),
                     .backend = backend,
                     .on_done = std::move(on_done),
                     .before_commit = std::move(before_commit)}) {
  impl_->thread = std::thread([impl = impl_.get()] { impl->thread_main(); });
}

CheckpointSaver::~CheckpointSaver() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->changed.notify_all();
  impl_->thread.join();
}

void CheckpointSaver::reserve(const Trained& trained) {
  if (impl_->backend.device().is_cpu()) return;
  std::vector<std::int64_t> sizes;  // sizes of the tensors that start_flat downloads
  const auto add = [&](const at::Tensor& flat) {
    if (trained.storage.sharing() == nullptr || flat.numel() == trained.storage.elements())
      sizes.push_back(flat.numel());
    else
      for (const Bucket& bucket : trained.storage.buckets())
        sizes.push_back(bucket.end - bucket.begin);
  };
  add(trained.storage.master());
  for (const StateBuffer& state : trained.optimizer->states()) {
    if (trained.storage.sharing() == nullptr || state.is_of_all()) {
      add(state.flat());
      continue;
    }
    for (const Bucket& bucket : trained.storage.buckets())
      if (state.has_any(bucket)) sizes.push_back(bucket.end - bucket.begin);
  }
  if (const WeightAverage* average = trained.optimizer->average()) add(average->flat());
  impl_->reserving = std::jthread([&backend = impl_->backend, sizes = std::move(sizes)] {
    std::vector<at::Tensor> all;  // held together, so that each gets a separate block of memory
    try {
      for (const std::int64_t size : sizes) all.push_back(backend.host_empty({size}, at::kFloat));
    } catch (const c10::Error&) {
      // `save` will request the memory again, and will report why it fails.
    }
  });
}

void CheckpointSaver::finish_reserving() {
  if (impl_->reserving.joinable()) impl_->reserving.join();
}

void CheckpointSaver::save(const Trained& trained, std::int64_t step, nlohmann::json state,
                           nlohmann::json metrics) {
  impl_->wait_idle();
  const at::NoGradGuard no_grad;
  Job job{.step = step, .state = std::move(state), .metrics = std::move(metrics)};
  job.storage = &trained.storage;
  FlatCopier copier(trained.storage, impl_->backend, /*keep=*/true);
  start_flat(job, trained, copier);
  if (copier.failure().empty()) copier.attempt([&] { start_others(job, trained, impl_->backend); });
  if (!copier.failure().empty()) job = Job{.step = step, .failure = copier.failure()};
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->job = std::move(job);
  }
  impl_->changed.notify_all();
}

void give_shards(const Trained& trained, Backend& backend) {
  if (trained.storage.sharing() == nullptr) return;
  const at::NoGradGuard no_grad;
  Job job;
  FlatCopier copier(trained.storage, backend, /*keep=*/false);
  start_flat(job, trained, copier);
}

std::string CheckpointSaver::finish() {
  impl_->wait_idle();
  return impl_->last_damage;
}

}  // namespace lockstep
