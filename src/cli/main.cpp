// lockstep: the one program that users call. It never loads LibTorch.
#include "base/error.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/commands.h"
#include "cli/context.h"
#include "launch/launch.h"

#include <iostream>

namespace lockstep::cli {

std::vector<Command> all_commands() {
  return {train_command(),      resume_command(),   plan_command(),     bench_command(),
          launch_command(),     evaluate_command(), predict_command(),  check_command(),
          export_command(),     score_command(),    prepare_command(),  runs_command(),
          config_command(),     devices_command(),  monitor_command(),  doctor_command(),
          completion_command(), complete_command(), reference_command()};
}

namespace {

int run(std::vector<std::string> words) {
  const std::vector<Command> commands = all_commands();
  if (words.size() == 2 && words[0] == "help") words = {words[1], "--help"};
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    print(overview(commands));
    return words.empty() ? exit_usage : exit_finished;
  }
  if (words[0] == "--version") {
    print(cat("lockstep ", version()));
    return exit_finished;
  }
  std::vector<std::string> names;
  for (const Command& command : commands) {
    names.push_back(command.name);
    if (command.name != words[0]) continue;
    const std::vector<std::string> rest(words.begin() + 1, words.end());
    if (asks_for_help(command, rest)) {
      print(command_help(command));
      return exit_finished;
    }
    return command.run(parse(command, rest));
  }
  const std::string near = nearest(words[0], names);
  throw Error(cat("there is no command ", words[0]),
              near.empty() ? "see lockstep --help" : cat("did you mean lockstep ", near, "?"));
}

}  // namespace
}  // namespace lockstep::cli

int main(int argc, char** argv) {
  try {
    return lockstep::cli::run({argv + 1, argv + argc});
  } catch (const lockstep::Error& error) {
    std::cerr << "error: " << error.what() << '\n';
    if (!error.hint().empty()) std::cerr << "\nhint: " << error.hint() << '\n';
    return lockstep::exit_usage;
  } catch (const lockstep::cli::ToldAlready& told) {
    return told.code;
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what()
              << "\n\nhint: this is a fault of Lockstep's; please report it\n";
    return lockstep::exit_failed;
  }
}
