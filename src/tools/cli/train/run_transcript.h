// While a run trains, all messages to people also go into its log (runtime/run/events/train_log.h).
#pragma once

#include "core/base/error.h"
#include "core/base/text/say.h"
#include "runtime/run/events/train_log.h"
#include "runtime/run/folder/run_dir.h"

#include <string>

namespace lockstep::cli {

class RunTranscript {
 public:
  // begins: the kind of start, "started" or "resumed"; plan: text shown before the run existed.
  // Reports it if the log cannot be written.
  RunTranscript(const RunDir& run, const std::string& begins, const std::string& plan);

  // Adds an error that ends the program.
  void add(const Error& error);

 private:
  TrainLog log_;
  Transcript transcript_;
};

}  // namespace lockstep::cli
