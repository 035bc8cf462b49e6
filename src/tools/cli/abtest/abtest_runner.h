// Runs the commands of a trial. Each run must succeed, and print the metric if a metric is
// compared.
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

  // Runs one command. Returns nothing if the run was interrupted. Throws Error, with the end of the
  // output, if the command failed, was killed, took too long, or did not print the metric. May be
  // called on any thread.
  std::optional<AbtestRun> run(const RunKey& key) const;
  // From now on, all runs end as if they had been interrupted.
  void give_up() { given_up_ = true; }

 private:
  double metric_of(const RunKey& key, const std::filesystem::path& output) const;

  const AbtestSetup& setup_;
  const AbtestRecord& record_;
  const NotedInterrupts& interrupts_;
  std::atomic<bool> given_up_ = false;
};

}  // namespace lockstep::cli
