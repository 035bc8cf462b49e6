// Chooses the checkpoint from which training continues, restores it, and saves new checkpoints.
#pragma once

#include "training/checkpoint/snapshot.h"
#include "training/trainer/output/best_so_far.h"
#include "training/trainer/output/recorder.h"
#include "training/trainer/placed_model.h"
#include "training/trainer/trainer.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// The point from which training continues.
struct StartingPoint {
  std::optional<CheckpointInfo> from;   // the checkpoint; nothing in a run that begins anew
  std::vector<CheckpointInfo> skipped;  // the newer, damaged checkpoints; on rank 0 only
  std::int64_t step = 0;                // number of finished steps
  double spent_s = 0;                   // time that the run had taken before this point
  BestSoFar best;
};

// If the run is resumed, chooses its newest checkpoint that is not damaged. Sets only `from` and
// `skipped`; restore_or_start sets the other fields. All ranks call it.
StartingPoint choose_start(const TrainerSetup& setup);

// All ranks make the same calls in the same order. Only rank 0 writes files.
class Checkpoints {
 public:
  // All arguments must outlive this object.
  Checkpoints(const TrainerSetup& setup, PlacedModel& placed, Optimizer& optimizer);

  // Restores the checkpoint start.from, and sets the other fields of `start` from it. If start.from
  // is empty, all ranks get rank 0's first weights.
  void restore_or_start(StartingPoint& start);
  // Prepares rank 0 to write checkpoints. Call it before `save`.
  //   recorder: null on ranks other than 0
  //   written: called after each save with its duration, on the saver's thread
  void open(Recorder* recorder, std::function<void(double seconds)> written);
  // Waits until the pinned memory for saves is allocated (CheckpointSaver::finish_reserving).
  void finish_reserving();
  // Saves a checkpoint in the background on rank 0. The other ranks contribute their shards if the
  // optimizer is sharded.
  void save(std::int64_t step, double elapsed_s, const BestSoFar& best, nlohmann::json metrics);
  // Waits until all checkpoints are written. Returns why the last checkpoint could not be written,
  // or "" if it was written. All ranks call it.
  std::string finish();

 private:
  Trained trained() { return {*placed_.storage, &optimizer_, placed_.buffers->tensors()}; }
  nlohmann::json state_of(std::int64_t step, double elapsed_s, const BestSoFar& best) const;

  const TrainerSetup& setup_;
  PlacedModel& placed_;
  Optimizer& optimizer_;
  std::unique_ptr<CheckpointSaver> saver_;  // null on ranks other than 0
};

}  // namespace lockstep
