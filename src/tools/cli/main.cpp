// The `lockstep` program, the only one that users call. It never loads LibTorch.
#include "core/base/error.h"
#include "core/base/process/spawn.h"
#include "core/base/text/text.h"
#include "core/base/version.h"
#include "runtime/launch/launch.h"
#include "tools/cli/commands.h"
#include "tools/cli/context.h"
#include "tools/cli/help/help_topics.h"
#include "tools/cli/words/script_command.h"
#include "tools/cli/words/unknown_command.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace lockstep::cli {

std::vector<Command> all_commands() {
  std::vector<Command> commands{
      train_command(),    resume_command(),   plan_command(),    bench_command(),
      launch_command(),   evaluate_command(), predict_command(), check_command(),
      export_command(),   score_command(),    abtest_command(),  prepare_command(),
      runs_command(),     compare_command(),  report_command(),  config_command(),
      devices_command(),  monitor_command(),  doctor_command(),  completion_command(),
      complete_command(), reference_command()};
  const std::vector<Command> batch = batch_commands();
  commands.insert(commands.begin() + 5, batch.begin(), batch.end());
  return commands;
}

namespace {

// Joins the words of a two-word command, such as "batch run".
void join_command_words(std::vector<std::string>& words, const std::vector<Command>& commands) {
  const std::vector<std::string> seconds = second_words(commands, words[0]);
  if (seconds.empty()) return;
  const std::string usage = cat("one of: ", join(seconds, ", "));
  if (words.size() < 2) throw Error(cat("lockstep ", words[0], " needs a word more"), usage);
  const bool known = std::any_of(commands.begin(), commands.end(), [&](const Command& command) {
    return command.name == words[0] + " " + words[1];
  });
  if (!known) {
    const std::string near = nearest(words[1], seconds);
    throw Error(cat("there is no command ", words[0], " ", words[1]),
                near.empty() ? usage : cat("did you mean lockstep ", words[0], " ", near, "?"));
  }
  words[0] += " " + words[1];
  words.erase(words.begin() + 1);
}

// Whether the name is a command or its first word, such as "train", "batch" or "batch run".
bool is_command(const std::string& name, const std::vector<Command>& commands) {
  return std::any_of(commands.begin(), commands.end(), [&](const Command& command) {
    return !command.hidden && (command.name == name || command.name.starts_with(name + " "));
  });
}

// Prints help on a word or a symptom.
int run_help(const std::string& asked, const std::vector<Command>& commands) {
  const std::vector<Topic> topics = help_topics(commands);
  const FoundTopics found = topics_about(topics, asked);
  if (!found.best.empty()) {
    print(help_text(found, text_width()));
    return exit_finished;
  }
  constexpr std::size_t most_near = 4;
  std::vector<std::string> near, terms;
  for (const Topic* const topic : found.others)
    if (near.size() < most_near) near.push_back(topic->title);
  for (const Topic& topic : topics)
    for (const std::string& term : topic.terms) {
      terms.push_back(term);
      for (const std::string& word : split(term, ' ')) terms.push_back(word);
    }
  // Typing errors are rare in the first letter, so other terms are left out. "inference" must not
  // match "convergence".
  std::erase_if(terms, [&](const std::string& term) {
    return term.empty() || asked.empty() ||
           std::tolower(static_cast<unsigned char>(term.front())) !=
               std::tolower(static_cast<unsigned char>(asked.front()));
  });
  const std::string one = nearest(asked, terms);
  if (!one.empty()) near.insert(near.begin(), one);
  throw Error(cat("there is no help on ", asked),
              near.empty() ? "lockstep --help lists the commands; try one word of what you see"
                           : cat("lockstep help knows ", join(near, "; ")));
}

int run(std::vector<std::string> words) {
  const std::vector<Command> commands = all_commands();
  if (words.size() > 1 && words[0] == "help") {
    words.erase(words.begin());
    const std::string asked = join(words, " ");
    if (!is_command(asked, commands)) return run_help(asked, commands);
    words.emplace_back("--help");
  }
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    print(overview(commands));
    return words.empty() ? exit_usage : exit_finished;
  }
  if (words[0] == "--version") {
    print(cat("lockstep ", version()));
    return exit_finished;
  }
  if (words.size() == 2 && (words[1] == "--help" || words[1] == "-h") &&
      !second_words(commands, words[0]).empty()) {
    print(group_help(commands, words[0]));
    return exit_finished;
  }
  check_no_script(words);
  check_no_monitor(words);
  join_command_words(words, commands);
  for (const Command& command : commands) {
    if (command.name != words[0]) continue;
    const std::vector<std::string> rest(words.begin() + 1, words.end());
    if (asks_for_help(command, rest)) {
      print(command_help(command, rest, table_width()));
      return exit_finished;
    }
    return command.run(parse(command, rest));
  }
  throw unknown_command(commands, words[0]);
}

}  // namespace
}  // namespace lockstep::cli

int main(int argc, char** argv) {
  lockstep::ignore_file_size_signal();
  try {
    return lockstep::cli::run({argv + 1, argv + argc});
  } catch (const lockstep::Error& error) {
    lockstep::say_error(error.what(), error.hint());
    return lockstep::exit_usage;
  } catch (const lockstep::cli::ToldAlready& told) {
    return told.code;
  } catch (const std::filesystem::filesystem_error& error) {
    std::error_code gone;
    static_cast<void>(std::filesystem::current_path(gone));
    if (gone)
      lockstep::say_error(
          "the current folder cannot be used: " + gone.message(),
          "it was removed, moved or closed to you; cd to another one, or, where it was made anew, "
          "cd \"$PWD\"");
    else
      lockstep::say_error(
          lockstep::shortened(error.what()),
          "look at the path: at its links, and at the permissions on the way to it");
    return lockstep::exit_usage;
  } catch (const std::exception& error) {
    lockstep::say_error(lockstep::shortened(error.what()),
                        "this is a fault of Lockstep's; please report it");
    return lockstep::exit_failed;
  }
}
