#include "planning/direct_recipe.h"

#include "core/base/error.h"

#include <utility>

namespace lockstep {
namespace {

std::vector<DirectRecipe>& direct_registry() {
  static std::vector<DirectRecipe> all;
  return all;
}

}  // namespace

DirectOptions::~DirectOptions() = default;

void DirectOptions::check() const {}

DirectBatch DirectOptions::plan_batch() const {
  throw Error("this recipe has no batches of its own", "write a job file: lockstep batch run FILE");
}

void DirectOptions::add_common_options() {
  table.add("preset", preset, {.meaning = "a named set of options, which other values override"});
  table.add("run.root", run_root, {.meaning = "folder of all runs", .is_path = true});
}

std::string job_literal(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '{' ? std::string("{{") : std::string(1, c);
  return result;
}

void register_direct_recipe(DirectRecipe recipe) { direct_registry().push_back(std::move(recipe)); }

const std::vector<DirectRecipe>& direct_recipes() { return direct_registry(); }

const DirectRecipe* find_direct_recipe(const std::string& name) {
  for (const DirectRecipe& recipe : direct_registry())
    if (recipe.name == name) return &recipe;
  return nullptr;
}

}  // namespace lockstep
