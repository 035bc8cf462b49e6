// Makes the topics of `lockstep help WORD …` from the guides and from tables in the code.
#pragma once

#include "tools/cli/arguments.h"
#include "tools/cli/help/help_search.h"

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::cli {

// Returns all topics: symptoms, the glossary, other programs' names, options, recipes, presets,
// commands and guides, in this order. If two topics match a query equally well, the earlier one is
// shown first.
std::vector<Topic> help_topics(const std::vector<Command>& commands);

// Returns the found topics as text: the best topics in full, and the titles of the others.
std::string help_text(const FoundTopics& found, int width);

// Makes topics from the rows of a glossary in Markdown, "| word | meaning | page |".
std::vector<Topic> glossary_topics(std::string_view page);
// Makes topics from the items of a list in Markdown, "1. [Title](page.md): what it says."
std::vector<Topic> guide_topics(std::string_view page);

// texts of the glossary and of the list of guides
extern const std::string_view glossary_page, guides_page;

}  // namespace lockstep::cli
