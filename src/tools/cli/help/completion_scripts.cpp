#include "tools/cli/help/completion_scripts.h"

#include "core/base/text/text.h"
#include "tools/cli/context.h"

namespace lockstep::cli {
namespace {

// Lines of the answer can be inserted into the command line without changes.
constexpr const char* bash_script = R"(
_lockstep() {
  local program=@PROGRAM@ answer
  [ -x "$program" ] || program=lockstep
  COMPREPLY=()
  mapfile -t answer < <("$program" complete bash "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
  case ${answer[0]} in
    words) COMPREPLY=("${answer[@]:1}") ;;
    keys) COMPREPLY=("${answer[@]:1}"); compopt -o nospace ;;
    program) mapfile -t COMPREPLY < <(compgen -c -- "$2"); compopt -o default ;;
    files) compopt -o default ;;
  esac
}
complete -F _lockstep lockstep
)";

// The second line of the answer is the text before the completed part. The other lines are "text
// TAB meaning".
constexpr const char* zsh_script = R"(
_lockstep() {
  local program=@PROGRAM@ line
  [[ -x $program ]] || program=lockstep
  local -a before answer words_there shown_words keys_there shown_keys
  (( CURRENT > 2 )) && before=("${(@Q)words[2,CURRENT-1]}")
  answer=("${(@f)$($program complete zsh -- "${before[@]}" "$PREFIX" 2>/dev/null)}")
  compset -p ${#answer[2]}
  case $answer[1] in
    files) _files ;;
    program) _command_names -e ;;
    words)
      for line in "${(@)answer[3,-1]}"; do
        if [[ ${line%%$'\t'*} == *= ]]; then
          keys_there+=("${line%%$'\t'*}")
          shown_keys+=("${line/$'\t'/  -- }")
        else
          words_there+=("${line%%$'\t'*}")
          shown_words+=("${line/$'\t'/  -- }")
        fi
      done
      (( $#words_there )) && compadd -l -d shown_words -a words_there
      (( $#keys_there )) && compadd -l -S '' -d shown_keys -a keys_there
      ;;
  esac
}
if [[ $funcstack[1] == _lockstep ]]; then _lockstep "$@"; else compdef _lockstep lockstep; fi
)";

constexpr const char* fish_script = R"(
function __lockstep_complete
  set -l program @PROGRAM@
  test -x "$program"; or set program lockstep
  set -l before (commandline -opc)
  while string match -qr '^\w+=' -- $before[1]
    set -e before[1]
  end
  set -e before[1]
  set -l word (commandline -ct)
  test (count $word) -gt 0; or set word ''
  set -l answer ($program complete fish -- $before "$word" 2>/dev/null)
  switch "$answer[1]"
    case files
      for path in (__fish_complete_path (string sub -s (math (string length -- "$answer[2]") + 1) -- "$word"))
        echo -- "$answer[2]$path"
      end
    case program
      __fish_complete_command
    case words
      set -e answer[1]
      set -l head "$answer[1]"
      set -e answer[1]
      for line in $answer
        echo -- "$head$line"
      end
  end
end
complete -c lockstep -f -a '(__lockstep_complete)'
)";

std::string filled_script(const char* first, std::string script, const std::string& program) {
  const std::string hole = "@PROGRAM@";
  script.replace(script.find(hole), hole.size(), shell_word(program));
  return cat(first, script.substr(1));
}

}  // namespace

std::string bash_completion(const std::string& program) {
  return filled_script(
      "# bash completion for lockstep; load it with: source <(lockstep completion bash)\n",
      bash_script, program);
}

std::string zsh_completion(const std::string& program) {
  return filled_script("#compdef lockstep\n# zsh completion for lockstep\n", zsh_script, program);
}

std::string fish_completion(const std::string& program) {
  return filled_script("# fish completion for lockstep\n", fish_script, program);
}

}  // namespace lockstep::cli
