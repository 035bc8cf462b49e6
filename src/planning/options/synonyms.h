// The names that other programs use for the engine's options.
#pragma once

#include "core/config/synonym.h"

namespace lockstep {

std::vector<Synonym> engine_synonyms();

}  // namespace lockstep
