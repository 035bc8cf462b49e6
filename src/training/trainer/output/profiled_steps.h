// Writes a trace of some steps (profile.first_step, profile.steps).
#pragma once

#include "training/step/profile.h"
#include "training/trainer/trainer.h"

#include <cstdint>
#include <optional>

namespace lockstep {

class ProfiledSteps {
 public:
  explicit ProfiledSteps(const TrainerSetup& setup) : setup_(setup) {}
  void before_step(std::int64_t step);  // from 1
  void finish();                        // writes the trace, if there is one

 private:
  const TrainerSetup& setup_;
  std::optional<Profile> profile_;
};

}  // namespace lockstep
