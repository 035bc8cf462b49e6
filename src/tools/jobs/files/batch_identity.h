// Decides which processes belong to a batch: those started in its folder, not those of a copy of
// it.
#pragma once

#include <string>

#include "tools/jobs/files/batch_folder.h"
#include "tools/jobs/ledger/ledger.h"

namespace lockstep {

// The id in the marks of the batch's processes. "" if no process was started from this folder,
// because it is new, or is a copy of a folder that still exists.
std::string batch_id(Ledger& ledger, const BatchFolder& folder);

// Sets the id that processes started from this folder have from now on.
void set_batch_id(Ledger& ledger, const BatchFolder& folder, const std::string& id);

}  // namespace lockstep
