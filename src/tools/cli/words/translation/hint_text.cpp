#include "tools/cli/words/translation/hint_text.h"

#include "core/base/text/text.h"
#include "core/config/synonym.h"
#include "planning/recipe_info.h"
#include "tools/cli/words/translation/hint_notes.h"
#include "tools/cli/words/translation/name_words.h"
#include "tools/cli/words/translation/translation.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace lockstep::cli {

std::string as_typed(const OurWord& word) {
  if (word.name == "--best") return word.name;  // a flag without a value
  return word.name.starts_with("--") ? cat(word.name, " ", shell_word(word.value))
                                     : shell_word(cat(word.name, "=", word.value));
}

namespace {

bool is_plain_in_toml(const OptionInfo* option) {
  if (option == nullptr) return false;
  return option->type == OptionType::integer || option->type == OptionType::real ||
         option->type == OptionType::boolean;
}

// The option as a line of a TOML or JSON file, such as: batch.global = 32.
std::string as_line_of_file(const Vocabulary& known, const OurWord& word, bool is_json) {
  const bool plain = is_plain_in_toml(known.find(word.name)) || word.value == unknown_value;
  const std::string value =
      plain ? word.value
            : nlohmann::json(word.value)
                  .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return is_json ? cat('"', word.name, "\": ", value, ",") : cat(word.name, " = ", value);
}

// Suggests options as lines of the file, and flags for the command.
std::string write_in_file(const Vocabulary& known, const TypedLine& line,
                          const std::vector<OurWord>& words) {
  Words lines, flags;
  const bool is_json = line.file.ends_with(".json");
  for (const OurWord& word : words)
    if (word.name.starts_with("--"))
      flags.push_back(as_typed(word));
    else
      lines.push_back(as_line_of_file(known, word, is_json));
  if (is_json && !lines.empty() && lines.back().ends_with(',')) lines.back().pop_back();
  std::string text;
  if (!lines.empty())
    text = cat("write in ", line.file, ", in place of these names",
               is_json ? ", at the top level" : " and above any [table]", ":\n", join(lines, "\n"));
  if (!flags.empty())
    text += cat(text.empty() ? "leave it out of the file, and write " : "\nand write ",
                join(flags, " "), " on the command line");
  return text;
}

std::string write_on_line(const std::vector<OurWord>& words) {
  Words typed;
  for (const OurWord& word : words) typed.push_back(as_typed(word));
  return words.empty() ? "" : cat("write ", join(typed, " "));
}

// "evaluate" or "predict" if a name on the line asks for that instead of training. "" if none does.
std::string command_instead(const Vocabulary& known, const TypedLine& line) {
  std::string command;
  for (const TypedName& name : line.names)
    if (const Synonym* const synonym = find_synonym(known.synonyms, name.name);
        synonym != nullptr && !known.has(plain_name(name.name)))
      if (const std::string meant = command_of_value(*synonym, name.value); !meant.empty())
        command = meant;
  return command;
}

// The line of that command, with the words that apply to it.
std::string line_of_command(const Vocabulary& known, const TypedLine& line,
                            const std::string& command) {
  TypedLine reading = line;
  reading.flags = {.names = {"--devices"}, .devices = line.flags.devices, .group = command};
  std::string run = "RUN", input, words;
  for (const OurWord& word : translated(known, line).words)
    if (word.name == "--name") run = shell_word(word.value);
  if (!line.flags.devices.empty()) words = cat(" --devices ", shell_word(line.flags.devices));
  for (const OurWord& word : translated(known, reading).words)
    if (word.name == input_key && command == "predict")
      input = cat(" ", shell_word(word.value));
    else if (word.name.starts_with("--") || word.name.starts_with(command + "."))
      words += cat(" ", as_typed(word));
  return cat("to ", command, " is a command of its own, on a run that has trained: lockstep ",
             command, " ", run, input, words,
             run == "RUN" ? "; `lockstep runs` lists the runs" : "");
}

}  // namespace

std::string foreign_hint(const Vocabulary& known, const TypedLine& line, const TypedName& asked) {
  if (const std::string command = command_instead(known, line);
      !command.empty() && line.flags.group.empty())
    return line_of_command(known, line, command);
  const Translation all = translated(known, line);
  const std::string note = note_of(known, line.flags, all, plain_name(asked.name), asked.value);
  const bool is_file = !line.file.empty();
  if (all.words.empty()) {
    Words remarks = remarks_of(known, line, all, asked);
    std::replace(remarks.begin(), remarks.end(), cat("leave out ", plain_name(asked.name)),
                 std::string("leave it out"));
    const auto has = [&](const Words& names, const std::string& name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (!has(all.left_out, plain_name(asked.name)) && !has(all.unknown, asked.name) &&
        all.without_effect.empty())
      remarks.insert(remarks.begin(), "leave it out");
    std::erase(remarks, note);
    if (!note.empty() && all.without_effect.empty() && !remarks.empty())
      remarks.front() += cat(": ", note);
    return join(remarks, "; ");
  }
  std::string hint = is_file ? write_in_file(known, line, all.words) : write_on_line(all.words);
  if (const std::string sizes = batch_note(known, line, all); !sizes.empty())
    hint += cat(is_file ? "\n" : ": ", sizes);
  for (const std::string& remark : remarks_of(known, line, all, asked))
    hint += cat(is_file ? "\n" : "; ", remark);
  Words notes{note};
  if (!all.to_train.empty()) notes.push_back(cat("lockstep train takes --devices ", all.to_train));
  std::erase(notes, "");
  return notes.empty() ? hint : cat(hint, is_file ? "\n(" : " (", join(notes, "; "), ")");
}

}  // namespace lockstep::cli
