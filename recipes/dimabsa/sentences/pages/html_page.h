// Sentences with their phrases highlighted, as a page for a browser.
#pragma once

#include <string>

#include "recipes/dimabsa/sentences/scores/score.h"

namespace lockstep::dimabsa {

struct PageOptions {
  std::string title = "Predictions";
  std::string language{};   // as "eng"; "": not said
  std::size_t most = 1000;  // sentences; the page says how many are left out
  bool compare = true;      // false: there is no gold; tuples are neither spurious nor missed
};

// One HTML file that needs nothing else: no scripts, no network, light and dark as the browser is
// set. A sentence at each place: its text, aspects and opinions highlighted (predicted ones with a
// background, those of gold underlined), and a table of its tuples: matched with the distance of
// VA, missed, spurious. Everything of the data is escaped.
std::string html_page(Task task, const Aligned& aligned, const PageOptions& options = {});

}  // namespace lockstep::dimabsa
