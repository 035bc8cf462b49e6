// Copies all printed messages into the log of a run while it trains
// (runtime/run/events/train_log.h).
#pragma once

#include "core/base/error.h"
#include "core/base/text/say.h"
#include "runtime/run/events/train_log.h"
#include "runtime/run/folder/run_dir.h"

#include <string>

namespace lockstep::cli {

class RunTranscript {
 public:
  // begins: the kind of start, "started" or "resumed". plan: the text of the plan that was printed
  // before the run existed; it is written first. If the log cannot be written, prints a warning and
  // continues.
  RunTranscript(const RunDir& run, const std::string& begins, const std::string& plan);

  // Adds the error that ends the program to the log.
  void add(const Error& error);

 private:
  TrainLog log_;
  Transcript transcript_;
};

}  // namespace lockstep::cli
