// Keeps data in a process that trains several windows: LightGBM's library, and prices with their
// features.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "recipes/gbdt/lightgbm/library.h"
#include "recipes/gbdt/train/train_window.h"

namespace lockstep::gbdt {

// Returns the library at a path. Each path is loaded only once. Throws Error as LightGbm's
// constructor does.
std::shared_ptr<const LightGbm> kept_library(const std::filesystem::path& path);

// Returns the result of load_symbol. Loads a symbol again only if its file or an option that may
// matter has changed. The file's device, inode, size and modification time are compared. The most
// recently used data are kept, at most 256 MiB, but always those of the last symbol. Throws Error
// as load_symbol does.
std::shared_ptr<const SymbolData> kept_symbol(const GbdtOptions& options,
                                              const std::string& symbol);

// Loads the library and the prices for these options, and keeps them for the windows that are
// trained next. Records how long it took to load the prices. Implements DirectOptions::load_ahead.
void load_ahead(const GbdtOptions& options);
// Returns the seconds that the last load_ahead spent on prices. Further calls return 0, so that
// only one window counts this time.
double take_seconds_ahead();

}  // namespace lockstep::gbdt
