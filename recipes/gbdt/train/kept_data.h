// Data that a process keeps from window to window: the library, and prices with their features.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "recipes/gbdt/lightgbm/library.h"
#include "recipes/gbdt/train/train_window.h"

namespace lockstep::gbdt {

// Loads each path once. Throws Error.
std::shared_ptr<const LightGbm> kept_library(const std::filesystem::path& path);

// Like load_symbol, but loads again only if the file (its device, inode, size and modification
// time) or an option that may matter has changed. Keeps the most recently used data, at most 256
// MiB, but at least one. Throws Error.
std::shared_ptr<const SymbolData> kept_symbol(const GbdtOptions& options,
                                              const std::string& symbol);

// Loads both for these options, and remembers how long the prices took. Implements
// DirectOptions::load_ahead.
void load_ahead(const GbdtOptions& options);
// The seconds that the last load_ahead spent on prices. They count for one window: later calls
// return 0.
double take_seconds_ahead();

}  // namespace lockstep::gbdt
