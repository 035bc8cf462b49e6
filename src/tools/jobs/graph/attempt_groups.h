// Manages the control groups of a batch: PLACE/lockstep-BATCH/ATTEMPT. PLACE is the control group
// of the scheduler. If no group can be made, all functions here do nothing. Processes are then
// identified only by the mark, an environment variable that they inherit (process_tree.h).
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "tools/jobs/ledger/ledger.h"

namespace lockstep {

class AttemptGroups {
 public:
  // Finds the groups of earlier schedulers of the batch, which may be in other control groups.
  AttemptGroups(Ledger& ledger, const std::string& batch_id);

  // From now on, new attempts get a group if that is possible. The folder of the groups is recorded
  // in the ledger before any attempt starts.
  void begin(Ledger& ledger);

  // In the following functions, `mark` is the mark of an attempt, "BATCH:ATTEMPT".

  // Returns the folder for the group of a new attempt, or "" if no group can be made.
  std::string of(const std::string& mark) const;
  bool is_alive(const std::string& mark) const;  // whether a process lives in the attempt's group
  void kill(const std::string& mark) const;
  // Returns the processes that got the signal.
  std::set<pid_t> signal(const std::string& mark, int number) const;
  void remove(const std::string& mark) const;  // removes the attempt's group if it is empty
  void remove_empty();                         // removes empty groups of all schedulers
  // Returns the marks of all attempts that have a group, including attempts that are already over.
  std::vector<std::string> marks() const;

 private:
  std::vector<std::filesystem::path> groups_of(const std::string& mark) const;

  std::string batch_id_;
  // the folders PLACE/lockstep-BATCH of this scheduler and of earlier ones
  std::vector<std::filesystem::path> places_;
  std::filesystem::path place_;
};

}  // namespace lockstep
