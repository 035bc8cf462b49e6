// While a run trains, all that people are shown goes into its log too (run/train_log.h).
#pragma once

#include "base/error.h"
#include "base/say.h"
#include "run/run_dir.h"
#include "run/train_log.h"

#include <string>

namespace lockstep::cli {

class RunTranscript {
 public:
  // begins: how this start is called, "started" or "resumed"; plan: shown before the run was there.
  // Says where the log cannot be written.
  RunTranscript(const RunDir& run, const std::string& begins, const std::string& plan);

  // Of an error that ends the program.
  void add(const Error& error);

 private:
  TrainLog log_;
  Transcript transcript_;
};

}  // namespace lockstep::cli
