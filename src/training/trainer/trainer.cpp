// Runs a rank's training from start to end.
#include "training/trainer/trainer.h"

#include "training/trainer/loop/failures.h"
#include "training/trainer/loop/loop.h"

#include <c10/util/Exception.h>

namespace lockstep {

TrainEnd train(const TrainerSetup& setup) {
  setup.backend.use_training_stream();
  try {
    Loop loop(setup);
    return loop.run();
  } catch (const c10::Error& error) {
    explain_operator(setup.options, error);
    throw;
  }
}

}  // namespace lockstep
