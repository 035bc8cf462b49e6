// Makes the table of an evaluation. The phrases that were found are marked within the sentences.
#pragma once

#include "recipes/dimabsa/sentences/scores/score.h"
#include "runtime/run/predictions/item_table.h"

namespace lockstep::dimabsa {

// Returns a table with a row for each sentence. The columns are:
//   id
//   sentence           the text, with the aspects and opinions that were found in brackets
//   found              the tuples that were found
//   missed, spurious   as in error_table
// After these come the other columns of error_table (files/sentence_errors.h).
ItemTable marked_table(Task task, const Aligned& aligned);

}  // namespace lockstep::dimabsa
