#include "tools/cli/plan/first_weights.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "runtime/run/checkpoint/hub_name.h"
#include "runtime/run/folder/run_dir.h"
#include "tools/cli/context.h"

#include <cstdlib>
#include <filesystem>
#include <vector>

namespace lockstep::cli {
namespace {

std::filesystem::path from_environment(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

// The folder in which torch.hub, and therefore torchvision and timm, store downloads.
std::filesystem::path download_folder() {
  const std::filesystem::path torch = from_environment("TORCH_HOME");
  if (!torch.empty()) return torch / "hub/checkpoints";
  const std::filesystem::path cache = from_environment("XDG_CACHE_HOME");
  const std::filesystem::path home = from_environment("HOME");
  return (cache.empty() ? home / ".cache" : cache) / "torch/hub/checkpoints";
}

// Whether the text is a model's name such as "resnet50" or "imagenet", and no path.
bool is_name_of_model(const std::string& text) { return text.find_first_of("/.") == text.npos; }

// The model that a text names. "resnet50" and "weights/resnet50.pth" name resnet50. "" for others,
// such as timm's "resnet50.a1_in1k", which may be another model.
std::string model_of(const std::string& text) {
  if (is_name_of_model(text)) return text;
  const std::filesystem::path path = text, ending = path.extension();
  const bool is_file =
      ending == ".pth" || ending == ".pt" || ending == ".bin" || ending == ".safetensors";
  return is_file ? path.stem().string() : "";
}

std::string hint_for_weights(const TrainOptions& train) {
  std::vector<std::string> names;
  for (const RunDir& run : list_runs(train.run.root)) names.push_back(run.name());
  if (const std::string near = nearest(train.init.from, names); !near.empty())
    return cat("did you mean ", near, "?");
  if (const std::string file = downloaded_weights(model_of(train.init.from)); !file.empty())
    return cat("these weights are here: init.from=", shell_word(file));
  const std::string fetch =
      is_name_of_model(train.init.from) ? "" : hub_hint("init.from", train.init.from);
  return cat(fetch.empty() ? "nothing is downloaded: give the file of the weights (lockstep help "
                             "pretrained weights)"
                           : fetch,
             "; `lockstep runs` lists the runs");
}

}  // namespace

std::string downloaded_weights(const std::string& name) {
  std::error_code error;
  std::filesystem::directory_iterator entry(download_folder(), error), end;
  for (; !error && entry != end; entry.increment(error)) {
    const std::string file = entry->path().filename().string();
    if (!name.empty() && (file.starts_with(name + "-") || file.starts_with(name + ".")))
      return entry->path().string();
  }
  return "";
}

void find_first_weights(TrainOptions& train) {
  if (train.init.from.empty()) return;
  if (std::filesystem::exists(train.init.from)) return;
  const std::filesystem::path named = std::filesystem::path(train.run.root) / train.init.from;
  if (!std::filesystem::exists(named))
    throw MissingFile(cat("init.from: there is no file or folder ", printable(train.init.from),
                          ", and no run of that name in ", train.run.root),
                      hint_for_weights(train));
  train.init.from = named.string();
}

}  // namespace lockstep::cli
