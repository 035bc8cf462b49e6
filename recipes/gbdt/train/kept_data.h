// The data that a process keeps from window to window: the library, and prices with their features.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "recipes/gbdt/lightgbm/library.h"
#include "recipes/gbdt/train/train_window.h"

namespace lockstep::gbdt {

// Loaded once for each path. Throws Error.
std::shared_ptr<const LightGbm> kept_library(const std::filesystem::path& path);

// As load_symbol, but loads again only if the file (its device, inode, size and time of change) or
// an option that may matter has changed. Keeps those that were used last, 256 MiB of them at most,
// and at least one. Throws Error.
std::shared_ptr<const SymbolData> kept_symbol(const GbdtOptions& options,
                                              const std::string& symbol);

// Loads both for these options, and remembers how long the prices took: DirectOptions::load_ahead.
void load_ahead(const GbdtOptions& options);
// Seconds that the last load_ahead spent on prices, for the one window that it was for: 0 from then
// on.
double take_seconds_ahead();

}  // namespace lockstep::gbdt
