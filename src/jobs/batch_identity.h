// Whose processes bear a batch's marks: those of the folder in which they were started, and not
// those of a copy of it.
#pragma once

#include <string>

#include "jobs/batch_folder.h"
#include "jobs/ledger.h"

namespace lockstep {

// The id in the marks of its processes; "" where none was started from this folder, because it is
// new or a copy of one that is still there.
std::string batch_id(Ledger& ledger, const BatchFolder& folder);

// From here on the processes of this folder have this id.
void set_batch_id(Ledger& ledger, const BatchFolder& folder, const std::string& id);

}  // namespace lockstep
