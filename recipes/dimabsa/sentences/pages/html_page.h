// Sentences with their phrases highlighted, as a page for a browser.
#pragma once

#include <string>

#include "recipes/dimabsa/sentences/scores/score.h"

namespace lockstep::dimabsa {

struct PageOptions {
  std::string title = "Predictions";
  std::string language{};   // "eng", for example; "": unknown
  std::size_t most = 1000;  // most sentences shown; the page says how many are left out
  bool compare = true;      // false: there is no gold, so no tuple counts as spurious or missed
};

// One HTML file without scripts that loads nothing. It is light or dark as the browser is set. For
// each sentence it shows the text and a table of the tuples. In the text, aspects and opinions are
// highlighted: predicted ones with a background, gold ones underlined. The table shows matched
// tuples with their distance in VA, missed ones and spurious ones. All data is escaped.
std::string html_page(Task task, const Aligned& aligned, const PageOptions& options = {});

}  // namespace lockstep::dimabsa
