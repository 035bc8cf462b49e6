// The topics of `lockstep help WORD …`, from the guides and from the tables in the code.
#pragma once

#include "cli/arguments.h"
#include "cli/help_search.h"

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::cli {

// Symptoms first, then the glossary, names of other programs, options, recipes, presets, commands
// and guides: of topics that are as good the first is shown first.
std::vector<Topic> help_topics(const std::vector<Command>& commands);

// What is shown of what was found: the first few topics in full, and the titles of others.
std::string help_text(const FoundTopics& found, int width);

// Rows of a glossary in Markdown, "| word | meaning | page |".
std::vector<Topic> glossary_topics(std::string_view page);
// Items of a list in Markdown, "1. [Title](page.md): what it says."
std::vector<Topic> guide_topics(std::string_view page);

extern const std::string_view glossary_page, guides_page;  // texts of guides

}  // namespace lockstep::cli
