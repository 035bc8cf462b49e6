// Implements `lockstep completion`. It writes scripts for bash, zsh and fish, which call this
// program.
#include "core/base/error.h"
#include "core/base/process/program.h"
#include "core/base/text/text.h"
#include "tools/cli/commands.h"
#include "tools/cli/context.h"
#include "tools/cli/help/completion_scripts.h"

namespace lockstep::cli {
namespace {

Error unknown_shell(const std::string& shell) {
  const std::vector<std::string> known{"bash", "zsh", "fish"};
  const std::string near = nearest(shell, known);
  return Error(cat("completion must be for bash, zsh or fish, but is for ", shell),
               near.empty() ? "write, for example, lockstep completion bash"
                            : cat("did you mean ", near, "?"));
}

int completion_main(const Parsed& parsed) {
  const std::string& shell = parsed.positionals[0];
  const std::string program = (program_folder() / "lockstep").string();
  if (shell == "bash")
    print_data(bash_completion(program));
  else if (shell == "zsh")
    print_data(zsh_completion(program));
  else if (shell == "fish")
    print_data(fish_completion(program));
  else
    throw unknown_shell(shell);
  return 0;
}

}  // namespace

Command completion_command() {
  return {.name = "completion",
          .operands = "bash|zsh|fish",
          .summary = "print a completion script for your shell",
          .details =
              "bash: source <(lockstep completion bash)\n"
              "zsh:  lockstep completion zsh > \"${fpath[1]}/_lockstep\"\n"
              "fish: lockstep completion fish > ~/.config/fish/completions/lockstep.fish",
          .flags = {},
          .min_positionals = 1,
          .max_positionals = 1,
          .complete = "word bash|zsh|fish",
          .run = completion_main};
}

}  // namespace lockstep::cli
