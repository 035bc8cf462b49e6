// Runs the commands of a trial. Each must succeed and print its metric.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "tools/cli/abtest/abtest_record.h"
#include "tools/cli/abtest/abtest_setup.h"
#include "tools/cli/interrupts.h"

namespace lockstep::cli {

class AbtestRunner {
 public:
  AbtestRunner(const AbtestSetup& setup, const AbtestRecord& record,
               const NotedInterrupts& interrupts)
      : setup_(setup), record_(record), interrupts_(interrupts) {}

  // Nothing if the run was interrupted. Throws Error, with the end of the output, if the command
  // failed, was killed, took too long, or did not print the metric. May be called on any thread.
  std::optional<AbtestRun> run(const RunKey& key) const;
  void give_up() { given_up_ = true; }  // runs end as if they had been interrupted

 private:
  double metric_of(const RunKey& key, const std::filesystem::path& output) const;

  const AbtestSetup& setup_;
  const AbtestRecord& record_;
  const NotedInterrupts& interrupts_;
  std::atomic<bool> given_up_ = false;
};

}  // namespace lockstep::cli
