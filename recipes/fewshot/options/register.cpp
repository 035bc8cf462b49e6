// Registers the fewshot recipe in programs that link this file.
#include "recipes/fewshot/options/fewshot_options.h"

namespace lockstep::fewshot {

constinit FindPictures validation_pictures = nullptr;

namespace {

[[maybe_unused]] const bool registered = [] {
  register_recipe({.name = "fewshot",
                   .summary = "trains a detector that finds classes by a few examples of each",
                   .make_options = [] { return std::make_unique<FewshotOptions>(); }});
  return true;
}();

}  // namespace
}  // namespace lockstep::fewshot
