#include "tools/doctor/launcher.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "core/base/text/text.h"
#include "core/base/whole_number.h"

namespace lockstep {
namespace {

// no machine has as many GPUs, so a larger number means something else
constexpr int most_gpus = 1 << 12;

using Names = std::vector<std::string_view>;

struct Kind {
  const char* name;
  // Last part of the program's path. Two words if a second word is required.
  Names programs;
  Names options;      // options with a number of GPUs; the first is suggested if none is given
  Names lists;        // options that list GPUs instead
  Names factors;      // options whose number multiplies it
  int otherwise = 0;  // GPUs if no option is given; 0 = all, or as in a file
  bool serves = false, spans_hosts = false;
  const char* note = "";
};

constexpr const char* splits_model =
    "the number must divide the model's attention heads; where the model fits on fewer GPUs, a "
    "copy on "
    "each serves more: --data-parallel-size";

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {.name = "torchrun",
       .programs = {"torchrun", "torch.distributed.run", "torch.distributed.launch"},
       .options = {"--nproc-per-node", "--nproc_per_node"},
       .otherwise = 1},
      {.name = "accelerate",
       .programs = {"accelerate launch", "accelerate-launch", "accelerate.commands.launch"},
       .options = {"--num_processes", "--num-processes"},
       .spans_hosts = true,
       .note = "without the option the file of accelerate config decides; several GPUs take "
               "--multi_gpu too"},
      {.name = "DeepSpeed",
       .programs = {"deepspeed", "deepspeed.launcher.runner"},
       .options = {"--num_gpus", "--num-gpus"},
       .lists = {"--include", "-i"}},
      {.name = "mpirun",
       .programs = {"mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun"},
       .options = {"-np", "-n", "--np", "--n", "-npernode", "--npernode"},
       .spans_hosts = true},
      {.name = "horovodrun",
       .programs = {"horovodrun"},
       .options = {"-np", "--num-proc"},
       .spans_hosts = true},
      {.name = "vLLM",
       .programs = {"vllm serve", "vllm.entrypoints.openai.api_server",
                    "vllm.entrypoints.api_server", "vllm.entrypoints.cli.main"},
       .options = {"--tensor-parallel-size", "-tp"},
       .factors = {"--pipeline-parallel-size", "-pp", "--data-parallel-size", "-dp"},
       .otherwise = 1,
       .serves = true,
       .note = splits_model},
      {.name = "SGLang",
       .programs = {"sglang.launch_server", "sglang serve"},
       .options = {"--tp-size", "--tp", "--tensor-parallel-size"},
       .factors = {"--pp-size", "--pipeline-parallel-size", "--dp-size", "--data-parallel-size",
                   "--dp"},
       .otherwise = 1,
       .serves = true,
       .note = splits_model},
      {.name = "text-generation-inference",
       .programs = {"text-generation-launcher"},
       .options = {"--num-shard"},
       .serves = true},
      {.name = "Lockstep",
       .programs = {"lockstep train", "lockstep resume", "lockstep launch", "lockstep bench",
                    "lockstep evaluate", "lockstep predict"},
       .lists = {"--devices"}},
  };
  return all;
}

// Options of programs that are not known launchers. An option counts only if a number follows.
const Names own_options{"--trainer.devices", "trainer.devices", "--devices", "--gpus", "--num_gpus",
                        "--num-gpus",        "--n_gpus",        "--n-gpus",  "--ngpus"};

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// The position of the program after an interpreter and its options. The number of words if there is
// none.
std::size_t program_place(const std::vector<std::string>& words) {
  if (!last_part(words.front()).starts_with("python")) return 0;
  std::size_t place = 1;
  while (place < words.size() && words[place].starts_with("-") && words[place] != "-m") ++place;
  return place < words.size() && words[place] == "-m" ? place + 1 : place;
}

// The position of the launcher's first argument. 0 if the command is not of this kind.
std::size_t begin_of(const Kind& kind, const std::vector<std::string>& words) {
  const std::size_t place = program_place(words);
  if (place >= words.size()) return 0;
  for (const std::string_view program : kind.programs) {
    const std::size_t space = program.find(' ');
    if (last_part(words[place]) != program.substr(0, space)) continue;
    if (space == program.npos) return place + 1;
    if (place + 1 < words.size() && words[place + 1] == program.substr(space + 1)) return place + 2;
  }
  return 0;
}

// Whether the command runs one of these programs, as a script, a module or a program.
bool is_one_of(const Names& programs, const std::string& command) {
  const std::vector<std::string> words = split(command, ' ');
  const std::size_t place = program_place(words);
  if (place >= words.size()) return false;
  std::string_view name = last_part(words[place]);
  if (name.ends_with(".py")) name.remove_suffix(3);
  return std::find(programs.begin(), programs.end(), name) != programs.end();
}

std::optional<int> number_of_word(std::string_view text) {
  return whole_number<int>(text, 1, most_gpus);
}

struct Given {
  std::size_t place = 0, length = 0;  // length: number of words; 0 = not given
  std::string option, value;
};

// Finds the first match, because later words may belong to the program that the launcher starts.
Given find_option(std::span<const std::string_view> options, const std::vector<std::string>& words,
                  std::size_t begin) {
  for (std::size_t i = begin; i < words.size(); ++i)
    for (const std::string_view option : options) {
      if (words[i] == option && i + 1 < words.size())
        return {i, 2, std::string(option), words[i + 1]};
      if (words[i].starts_with(option) && words[i].size() > option.size() &&
          words[i][option.size()] == '=')
        return {i, 1, std::string(option), words[i].substr(option.size() + 1)};
    }
  return {};
}

Launcher made(const std::vector<std::string>& words, const Given& given) {
  Launcher launcher{.option = given.option,
                    .gpus = number_of_word(given.value),
                    .words = words,
                    .place = given.place,
                    .length = given.length};
  for (std::size_t i = 0; i < given.length; ++i)
    launcher.given += cat(i > 0 ? " " : "", words[given.place + i]);
  return launcher;
}

}  // namespace

std::string Launcher::option_for(std::size_t gpus) const {
  const std::size_t own =
      gpus % static_cast<std::size_t>(factor) == 0 ? gpus / static_cast<std::size_t>(factor) : gpus;
  const bool apart = length == 2 || (length == 0 && !option.starts_with("--"));
  return cat(option, apart ? " " : "=", own);
}

std::string Launcher::command_for(std::size_t gpus) const {
  std::vector<std::string> changed = words;
  const auto at = changed.begin() + static_cast<std::ptrdiff_t>(place);
  changed.erase(at, at + static_cast<std::ptrdiff_t>(length));
  if (!lists_gpus)
    changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(place), option_for(gpus));
  if (changed.front().starts_with("/")) changed.front() = last_part(changed.front());
  return join(changed, " ");
}

std::optional<Launcher> launcher_of(const std::string& command) {
  const std::vector<std::string> words = split(command, ' ');
  for (const Kind& kind : kinds()) {
    const std::size_t begin = begin_of(kind, words);
    if (begin == 0) continue;
    Given given = find_option(kind.options, words, begin);
    const bool counts = given.length > 0 || kind.lists.empty();
    if (!counts) given = find_option(kind.lists, words, begin);
    Launcher launcher = made(words, given);
    launcher.name = kind.name;
    launcher.lists_gpus = !counts;
    if (!counts) launcher.gpus.reset();
    launcher.serves = kind.serves;
    launcher.spans_hosts = kind.spans_hosts;
    launcher.note = kind.note;
    if (given.length == 0 && counts) {
      launcher.option = kind.options.front();
      launcher.place = begin;
      if (kind.otherwise > 0) launcher.gpus = kind.otherwise;
    }
    for (const std::string_view name : kind.factors) {
      const Given factor = find_option(std::span(&name, 1), words, begin);
      launcher.factor =
          std::min(most_gpus, launcher.factor * number_of_word(factor.value).value_or(1));
    }
    if (launcher.gpus) *launcher.gpus *= launcher.factor;
    return launcher;
  }
  if (last_part(words.front()).starts_with("python"))
    if (const Given given = find_option(own_options, words, 1); number_of_word(given.value))
      return made(words, given);
  return std::nullopt;
}

bool is_notebook_kernel(const std::string& command) {
  static const Names kernels{"ipykernel_launcher", "ipykernel", "colab_kernel_launcher"};
  return is_one_of(kernels, command);
}

bool starts_notebooks(const std::string& command) {
  static const Names starters{"jupyter",    "jupyter-lab",     "jupyter-notebook",
                              "jupyterlab", "jupyter-server",  "jupyter-nbconvert",
                              "notebook",   "jupyter-execute", "jupyterhub-singleuser",
                              "papermill",  "nbconvert",       "jupyter_server"};
  return is_one_of(starters, command);
}

}  // namespace lockstep
