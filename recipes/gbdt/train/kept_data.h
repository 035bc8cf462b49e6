// Keeps data in a process from window to window: the library, and prices with their features.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "recipes/gbdt/lightgbm/library.h"
#include "recipes/gbdt/train/train_window.h"

namespace lockstep::gbdt {

// Returns the library at a path. Each path is loaded only once. Throws Error.
std::shared_ptr<const LightGbm> kept_library(const std::filesystem::path& path);

// Like load_symbol, but loads again only if the file or an option that may matter has changed. The
// file's device, inode, size and modification time are compared. The most recently used data are
// kept, at most 256 MiB, but always those of the last symbol. Throws Error.
std::shared_ptr<const SymbolData> kept_symbol(const GbdtOptions& options,
                                              const std::string& symbol);

// Loads library and prices for these options, and records how long the prices took. Implements
// DirectOptions::load_ahead.
void load_ahead(const GbdtOptions& options);
// Returns the seconds that the last load_ahead spent on prices. Later calls return 0, so that the
// time is part of only one window.
double take_seconds_ahead();

}  // namespace lockstep::gbdt
