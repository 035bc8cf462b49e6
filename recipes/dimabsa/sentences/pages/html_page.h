// Makes an HTML page of sentences with highlighted phrases.
#pragma once

#include <string>

#include "recipes/dimabsa/sentences/scores/score.h"

namespace lockstep::dimabsa {

struct PageOptions {
  std::string title = "Predictions";
  std::string language{};   // for example "eng"; empty if unknown
  std::size_t most = 1000;  // largest number of sentences; the page says how many are left out
  bool compare = true;      // false if there are no gold tuples to compare with
};

// Returns an HTML file that has no scripts and loads no other files. The page is light or dark, as
// the browser is set. For each sentence, the page shows the text and a table of the tuples. In the
// text, predicted phrases have a coloured background, and gold phrases are underlined. The table
// shows matched tuples with the distance of their VA, missed tuples and spurious tuples. All texts
// are escaped for HTML.
std::string html_page(Task task, const Aligned& aligned, const PageOptions& options = {});

}  // namespace lockstep::dimabsa
