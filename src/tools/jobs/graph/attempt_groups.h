// Manages the control groups of a batch: PLACE/lockstep-BATCH/ATTEMPT. If no group can be made, all
// functions here do nothing. Processes are then identified only by the mark that they inherit.
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
  // Finds the groups of earlier starts, which may be in other places.
  AttemptGroups(Ledger& ledger, const std::string& batch_id);

  // From now on, new attempts get a group if that is possible. The place is recorded in the ledger
  // before anything starts.
  void begin(Ledger& ledger);

  // In the following functions, `mark` is the mark of an attempt, "BATCH:ATTEMPT".
  // folder for the group of a new attempt; "" if none can be made
  std::string of(const std::string& mark) const;
  bool is_alive(const std::string& mark) const;  // whether a process lives in its group
  void kill(const std::string& mark) const;
  // Returns the processes that got the signal.
  std::set<pid_t> signal(const std::string& mark, int number) const;
  void remove(const std::string& mark) const;  // removes its group if that is empty
  void remove_empty();                         // removes empty groups of all starts
  // Returns the marks of all attempts that have a group, including attempts that are already over.
  std::vector<std::string> marks() const;

 private:
  std::vector<std::filesystem::path> groups_of(const std::string& mark) const;

  std::string batch_id_;
  // the batch's places in this start and in earlier ones
  std::vector<std::filesystem::path> places_;
  std::filesystem::path place_;
};

}  // namespace lockstep
