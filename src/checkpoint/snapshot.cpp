// Saving in the background, and restoring.
#include "checkpoint/snapshot.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "checkpoint/tensor_file.h"
#include "engine/exception_text.h"
#include "engine/not_finite.h"
#include "engine/process_group.h"
#include "launch/heartbeat.h"
#include "run/json_lines.h"

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

constexpr const char* average_file = "ema.safetensors";

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
  std::vector<std::pair<std::string, std::unique_ptr<Download>>> buffers;
};

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

CheckpointInfo write(const std::filesystem::path& checkpoints, Job& job,
                     const std::function<void()>& before_commit) {
  Tensors model = views(*job.arena, job.master, "");
  require_finite(model);
  CheckpointWriter writer(checkpoints, job.step);
  for (auto& [name, download] : job.buffers) model.emplace_back(name, download->get().contiguous());
  write_tensors(writer, "model.safetensors", model);
  Tensors optimizer;
  for (auto& [name, flat] : job.moments)
    for (auto& entry : views(*job.arena, flat, name + ".")) optimizer.push_back(entry);
  write_tensors(writer, "optimizer.safetensors", optimizer);
  if (!job.average.empty()) write_tensors(writer, average_file, views(*job.arena, job.average, ""));
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
  for (const auto& [name, scalar] : trained.optimizer->scalar_state())
    job.scalars[name] = impl_->backend.download(scalar);
  for (const NamedTensor& buffer : trained.buffers)
    job.buffers.emplace_back(buffer.name, impl_->backend.download(buffer.tensor));
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

namespace {

const at::Tensor& find(const std::map<std::string, at::Tensor>& tensors, const std::string& name,
                       at::IntArrayRef sizes, const std::filesystem::path& file) {
  const auto found = tensors.find(name);
  if (found == tensors.end())
    throw Error(cat(file.string(), " is a checkpoint of another model: it has no ", name),
                "resume with the options that the run was started with");
  if (found->second.sizes() != sizes)
    throw Error(cat(file.string(), " is a checkpoint of another model: ", name, " must have shape ",
                    sizes, ", but has ", found->second.sizes()),
                "resume with the options that the run was started with");
  return found->second;
}

using Files = std::map<std::string, at::Tensor>;

// Each parameter's tensor of that name, in the model's order.
template <class Function>
void for_each(const Arena& arena, const std::string& prefix, const Files& tensors,
              const std::filesystem::path& file, const Function& function) {
  for (std::size_t i = 0; i < arena.parameters().size(); ++i) {
    const Parameter& parameter = arena.parameters()[i];
    function(i, find(tensors, prefix + parameter.name, parameter.tensor.sizes(), file));
  }
}

void fill(const Arena& arena, const at::Tensor& flat, const std::string& prefix,
          const Files& tensors, const std::filesystem::path& file) {
  for_each(arena, prefix, tensors, file,
           [&](std::size_t i, const at::Tensor& values) { arena.fill(flat, i, values); });
}

void check_no_more(const Trained& trained, const std::map<std::string, at::Tensor>& tensors,
                   const std::filesystem::path& file) {
  const std::size_t known = trained.arena.parameters().size() + trained.buffers.size();
  if (tensors.size() == known) return;
  throw Error(cat(file.string(), " is a checkpoint of another model: it has ", tensors.size(),
                  " tensors, the model ", known),
              "resume with the options that the run was started with");
}

}  // namespace

nlohmann::json read_checkpoint_state(const CheckpointInfo& checkpoint) {
  const std::filesystem::path file = checkpoint.path / "state.json";
  nlohmann::json state = parse_object(read_file(file));
  if (state.is_discarded() || !state.contains("step") || !state["step"].is_number_integer())
    throw Error(cat(file.string(), " is damaged: it is no JSON object with a step"),
                "use an older checkpoint");
  return state;
}

bool restore_average(const CheckpointInfo& checkpoint, const Arena& arena, const at::Tensor& flat) {
  const std::filesystem::path file = checkpoint.path / average_file;
  if (!std::filesystem::exists(file)) return false;
  const at::NoGradGuard no_grad;
  fill(arena, flat, "", map_tensors(file), file);
  return true;
}

nlohmann::json restore(const CheckpointInfo& checkpoint, const Trained& trained) {
  const at::NoGradGuard no_grad;
  const std::filesystem::path model_file = checkpoint.path / "model.safetensors";
  const auto model = map_tensors(model_file);
  check_no_more(trained, model, model_file);
  for_each(trained.arena, "", model, model_file,
           [&](std::size_t i, const at::Tensor& values) { trained.arena.set_weights(i, values); });
  for (const NamedTensor& buffer : trained.buffers) {
    at::Tensor target = buffer.tensor;
    target.copy_(find(model, buffer.name, target.sizes(), model_file));
  }
  nlohmann::json state = read_checkpoint_state(checkpoint);
  if (trained.optimizer == nullptr) return state;
  const std::filesystem::path optimizer_file = checkpoint.path / "optimizer.safetensors";
  const auto moments = map_tensors(optimizer_file);
  for (auto& [name, flat] : trained.optimizer->flat_state())
    fill(trained.arena, flat, name + ".", moments, optimizer_file);
  for (auto& [name, scalar] : trained.optimizer->scalar_state()) {
    at::Tensor target = scalar;
    if (state.contains("optimizer") && state["optimizer"].contains(name))
      target.fill_(state["optimizer"][name].get<double>());
  }
  if (WeightAverage* average = trained.optimizer->average())
    if (!restore_average(checkpoint, trained.arena, average->flat())) average->restart();
  return state;
}

}  // namespace lockstep
