// Saving in the background, and restoring.
#include "checkpoint/snapshot.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "checkpoint/tensor_file.h"

#include <ATen/core/grad_mode.h>

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

// Everything a checkpoint needs, on its way to the host.
struct Job {
  std::int64_t step = 0;
  nlohmann::json state, metrics;
  const Arena* arena = nullptr;  // names, layout; constant during a run
  std::unique_ptr<Download> master, average;
  std::map<std::string, std::unique_ptr<Download>> moments, scalars;
  std::vector<std::pair<std::string, std::unique_ptr<Download>>> buffers;
};

Tensors views(const Arena& arena, const at::Tensor& flat, const std::string& prefix) {
  Tensors tensors;
  for (std::size_t i = 0; i < arena.parameters().size(); ++i)
    tensors.emplace_back(prefix + arena.parameters()[i].name, arena.view(flat, i));
  return tensors;
}

CheckpointInfo write(const std::filesystem::path& checkpoints, Job& job) {
  CheckpointWriter writer(checkpoints, job.step);
  Tensors model = views(*job.arena, job.master->get(), "");
  for (auto& [name, download] : job.buffers) model.emplace_back(name, download->get().contiguous());
  write_tensors(writer, "model.safetensors", model);
  Tensors optimizer;
  for (auto& [name, download] : job.moments)
    for (auto& entry : views(*job.arena, download->get(), name + ".")) optimizer.push_back(entry);
  write_tensors(writer, "optimizer.safetensors", optimizer);
  if (job.average) write_tensors(writer, average_file, views(*job.arena, job.average->get(), ""));
  for (auto& [name, download] : job.scalars)
    job.state["optimizer"][name] = download->get().to(at::kDouble).item<double>();
  const std::string text = job.state.dump(1);
  writer.append("state.json", text.data(), text.size());
  return writer.commit(job.metrics);
}

}  // namespace

struct CheckpointSaver::Impl {
  std::filesystem::path checkpoints;
  Retention retention;
  Backend& backend;
  std::function<void(const Result&)> on_done;
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Job> job;
  bool stopping = false;
  std::string last_damage;  // of the newest that was written
  std::thread thread;

  void thread_main() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [this] { return job.has_value() || stopping; });
      if (!job) return;
      lock.unlock();
      const Result result = write_one(*job);
      on_done(result);
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
      result.info = write(checkpoints, work);
      delete_old();
    } catch (const std::exception& error) {
      result.info.damage = error.what();
    }
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
  }

  // One that cannot be deleted now is tried again after the next checkpoint.
  void delete_old() {
    for (const CheckpointInfo& old : to_delete(list_checkpoints(checkpoints, false), retention)) {
      try {
        remove_checkpoint(old);
      } catch (const Error&) {
        continue;
      }
    }
  }

  void wait_idle() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return !job.has_value(); });
  }
};

CheckpointSaver::CheckpointSaver(std::filesystem::path checkpoints, Retention retention,
                                 Backend& backend, std::function<void(const Result&)> on_done)
    : impl_(new Impl{.checkpoints = std::move(checkpoints),
                     .retention = std::move(retention),
                     .backend = backend,
                     .on_done = std::move(on_done)}) {
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

void CheckpointSaver::save(const Trained& trained, std::int64_t step, nlohmann::json state,
                           nlohmann::json metrics) {
  impl_->wait_idle();
  const at::NoGradGuard no_grad;
  Job job{.step = step, .state = std::move(state), .metrics = std::move(metrics)};
  job.arena = &trained.arena;
  job.master = impl_->backend.download(trained.arena.master());
  for (const auto& [name, flat] : trained.optimizer->flat_state())
    job.moments[name] = impl_->backend.download(flat);
  if (const WeightAverage* average = trained.optimizer->average())
    job.average = impl_->backend.download(average->flat());
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

void fill(const Arena& arena, at::Tensor flat, const std::string& prefix,
          const std::map<std::string, at::Tensor>& tensors, const std::filesystem::path& file) {
  for (std::size_t i = 0; i < arena.parameters().size(); ++i) {
    at::Tensor target = arena.view(flat, i);
    target.copy_(find(tensors, prefix + arena.parameters()[i].name, target.sizes(), file));
  }
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
  try {
    return nlohmann::json::parse(read_file(file));
  } catch (const nlohmann::json::exception& error) {
    throw Error(cat(file.string(), " is damaged: ", error.what()));
  }
}

bool restore_average(const CheckpointInfo& checkpoint, const Arena& arena, at::Tensor flat) {
  const std::filesystem::path file = checkpoint.path / average_file;
  if (!std::filesystem::exists(file)) return false;
  const at::NoGradGuard no_grad;
  fill(arena, std::move(flat), "", map_tensors(file), file);
  return true;
}

nlohmann::json restore(const CheckpointInfo& checkpoint, const Trained& trained) {
  const at::NoGradGuard no_grad;
  const std::filesystem::path model_file = checkpoint.path / "model.safetensors";
  const auto model = map_tensors(model_file);
  check_no_more(trained, model, model_file);
  fill(trained.arena, trained.arena.master(), "", model, model_file);
  for (const NamedTensor& buffer : trained.buffers) {
    at::Tensor target = buffer.tensor;
    target.copy_(find(model, buffer.name, target.sizes(), model_file));
  }
  trained.arena.refresh_working();
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
