// Decides which processes belong to a batch. A process belongs to it if it was started in the
// batch's folder, and not in a copy of that folder.
#pragma once

#include <string>

#include "tools/jobs/files/batch_folder.h"
#include "tools/jobs/ledger/ledger.h"

namespace lockstep {

// Returns the id in the marks of the batch's processes. Returns "" if no process was started from
// this folder. This is the case if the folder is new, or is a copy of a folder that still exists.
std::string batch_id(Ledger& ledger, const BatchFolder& folder);

// Sets the id for processes that are started from this folder from now on.
void set_batch_id(Ledger& ledger, const BatchFolder& folder, const std::string& id);

}  // namespace lockstep
