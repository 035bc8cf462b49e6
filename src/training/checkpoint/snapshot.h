// Saves checkpoints in the background, and restores them.
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

// The training state that a checkpoint holds. The objects must outlive the calls that use them.
struct Trained {
  ParameterStorage& storage;
  Optimizer* optimizer = nullptr;  // may be null if only weights and buffers are restored
  std::vector<NamedTensor> buffers;
};

// Writes checkpoints on a thread of its own, one at a time. Only rank 0 has a saver, because every
// rank holds the same state. If the optimizer is sharded, all other ranks call `give_shards`
// whenever rank 0 saves. The files do not depend on which rank holds which shard. A checkpoint has
// these files:
//   model.safetensors      each parameter (f32 master; frozen ones as they were built) and buffer
//                          under the model's own name, the first name if there are several
//   optimizer.safetensors  exp_avg.NAME and exp_avg_sq.NAME (or momentum.NAME) for each parameter
//   ema.safetensors        the average of each trained parameter and floating-point buffer, if
//                          ema.decay is set
//   state.json             the `state` that is passed to `save`, and the optimizer's scalars
class CheckpointSaver {
 public:
  struct Result {
    std::int64_t step = 0;
    CheckpointInfo info;  // info.damage says why the save failed; empty if it succeeded
    double seconds = 0;
    // Why old checkpoints could not be deleted; each checkpoint is reported once.
    std::vector<std::string> undeleted{};
  };
  // on_done and before_commit run on the saver's thread. on_done is called after each save, even if
  // the save failed. before_commit is called when all files are written, before the checkpoint gets
  // its final name. If before_commit throws, the save fails.
  CheckpointSaver(
      std::filesystem::path checkpoints, Retention retention, Backend& backend,
      std::function<void(const Result&)> on_done, std::function<void()> before_commit = [] {});
  ~CheckpointSaver();  // finishes pending checkpoints
  CheckpointSaver(const CheckpointSaver&) = delete;
  CheckpointSaver& operator=(const CheckpointSaver&) = delete;

  // On GPUs, starts to allocate pinned memory on another thread, for the flat buffers that `save`
  // copies. These are the master weights, the optimizer states and the average of the weights.
  // Without this call, the first save would take longer. If the allocation fails, `save` tries
  // again. The memory is kept until the process ends.
  void reserve(const Trained& trained);
  // Waits until the allocation of `reserve` is done. Call it before a graph is captured, because no
  // memory may be pinned during a capture.
  void finish_reserving();

  // Copies the state and returns; the files are written later. On GPUs, `save` enqueues copies to
  // pinned memory, and does not synchronise the device. If the previous checkpoint is still being
  // written, `save` first waits until it is written. Does not throw if the disk is full or memory
  // runs out; the Result reports this.
  void save(const Trained& trained, std::int64_t step, nlohmann::json state,
            nlohmann::json metrics);
  // Blocks until all checkpoints are written. Returns why the last save failed, or "" if it
  // succeeded.
  std::string finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Waits until no saver of this process writes a checkpoint, but at most `at_most_s` seconds. Any
// thread may call it. A process that must end without destroying its savers calls it.
void wait_for_checkpoints(double at_most_s);

// Contributes this rank's shards to a save. All ranks but rank 0 call it while rank 0 calls `save`.
// Does nothing if the optimizer is not sharded.
void give_shards(const Trained& trained, Backend& backend);

// Reads a checkpoint into `trained` and returns its state.json. Reads the optimizer state if
// trained.optimizer is not null. If the checkpoint has no average of the weights, the average
// starts from the weights. Values are converted to the dtype of the tensor into which they are
// read. Throws Error if a name or shape differs from the model's, and names the first such tensor.
// Also throws Error if the state is of another kind of optimizer, or if a file cannot be read.
nlohmann::json restore(const CheckpointInfo& checkpoint, const Trained& trained);

// Reads weights, frozen parameters and buffers from one file of an export. Throws Error in the
// cases in which `restore` does.
void restore_weights(const std::filesystem::path& file, const Trained& trained);

// Reads the average of the weights into `flat`, f32 [elements] or [own_elements]. Also reads the
// averages of `buffers`; buffers that the file lacks keep their values. Returns false if the
// checkpoint has no average.
bool restore_average(const CheckpointInfo& checkpoint, const ParameterStorage& storage,
                     const at::Tensor& flat, const std::vector<NamedTensor>& buffers = {});

// Reads and returns only state.json. Throws Error if this file is damaged.
nlohmann::json read_checkpoint_state(const CheckpointInfo& checkpoint);

}  // namespace lockstep
