// Registers the text recipe in programs that link this file.
#include "recipes/textgen/options/text_options.h"

namespace lockstep::textgen {

namespace {

[[maybe_unused]] const bool registered = [] {
  register_recipe({.name = "textgen",
                   .summary = "trains a GPT on text of any kind and generates text",
                   .make_options = [] { return std::make_unique<TextOptions>(); }});
  return true;
}();

}  // namespace
}  // namespace lockstep::textgen
