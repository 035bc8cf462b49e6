// Saves checkpoints of tensors in the background, and restores them.
#pragma once

#include "backends/backend.h"
#include "runtime/run/checkpoint/checkpoint_index.h"
#include "runtime/run/checkpoint/retention.h"
#include "training/parameters/parameter_storage.h"
#include "training/update/optimizer.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace lockstep {

// The state that a checkpoint holds. All members must outlive the calls that use them.
struct Trained {
  ParameterStorage& storage;
  Optimizer* optimizer = nullptr;  // null: only weights and buffers can be restored
  std::vector<NamedTensor> buffers;
};

// Writes checkpoints on a thread of its own, one at a time. Only rank 0 has a saver, because every
// rank holds the same state. If ranks share the update, the others call `give_shards` whenever rank
// 0 saves. The files do not depend on which rank holds which shard.
//   model.safetensors      each parameter (f32 master; frozen ones as they were built) and buffer
//                          under the model's own name, the first name if there are several
//   optimizer.safetensors  exp_avg.NAME and exp_avg_sq.NAME (or momentum.NAME) for each parameter
//   ema.safetensors        the average of each trained parameter and floating-point buffer, if
//                          there is one
//   state.json             the state that the trainer passes, and the optimizer's scalars
class CheckpointSaver {
 public:
  struct Result {
    std::int64_t step = 0;
    CheckpointInfo info;  // damage: the reason if it failed
    double seconds = 0;
    std::vector<std::string> undeleted{};  // old checkpoints that could not be deleted, and why;
                                           // each is reported once
  };
  // Both functions run on the saver's thread. on_done is called after each checkpoint, good or
  // failed. before_commit, if given, is called when the files are written and before the checkpoint
  // counts. If before_commit throws, the checkpoint does not count.
  CheckpointSaver(
      std::filesystem::path checkpoints, Retention retention, Backend& backend,
      std::function<void(const Result&)> on_done, std::function<void()> before_commit = [] {});
  ~CheckpointSaver();  // finishes pending checkpoints
  CheckpointSaver(const CheckpointSaver&) = delete;
  CheckpointSaver& operator=(const CheckpointSaver&) = delete;

  // On GPUs: starts to allocate, on another thread, the pinned memory into which `save` copies. It
  // is as large as the tensors of a checkpoint. Without this call, the allocation would delay the
  // first save. The memory is kept until the process ends.
  void reserve(const Trained& trained);
  // Waits until this memory is allocated. Call it before a graph is captured, because no memory may
  // be pinned during a capture.
  void finish_reserving();

  // Copies the state and returns. On GPUs it enqueues copies to pinned memory, without
  // synchronising the device. If the previous checkpoint is still being written, it first waits for
  // that. Never throws for a full disk or for lack of memory: a Result reports such failures.
  void save(const Trained& trained, std::int64_t step, nlohmann::json state,
            nlohmann::json metrics);
  // Blocks until all checkpoints are written. Returns why the last one failed, or "".
  std::string finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Waits, for at most `at_most_s`, until no saver of this process writes any more. May be called
// from any thread. Meant for a process that ends without waiting for the owner of its savers.
void wait_for_checkpoints(double at_most_s);

// For ranks other than 0 while rank 0 saves: contributes the shards that only this rank holds. Does
// nothing if ranks do not share the update.
void give_shards(const Trained& trained, Backend& backend);

// Reads a checkpoint into `trained` and returns its state.json. Reads optimizer state if there is
// an optimizer. An average of the weights starts from the weights if the checkpoint has no average.
// Throws Error if names, shapes or dtypes differ from the model's (naming the first), or if files
// are unreadable.
nlohmann::json restore(const CheckpointInfo& checkpoint, const Trained& trained);

// Restores from a single file of an export: weights, frozen parameters and buffers.
void restore_weights(const std::filesystem::path& file, const Trained& trained);

// Reads the average of the weights into `flat`, which is f32 [elements] or [own_elements]. Returns
// false if the checkpoint has none. Also reads the averages of `buffers`. Buffers that the file
// lacks keep their values.
bool restore_average(const CheckpointInfo& checkpoint, const ParameterStorage& storage,
                     const at::Tensor& flat, const std::vector<NamedTensor>& buffers = {});

// Reads state.json only.
nlohmann::json read_checkpoint_state(const CheckpointInfo& checkpoint);

}  // namespace lockstep
