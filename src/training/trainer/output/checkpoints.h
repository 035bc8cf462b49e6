// The checkpoints of a run that trains: chooses the one from which it continues, and saves further
// ones.
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
  std::optional<CheckpointInfo> from;   // none: this is a first start
  std::vector<CheckpointInfo> skipped;  // damaged checkpoints, on rank 0 only
  std::int64_t step = 0;                // steps done
  double spent_s = 0;                   // time spent by earlier starts
  BestSoFar best;
};

// All ranks call it. If the run is resumed, chooses its newest good checkpoint. Leaves the other
// fields for restore_or_start.
StartingPoint choose_start(const TrainerSetup& setup);

// All ranks make the same calls in the same order; only rank 0 writes.
class Checkpoints {
 public:
  // All arguments outlive this object.
  Checkpoints(const TrainerSetup& setup, PlacedModel& placed, Optimizer& optimizer);

  // Restores the chosen checkpoint and fills in `start` from it. If there is none, all ranks get
  // rank 0's first weights.
  void restore_or_start(StartingPoint& start);
  // From here on checkpoints are written. recorder: null on other ranks than 0. written: called
  // with the duration of each save, on another thread.
  void open(Recorder* recorder, std::function<void(double seconds)> written);
  // Call it before a graph is captured.
  void finish_reserving();
  // Saves in the background, on rank 0. The other ranks contribute the shards that only they hold.
  void save(std::int64_t step, double elapsed_s, const BestSoFar& best, nlohmann::json metrics);
  // All ranks call it. Waits until all checkpoints are written. Returns why the last one could not
  // be written; empty: it is written.
  std::string finish();

 private:
  Trained trained() { return {*placed_.storage, &optimizer_, placed_.buffers->tensors()}; }
  nlohmann::json state_of(std::int64_t step, double elapsed_s, const BestSoFar& best) const;

  const TrainerSetup& setup_;
  PlacedModel& placed_;
  Optimizer& optimizer_;
  std::unique_ptr<CheckpointSaver> saver_;  // rank 0
};

}  // namespace lockstep
