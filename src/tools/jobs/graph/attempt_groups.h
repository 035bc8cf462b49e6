// The control groups of a batch: PLACE/lockstep-BATCH/ATTEMPT. If none can be made, all functions
// here do nothing, and processes are identified only by the mark that they inherit.
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
  // Also finds the groups of earlier starts, which may be in other places.
  AttemptGroups(Ledger& ledger, const std::string& batch_id);

  // From now on new attempts get a group, if that is possible. The choice is recorded in the ledger
  // before anything starts.
  void begin(Ledger& ledger);

  // mark: the mark of an attempt, "BATCH:ATTEMPT".
  std::string of(const std::string& mark) const;  // for a new attempt; "" if it has none
  bool is_alive(const std::string& mark) const;   // whether a process lives in it
  void kill(const std::string& mark) const;
  // returns the processes that got the signal
  std::set<pid_t> signal(const std::string& mark, int number) const;
  void remove(const std::string& mark) const;  // if it is empty
  void remove_empty();                         // groups of all starts
  // Marks of all attempts that have a group, including those believed over.
  std::vector<std::string> marks() const;

 private:
  std::vector<std::filesystem::path> groups_of(const std::string& mark) const;

  std::string batch_id_;
  std::vector<std::filesystem::path> places_;  // the batch's places in this and earlier starts
  std::filesystem::path place_;
};

}  // namespace lockstep
