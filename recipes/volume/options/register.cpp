// Registers the volume recipe in programs that link this file.
#include "recipes/volume/options/volume_options.h"

namespace lockstep::volume {

namespace {

[[maybe_unused]] const bool registered = [] {
  register_recipe({.name = "volume",
                   .summary = "trains a 3D U-Net that segments volumes, and segments more of them",
                   .make_options = [] { return std::make_unique<VolumeOptions>(); }});
  return true;
}();

}  // namespace
}  // namespace lockstep::volume
