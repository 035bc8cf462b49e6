// What an evaluation leaves for people: a row per sentence, and pictures.
#pragma once

#include <vector>

#include "recipes/dimabsa/sentences/sentence.h"
#include "run/evaluation_output.h"

namespace lockstep::dimabsa {

// id, text, gold, found, right, missed, spurious: tuples as "aspect | opinion | category 7.10#6.20",
// one after the other. gold, found: of one length, in one order.
ItemTable table_of(Task task, const std::vector<Sentence>& gold,
                   const std::vector<Sentence>& found);

void draw(Task task, const std::vector<Sentence>& gold, const std::vector<Sentence>& found,
          EvaluationOutput& output);

}  // namespace lockstep::dimabsa
