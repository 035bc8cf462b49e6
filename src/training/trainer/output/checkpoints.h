// The checkpoints of a run that trains: which one it goes on from, and what is saved.
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

// Where training goes on.
struct StartingPoint {
  std::optional<CheckpointInfo> from;   // none: a first start
  std::vector<CheckpointInfo> skipped;  // damaged, on rank 0
  std::int64_t step = 0;                // steps done
  double spent_s = 0;                   // by earlier starts
  BestSoFar best;
};

// The newest good checkpoint where the run goes on; the rest of it is not known yet. All ranks.
StartingPoint choose_start(const TrainerSetup& setup);

// All ranks make the same calls in the same order; only rank 0 writes.
class Checkpoints {
 public:
  // All outlive it.
  Checkpoints(const TrainerSetup& setup, PlacedModel& placed, Optimizer& optimizer);

  // Restores the chosen checkpoint and fills in `start` from it. If there is none, all ranks get
  // rank 0's first weights.
  void restore_or_start(StartingPoint& start);
  // From here on checkpoints are written. recorder: null but on rank 0. written: is told how long
  // each took, on another thread.
  void open(Recorder* recorder, std::function<void(double seconds)> written);
  // To be called before a graph is captured.
  void finish_reserving();
  // In the background, on rank 0; the others give what they hold alone.
  void save(std::int64_t step, double elapsed_s, const BestSoFar& best, nlohmann::json metrics);
  // Waits until all are written. Why the last could not be; empty: it is there. All ranks.
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
