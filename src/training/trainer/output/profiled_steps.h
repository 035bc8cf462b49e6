// Writes a trace of some steps of this rank (profile.first_step, profile.steps).
#pragma once

#include "training/step/profile.h"
#include "training/trainer/trainer.h"

#include <cstdint>
#include <optional>

namespace lockstep {

class ProfiledSteps {
 public:
  explicit ProfiledSteps(const TrainerSetup& setup) : setup_(setup) {}
  void before_step(std::int64_t step);  // step: counted from 1
  void finish();                        // writes the trace if one was begun

 private:
  const TrainerSetup& setup_;
  std::optional<Profile> profile_;
};

}  // namespace lockstep
