// Saving in the background, and restoring.
#include "checkpoint/snapshot.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "checkpoint/contents.h"
#include "checkpoint/tensor_file.h"
#include "engine/exception_text.h"
#include "engine/not_finite.h"
#include "engine/process_group.h"
#include "launch/heartbeat.h"

#include <ATen/core/grad_mode.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace lockstep {
namespace {

using Tensors = std::vector<std::pair<std::string, at::Tensor>>;

// A flat buffer of the arena on its way to the host: whole, or bucket after bucket where ranks
// share it. Empty on ranks that only give their pieces.
using Flat = std::vector<std::unique_ptr<Download>>;

// Everything a checkpoint needs, on its way to the host.
struct Job {
  std::int64_t step = 0;
  nlohmann::json state, metrics;
  const Arena* arena = nullptr;  // names, layout; constant during a run
  Flat master, average;
  std::map<std::string, Flat> moments;
  std::map<std::string, std::unique_ptr<Download>> scalars;
  std::vector<std::pair<std::string, std::unique_ptr<Download>>> frozen, buffers;
  std::vector<Alias> buffer_aliases;
};

// What is on the host already, and stays as it is.
class OnHost : public Download {
 public:
  explicit OnHost(at::Tensor tensor) : tensor_(std::move(tensor)) {}
  bool ready() override { return true; }
  at::Tensor get() override { return tensor_; }

 private:
  at::Tensor tensor_;
};

// What every rank holds, so that rank 0 needs nobody for it.
void start_others(Job& job, const Trained& trained, Backend& backend) {
  const FrozenParameters& frozen = trained.arena.frozen();
  for (std::size_t i = 0; i < frozen.size(); ++i) {
    const at::Tensor values = frozen.values(i);
    const bool may_change = values.is_alias_of(frozen.tensor(i)) || !values.is_cpu();
    job.frozen.emplace_back(
        frozen.name(i), may_change ? backend.download(values) : std::make_unique<OnHost>(values));
  }
  for (const auto& [name, scalar] : trained.optimizer->scalar_state())
    job.scalars[name] = backend.download(scalar);
  for (const NamedTensor& buffer : unique_buffers(trained))
    job.buffers.emplace_back(buffer.name, backend.download(buffer.tensor));
  job.buffer_aliases = buffer_aliases(trained);
}

// A bucket at a time, so that no device ever holds more than one of what it does not own.
Flat start(const Arena& arena, const at::Tensor& flat, Backend& backend, bool keep) {
  Flat parts;
  if (flat.numel() == arena.layout().elements) {
    if (keep) parts.push_back(backend.download(flat));
    return parts;
  }
  for (const Piece& piece : arena.own()) {
    const at::Tensor bucket =
        arena.sharing()->all_gather(arena.range(flat, piece, piece.begin, piece.end));
    if (keep) parts.push_back(backend.download(bucket.flatten()));
  }
  return parts;
}

// What is flat, on all ranks in one order.
void start_flat(Job& job, const Trained& trained, Backend& backend, bool keep) {
  const auto begin = [&](const at::Tensor& flat) {
    return start(trained.arena, flat, backend, keep);
  };
  job.master = begin(trained.arena.master());
  for (const auto& [name, flat] : trained.optimizer->flat_state()) job.moments[name] = begin(flat);
  if (const WeightAverage* average = trained.optimizer->average())
    job.average = begin(average->flat());
}

Tensors views(const Arena& arena, Flat& flat, const std::string& prefix) {
  std::vector<at::Tensor> parts;
  for (const auto& part : flat) parts.push_back(part->get());
  std::vector<at::Tensor> found(arena.parameters().size());
  for (std::size_t b = 0; b < arena.buckets().size(); ++b) {
    const Bucket& bucket = arena.buckets()[b];
    const bool whole = parts.size() == 1 && parts[0].numel() == arena.layout().elements;
    for (const std::int64_t p : bucket.parameters) {
      const auto i = static_cast<std::size_t>(p);
      const std::int64_t begin = arena.layout().offsets[i] - (whole ? 0 : bucket.begin);
      found[i] = parts[whole ? 0 : b]
                     .narrow(0, begin, arena.sizes()[i])
                     .view(arena.parameters()[i].tensor.sizes());
    }
  }
  Tensors tensors;
  for (std::size_t i = 0; i < found.size(); ++i)
    tensors.emplace_back(prefix + arena.parameters()[i].name, found[i]);
  return tensors;
}

std::atomic<int> being_written{0};  // in this process

// Good checkpoints must not be followed, and in the end replaced, by one that nobody can use.
void require_finite(const Tensors& weights) {
  for (const auto& [name, tensor] : weights)
    if (!is_finite(tensor)) throw Error(cat("the weights ", name, " are not finite"));
}

void write_optimizer(CheckpointWriter& writer, Job& job) {
  Tensors tensors;
  std::vector<Alias> aliases;
  for (auto& [name, flat] : job.moments) {
    const std::string prefix = name + ".";
    for (auto& entry : views(*job.arena, flat, prefix)) tensors.push_back(entry);
    for (Alias& alias : parameter_aliases(*job.arena, prefix)) aliases.push_back(std::move(alias));
  }
  write_tensors(writer, optimizer_file, tensors, aliases);
}

CheckpointInfo write(const std::filesystem::path& checkpoints, Job& job,
                     const std::function<void()>& before_commit) {
  const Arena& arena = *job.arena;
  Tensors model = views(arena, job.master, "");
  for (auto& [name, download] : job.frozen) model.emplace_back(name, download->get());
  require_finite(model);
  for (auto& [name, download] : job.buffers) model.emplace_back(name, download->get());
  CheckpointWriter writer(checkpoints, job.step);
  std::vector<Alias> aliases = parameter_aliases(arena);
  aliases.insert(aliases.end(), job.buffer_aliases.begin(), job.buffer_aliases.end());
  write_tensors(writer, model_file, model, aliases);
  write_optimizer(writer, job);
  if (!job.average.empty())
    write_tensors(writer, average_file, views(arena, job.average, ""), parameter_aliases(arena));
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
  std::string last_damage;  // of the newest that was written
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
      delete_old();
    } catch (const std::exception&) {
      return result;  // the new one is good all the same
    }
    return result;
  }

  // One that cannot be deleted now is tried again after the next checkpoint.
  void delete_old() {
    for (const CheckpointInfo& old : to_delete(list_checkpoints(checkpoints, false), retention)) {
      try {
        remove_checkpoint(old);
      } catch (const std::exception&) {
        continue;
      }
    }
  }

  void wait_idle() {
    std::unique_lock lock(mutex);
    // Slow storage is no hang, so that this rank keeps moving.
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
  std::vector<std::int64_t> sizes;  // of what start_flat downloads
  const auto add = [&](const at::Tensor& flat) {
    if (flat.numel() == trained.arena.layout().elements)
      sizes.push_back(flat.numel());
    else
      for (const Bucket& bucket : trained.arena.buckets())
        sizes.push_back(bucket.end - bucket.begin);
  };
  add(trained.arena.master());
  for (const auto& [name, flat] : trained.optimizer->flat_state()) add(flat);
  if (const WeightAverage* average = trained.optimizer->average()) add(average->flat());
  impl_->reserving = std::jthread([&backend = impl_->backend, sizes = std::move(sizes)] {
    std::vector<at::Tensor> all;  // at once, so that each gets a block of its own
    try {
      for (const std::int64_t size : sizes) all.push_back(backend.host_empty({size}, at::kFloat));
    } catch (const c10::Error&) {
      // Then `save` asks again, and says why it cannot.
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
  job.arena = &trained.arena;
  start_flat(job, trained, impl_->backend, /*keep=*/true);
  start_others(job, trained, impl_->backend);
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->job = std::move(job);
  }
  impl_->changed.notify_all();
}

void give_pieces(const Trained& trained, Backend& backend) {
  if (trained.arena.sharing() == nullptr) return;
  const at::NoGradGuard no_grad;
  Job job;
  start_flat(job, trained, backend, /*keep=*/false);
}

std::string CheckpointSaver::finish() {
  impl_->wait_idle();
  return impl_->last_damage;
}

}  // namespace lockstep
