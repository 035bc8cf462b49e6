// Makes the text recipe known to the worker.
#pragma once

namespace lockstep {

// Registers the factory of "textgen"; its options come with the target textgen-options.
void register_textgen_model();

}  // namespace lockstep
