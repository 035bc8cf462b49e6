// Checkpoints of tensors: what is saved, in the background, and how it comes back.
#pragma once

#include "engine/backend.h"
#include "engine/optimizer.h"
#include "engine/parameter_storage.h"
#include "run/checkpoint_index.h"
#include "run/retention.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace lockstep {

// What a checkpoint is made of and comes back into. All must outlive the calls that use it.
struct Trained {
  ParameterStorage& storage;
  Optimizer* optimizer = nullptr;  // null: weights and buffers alone can come back
  std::vector<NamedTensor> buffers;
};

// Writes checkpoints on a thread of its own, one at a time. Rank 0 has one. The others need none,
// because every rank holds the same state; where ranks share the update, they call `give_shards`
// whenever rank 0 saves. The files are the same, whoever holds what.
//   model.safetensors      each parameter (f32 master; frozen ones as they were built) and buffer
//                          under the model's own name, its first where it has several
//   optimizer.safetensors  exp_avg.NAME and exp_avg_sq.NAME (or momentum.NAME) for each parameter
//   ema.safetensors        the average of each trained parameter and floating-point buffer, if
//                          there is one
//   state.json             what the trainer passes, and the optimizer's scalars
class CheckpointSaver {
 public:
  struct Result {
    std::int64_t step = 0;
    CheckpointInfo info;  // damage holds the reason if it failed
    double seconds = 0;
    std::vector<std::string> undeleted{};  // old ones that could not go, and why: once each
  };
  // Both run on the saver's thread: on_done after each checkpoint, good or failed; before_commit,
  // if given, once the files are written and before the checkpoint counts: if it throws, it does
  // not.
  CheckpointSaver(
      std::filesystem::path checkpoints, Retention retention, Backend& backend,
      std::function<void(const Result&)> on_done, std::function<void()> before_commit = [] {});
  ~CheckpointSaver();  // finishes what was asked for
  CheckpointSaver(const CheckpointSaver&) = delete;
  CheckpointSaver& operator=(const CheckpointSaver&) = delete;

  // On GPUs: begins, on another thread, to allocate the pinned memory that `save` copies into,
  // which would hold the first one up: as much as the tensors of a checkpoint. It is kept until the
  // end.
  void reserve(const Trained& trained);
  // Waits for that; to be called before a graph is captured, as nothing may be pinned meanwhile.
  void finish_reserving();

  // Copies the state (on GPUs: enqueues copies to pinned memory; the device is not synchronised)
  // and returns; waits first if the one before is still being written. Never throws for a full
  // disk or for lack of memory: that comes as a Result.
  void save(const Trained& trained, std::int64_t step, nlohmann::json state,
            nlohmann::json metrics);
  // Blocks until all are written; why the last one failed, or "".
  std::string finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Waits until no saver of this process writes any more, `at_most_s` long. Of any thread: for a
// process that is about to end whatever its savers' owner does.
void wait_for_checkpoints(double at_most_s);

// A rank other than 0, while rank 0 saves: what it holds alone. Nothing where ranks share nothing.
void give_shards(const Trained& trained, Backend& backend);

// Reads a checkpoint into `trained` and returns its state.json; optimizer state where there is an
// optimizer. An average of the weights begins at the weights where the checkpoint has none. Throws
// Error if names, shapes or dtypes are not the model's (naming the first that differ), or files are
// unreadable.
nlohmann::json restore(const CheckpointInfo& checkpoint, const Trained& trained);

// The same of one file's weights, frozen parameters and buffers: of an export.
void restore_weights(const std::filesystem::path& file, const Trained& trained);

// The average of the weights into flat, f32 [elements] or [own_elements]; false if the checkpoint
// has none.
// buffers: those whose averages go with it; what the file does not have stays.
bool restore_average(const CheckpointInfo& checkpoint, const ParameterStorage& storage,
                     const at::Tensor& flat, const std::vector<NamedTensor>& buffers = {});

// state.json alone.
nlohmann::json read_checkpoint_state(const CheckpointInfo& checkpoint);

}  // namespace lockstep
