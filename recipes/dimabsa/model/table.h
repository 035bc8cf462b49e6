// The table of an evaluation, with the sentences marked for a terminal.
#pragma once

#include "recipes/dimabsa/sentences/scores/score.h"
#include "runtime/run/predictions/item_table.h"

namespace lockstep::dimabsa {

// A row per sentence. Columns: id; sentence, with the aspects and opinions that were found in
// brackets; found; missed, spurious; then the other columns of error_table.
ItemTable marked_table(Task task, const Aligned& aligned);

}  // namespace lockstep::dimabsa
