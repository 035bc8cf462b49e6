// Registers the dimabsa recipe in programs that link this file.
#include "recipes/dimabsa/options/dimabsa_options.h"

namespace lockstep::dimabsa {

namespace {

[[maybe_unused]] const bool registered = [] {
  register_recipe({.name = "dimabsa",
                   .summary = "trains an encoder that finds aspects, opinions, valence and arousal "
                              "in sentences",
                   .make_options = [] { return std::make_unique<DimabsaOptions>(); }});
  return true;
}();

}  // namespace
}  // namespace lockstep::dimabsa
