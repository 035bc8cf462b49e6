// Decides which processes belong to a batch. A process belongs to it if it was started in the
// batch's folder, and not in a copy of that folder.
#pragma once

#include <string>

#include "tools/jobs/files/batch_folder.h"
#include "tools/jobs/ledger/ledger.h"

namespace lockstep {

// Returns the id of the batch, with which the mark of each of its processes begins
// (process_tree.h). Returns "" if no process was started from this folder. This is the case if the
// folder is new, or is a copy of a folder that still exists.
std::string batch_id(Ledger& ledger, const BatchFolder& folder);

// Sets the id of the batch for all processes that are started from this folder from now on.
void set_batch_id(Ledger& ledger, const BatchFolder& folder, const std::string& id);

}  // namespace lockstep
