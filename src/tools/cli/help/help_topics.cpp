#include "tools/cli/help/help_topics.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "core/config/value.h"
#include "planning/direct_recipe.h"
#include "planning/options/synonyms.h"
#include "planning/recipe_info.h"
#include "tools/cli/help/symptoms.h"
#include "tools/doctor/finding.h"
#include "tools/jobs/job_file/job_keys.h"

namespace lockstep::cli {
namespace {

using Topics = std::vector<Topic>;
using Names = std::vector<std::string>;

// A title with paragraphs below it.
std::function<std::string(int)> paragraphs(const std::string& title, const Names& all) {
  return [=](int width) {
    std::string text = title + "\n";
    for (const std::string& one : all)
      if (!one.empty()) text += hang_cells("  ", one, width);
    return text;
  };
}

void add_topics(Topics& all, Topics more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

// Removes the ` around code.
std::string without_code_marks(std::string text) {
  std::erase(text, '`');
  return text;
}

Topic topic_of(const Symptom& symptom) {
  Topic topic{.title = symptom.title,
              .terms = split(symptom.also, ','),
              .code = code_in(symptom.also),
              .text = [symptom](int width) { return symptom_text(symptom, width); }};
  for (std::string& term : topic.terms) term = trim(without_code_marks(term));
  topic.terms.insert(topic.terms.begin(), symptom.title);
  for (const auto& [name, what] : symptom.parts)
    if (name == "Cause")
      for (std::string& code : code_in(what)) topic.code.push_back(std::move(code));
  return topic;
}

// The words as they would be typed, such as "batch.global=VALUE".
std::string shown_words(const std::string& ours) {
  if (ours.empty()) return "leave it out";
  std::string text = ours;
  const auto replace = [&](const std::string& what, const std::string& by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; at += by.size())
      text.replace(at, what.size(), by);
  };
  replace("{value}", "VALUE");
  replace("{total}", "VALUE x DEVICES x ACCUMULATION");
  for (const char* place :
       {"{device}", "{first}", "{path}", "{list}", "{duration}", "{kind}", "{index}"})
    replace(place, "VALUE");
  return cat("write ", text);
}

// The name's meanings in other commands, or "".
std::string for_commands(const Synonym& synonym) {
  Names all;
  for (const MeaningInCommand& other : synonym.in_command)
    all.push_back(cat("For lockstep ", other.command, ": ", shown_words(other.ours),
                      other.note.empty() ? "" : cat(" (", other.note, ")")));
  return join(all, "; ");
}

// owner: the name of a recipe, or "" for the engine.
Topic topic_of(const Synonym& synonym, const std::string& owner) {
  Topic topic{.title = cat(synonym.names.front(), ", a name of ", synonym.from),
              .terms = synonym.names,
              .code = {},
              .text = {}};
  for (const auto& [pattern, ours] : synonym.values)
    topic.terms.push_back(pattern.ends_with('*') ? pattern.substr(0, pattern.size() - 1) : pattern);
  Names values;
  for (const auto& [pattern, ours] : synonym.values) values.push_back(cat(pattern, ": ", ours));
  for (const auto& [value, note] : synonym.value_notes) values.push_back(cat(value, ": ", note));
  topic.text = paragraphs(
      join(synonym.names, ", "),
      {cat("A name of ", synonym.from, "."),
       cat("In Lockstep", owner.empty() ? "" : cat(" (recipe ", owner, ")"), ": ",
           shown_words(synonym.ours),
           synonym.ours_when_off.empty() ? "" : cat("; off: write ", synonym.ours_when_off),
           synonym.note.empty() ? "" : cat(" (", synonym.note, ")")),
       for_commands(synonym), values.empty() ? "" : cat("Values: ", join(values, ", "))});
  return topic;
}

Topic topic_of(const OptionInfo& option, const std::string& owner) {
  const std::string last = option.key.substr(option.key.rfind('.') + 1);
  const std::string where = owner.empty() ? "of every recipe of the engine" : cat("of ", owner);
  return {
      .title = cat(option.key, ", an option ", where),
      .terms = {option.key, last},
      .code = {option.key},
      .text = paragraphs(
          option.key, {cat("An option ", where, ": ", detail::summary(option)),
                       option.default_text.empty() ? "" : cat("Default: ", option.default_text)})};
}

Topic topic_of(const Preset& preset, const std::string& recipe) {
  Names values;
  for (const auto& [key, value] : preset.values) values.push_back(cat(key, "=", value));
  return {.title = cat(preset.name, ", a preset of ", recipe),
          .terms = {preset.name},
          .code = {preset.name},
          .text = paragraphs(cat("preset=", preset.name),
                             {cat("A preset of ", recipe, ": ", preset.meaning),
                              cat("It sets ", join(values, " "))})};
}

Topic recipe_topic(const std::string& name, const std::string& summary, const OptionTable& table) {
  Names presets;
  for (const Preset& preset : table.presets()) presets.push_back(preset.name);
  return {.title = cat(name, ", a recipe"),
          .terms = {name, cat("recipe ", name)},
          .code = {},
          .text = paragraphs(
              name, {cat("A recipe: ", summary),
                     presets.empty() ? "" : cat("Presets: ", join(presets, ", ")),
                     cat("`lockstep config ", name, "` lists its options, `lockstep train ", name,
                         "` trains it")})};
}

void add_table(Topics& all, const OptionTable& table, const std::string& owner) {
  for (const OptionInfo& option : table.options()) all.push_back(topic_of(option, owner));
}

void add_names(Topics& all, const std::vector<Synonym>& synonyms, const std::string& owner) {
  for (const Synonym& synonym : synonyms) all.push_back(topic_of(synonym, owner));
}

// Calls action(name, summary, table) for each recipe.
template <class Action>
void for_each_recipe(const Action& action) {
  for (const RecipeInfo& recipe : recipes())
    action(recipe.name, recipe.summary, recipe.make_options()->table);
  for (const DirectRecipe& recipe : direct_recipes())
    action(recipe.name, recipe.summary, recipe.make_options()->table);
}

Topics names_and_options() {
  Topics names, options, others;
  const TrainOptions engine;
  add_names(names, engine.table.synonyms(), "");
  add_table(options, engine.table, "");
  for_each_recipe(
      [&](const std::string& name, const std::string& summary, const OptionTable& table) {
        add_names(names, table.synonyms(), name);
        add_table(options, table, name);
        others.push_back(recipe_topic(name, summary, table));
        for (const Preset& preset : table.presets()) others.push_back(topic_of(preset, name));
      });
  add_topics(names, std::move(options));
  add_topics(names, std::move(others));
  return names;
}

Topic topic_of(const Command& command) {
  Topic topic{.title = cat("lockstep ", command.name),
              .terms = {command.name, command.summary},
              .code = {command.details},
              .text = {}};
  for (const Flag& flag : command.flags)
    if (!flag.hidden) topic.code.push_back(cat(flag.name, " ", flag.meaning));
  topic.text = paragraphs(topic.title,
                          {command.summary, cat("`lockstep ", command.name, " --help` says more")});
  return topic;
}

// A topic for each flag, with its meaning in each command.
Topics flag_topics(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  std::map<std::string, std::vector<std::pair<std::string, Names>>> meanings;  // by name
  for (const Command& command : commands)
    for (const Flag& flag : command.flags) {
      if (command.hidden || flag.hidden) continue;
      auto& known = meanings[flag.name];
      if (known.empty()) names.push_back(flag.name);
      const std::string meaning =
          cat(flag.value.empty() ? "" : cat(flag.value, ", "), flag.meaning);
      const auto same = std::find_if(known.begin(), known.end(),
                                     [&](const auto& one) { return one.first == meaning; });
      if (same == known.end())
        known.push_back({meaning, {command.name}});
      else
        same->second.push_back(command.name);
    }
  Topics all;
  for (const std::string& name : names) {
    Names lines;
    for (const auto& [meaning, where] : meanings[name])
      lines.push_back(cat("lockstep ", join(where, ", "), ": ", meaning));
    all.push_back({.title = cat(name, ", a flag"),
                   .terms = {name},
                   .code = {},
                   .text = paragraphs(cat(name, ", a flag"), lines),
                   .is_flag = true});
  }
  return all;
}

// Found only by its whole name, like a flag.
Topic topic_of(const JobKey& key) {
  const std::string title = cat(key.key, ", a key of job files");
  return {.title = title,
          .terms = {key.key},
          .code = {},
          .text = paragraphs(title, {cat("In the TOML file of lockstep batch run: ", key.meaning),
                                     "`lockstep batch RECIPE … --write FILE.toml` writes such a "
                                     "file, and `lockstep batch run FILE.toml` runs it"}),
          .is_flag = true};
}

// Found only by its text, after the symptoms that name it.
Topic topic_of(const Rule& rule) {
  const std::string title = cat("the finding ", rule.name);
  return {.title = title,
          .terms = {},
          .code = {},
          .text = paragraphs(title, {cat("`lockstep doctor` reports it: ", rule.finds)})};
}

}  // namespace

std::vector<Topic> glossary_topics(std::string_view page) {
  Topics all;
  for (const std::string& line : split(std::string(page), '\n')) {
    const Names cells = split(line, '|');
    if (!line.starts_with("| ") || cells.size() < 4 || trim(cells[1]) == "word") continue;
    const std::string word = trim(cells[1]);
    Topic topic{.title = word,
                .terms = {},
                .code = code_in(cells[2]),
                .text = paragraphs(word, {without_marks(trim(cells[2])),
                                          cat("More: ", without_marks(trim(cells[3])))})};
    for (const std::string& term : split(without_code_marks(word), ','))
      topic.terms.push_back(trim(term));
    topic.terms.push_back(word);
    all.push_back(std::move(topic));
  }
  return all;
}

std::vector<Topic> guide_topics(std::string_view page) {
  std::vector<std::string> items;
  for (const std::string& line : split(std::string(page), '\n')) {
    const bool begins =
        line.find(". [") != line.npos && line.find_first_not_of("0123456789") == line.find(". [");
    if (begins)
      items.push_back(line.substr(line.find('[')));
    else if (line.starts_with("  ") && !items.empty())
      items.back() += cat(" ", trim(line));
  }
  Topics all;
  for (const std::string& item : items) {
    const std::string title = item.substr(1, item.find(']') - 1);
    const std::size_t end = item.find("): ");
    if (end == item.npos) continue;
    const std::string what = item.substr(end + 3);
    all.push_back(
        {.title = cat("the guide \"", title, "\""),
         .terms = {title, what},
         .code = {},
         .text = paragraphs(title, {without_marks(what), without_marks(item.substr(0, end + 1))})});
  }
  return all;
}

std::vector<Topic> help_topics(const std::vector<Command>& commands) {
  Topics all;
  for (const Symptom& symptom : symptoms_in(symptoms_page)) all.push_back(topic_of(symptom));
  add_topics(all, glossary_topics(glossary_page));
  add_topics(all, names_and_options());
  for (const Command& command : commands)
    if (!command.hidden) all.push_back(topic_of(command));
  add_topics(all, flag_topics(commands));
  for (const JobKey& key : job_keys()) all.push_back(topic_of(key));
  add_topics(all, guide_topics(guides_page));
  for (const Rule& rule : all_rules()) all.push_back(topic_of(rule));
  return all;
}

std::string help_text(const FoundTopics& found, int width) {
  constexpr std::size_t most_in_full = 3, most_titles = 5;
  std::string text;
  Names others;
  for (std::size_t i = 0; i < found.best.size(); ++i)
    if (i < most_in_full)
      text += (i > 0 ? "\n" : "") + found.best[i]->text(width);
    else
      others.push_back(found.best[i]->title);
  for (const Topic* const topic : found.others) others.push_back(topic->title);
  if (others.size() > most_titles) others.resize(most_titles);
  if (!others.empty()) text += "\n" + hang_cells("See also: ", join(others, "; "), width);
  return text;
}

}  // namespace lockstep::cli
