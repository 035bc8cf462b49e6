#include "cli/script_command.h"

#include "base/error.h"
#include "base/text.h"
#include "cli/context.h"
#include "cli/vocabulary.h"

#include <algorithm>

namespace lockstep::cli {
namespace {

using Line = std::vector<std::string>;

bool is_script(const std::string& word) {
  return word.ends_with(".py") && word.find('=') == word.npos && !word.starts_with("-");
}

bool is_python(const std::string& word) { return word == "python" || word.starts_with("python3"); }

bool starts_scripts(const std::string& word) {
  return word == "torchrun" || word == "accelerate" || word == "deepspeed";
}

bool takes_recipe(const std::string& word) {
  return word == "train" || word == "plan" || word == "bench";
}

std::string launch_of(Line::const_iterator from, const Line& words) {
  const bool has_program = is_python(*from);
  std::string line = cat("lockstep launch ", has_program && *from != "python" ? *from : "python3");
  if (has_program) ++from;
  for (; from != words.end(); ++from) line += " " + shell_word(*from);
  return line;
}

// Where the script with its arguments begins; the end: there is none.
Line::const_iterator script_in(const Line& words) {
  const auto script = std::find_if(words.begin(), words.end(), is_script);
  if (is_script(words[0]) || is_python(words[0])) return words.begin();
  if (starts_scripts(words[0])) return script;
  if (!takes_recipe(words[0]) || std::any_of(words.begin(), script, is_recipe_name))
    return words.end();
  return script;
}

}  // namespace

void check_no_script(const Line& words) {
  const auto from = script_in(words);
  if (from == words.end()) return;
  const std::string what =
      takes_recipe(words[0])
          ? cat("lockstep ", words[0], " takes a recipe or a plugin, but ", *from, " is a script")
          : cat("there is no command ", words[0]);
  throw Error(what, cat("to run a script once per GPU: ", launch_of(from, words)));
}

}  // namespace lockstep::cli
