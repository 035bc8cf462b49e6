// Makes an HTML page of sentences with highlighted phrases.
#pragma once

#include <string>

#include "recipes/dimabsa/sentences/scores/score.h"

namespace lockstep::dimabsa {

struct PageOptions {
  std::string title = "Predictions";
  std::string language{};   // for example "eng"; empty if unknown
  std::size_t most = 1000;  // largest number of sentences; the page states if it has fewer than all
  bool compare = true;      // false if there are no gold tuples to compare with
};

// Returns an HTML file that has no scripts and loads no other files. The page is light or dark,
// depending on the settings of the browser. For each sentence, the page shows the text and a table
// of the tuples. In the text, predicted phrases have a coloured background, and gold phrases are
// underlined. The table shows matched tuples, missed tuples and spurious tuples. For a match, it
// also shows the distance between the gold and the predicted valence and arousal. All texts are
// escaped for HTML.
std::string html_page(Task task, const Aligned& aligned, const PageOptions& options = {});

}  // namespace lockstep::dimabsa
