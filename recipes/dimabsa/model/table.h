// Makes the table of an evaluation, in which phrases are marked within the sentences.
#pragma once

#include "recipes/dimabsa/sentences/scores/score.h"
#include "runtime/run/predictions/item_table.h"

namespace lockstep::dimabsa {

// Returns a table with a row for each sentence. The columns are:
//   id
//   sentence           the text, with the aspects and opinions that were found in brackets
//   found              the tuples that were found
//   missed, spurious   as in error_table
// The other columns of error_table follow.
ItemTable marked_table(Task task, const Aligned& aligned);

}  // namespace lockstep::dimabsa
