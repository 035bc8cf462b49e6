// What a run's newest evaluation left for people, as text for the terminal.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace lockstep::cli {

// The first rows of its table of items, and where table and pictures are; "" where it left none.
// Numbers are shortened. Never throws: what cannot be read is left out.
std::string last_evaluation_text(const std::filesystem::path& run_dir, std::size_t rows = 8);

}  // namespace lockstep::cli
