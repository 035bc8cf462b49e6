// The control groups of a batch: PLACE/lockstep-BATCH/ATTEMPT. Where none can be made the mark that
// processes inherit is all that tells whose they are; everything here then does nothing.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "jobs/ledger.h"

namespace lockstep {

class AttemptGroups {
 public:
  // Knows the groups of earlier starts, which may lie in other places.
  AttemptGroups(Ledger& ledger, const std::string& batch_id);

  // From here on new attempts get one, where that is possible. What is used is a fact of the ledger
  // before anything starts.
  void begin(Ledger& ledger);

  // By the mark of an attempt, "BATCH:ATTEMPT".
  std::string of(const std::string& mark) const;  // of a new one; "" none
  bool is_alive(const std::string& mark) const;   // something lives in it
  void kill(const std::string& mark) const;
  std::set<pid_t> signal(const std::string& mark, int number) const;  // to whom it was sent
  void remove(const std::string& mark) const;                         // where it is empty
  void remove_empty();                                                // all of them, of all starts
  // Marks of all attempts that have one, also of those that are thought to be over.
  std::vector<std::string> marks() const;

 private:
  std::vector<std::filesystem::path> groups_of(const std::string& mark) const;

  std::string batch_id_;
  std::vector<std::filesystem::path> places_;  // of the batch; of this and of earlier starts
  std::filesystem::path place_;
};

}  // namespace lockstep
