// A recipe that trains in the tool itself: without LibTorch, ranks and the engine, whose options it
// does not have. For what is so small, or so unlike steps on devices, that a process of its own is
// all that it needs.
#pragma once

#include "config/options.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep {

// One training: where it writes, and how it says what it does.
struct DirectContext {
  std::filesystem::path folder;                 // its own, empty; outputs go there
  std::string name;                             // of the run
  std::function<void(const std::string&)> say;  // progress for people, one line, no newline
};

struct DirectResult {
  enum class Status { success, skipped } status = Status::success;
  std::string why;          // of a training that was skipped
  nlohmann::json record{};  // what really ran: versions, parameters, rows, metrics
};

// Base of such a recipe's options. Fields live in the derived struct, bound to `table` in its
// constructor.
class DirectOptions {
 public:
  DirectOptions() = default;
  virtual ~DirectOptions();
  DirectOptions(const DirectOptions&) = delete;
  DirectOptions& operator=(const DirectOptions&) = delete;

  virtual void check() const;  // rules between options; throws Error
  // Throws Error, which makes the run one that failed.
  virtual DirectResult train(const DirectContext& context) const = 0;

  OptionTable table;
  std::string preset;             // the option `preset`
  std::string run_root = "runs";  // the option `run.root`

 protected:
  // Adds those two; to be called by the constructor of the derived struct.
  void add_common_options();
};

struct DirectRecipe {
  std::string name;
  std::string summary;  // one line for help
  std::function<std::unique_ptr<DirectOptions>()> make_options;
};

// Those that this program knows.
void register_direct_recipe(DirectRecipe recipe);
const std::vector<DirectRecipe>& direct_recipes();
const DirectRecipe* find_direct_recipe(const std::string& name);  // null: it is none

}  // namespace lockstep
