// The files that are kept of a window.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "recipes/gbdt/bars/bars.h"
#include "recipes/gbdt/train/train_window.h"

namespace lockstep::gbdt {

// All throw Error where the file cannot be written.
void write_text(const std::filesystem::path& file, std::string_view text);
void write_gzip(const std::filesystem::path& file, std::string_view text);

// Without prices, close and forward_return are empty.
std::string labels_csv(const SymbolData& data, const WindowRows& rows);
std::string importance_csv(const std::vector<std::string>& names, std::span<const double> splits,
                           std::span<const double> gains);
std::string predictions_csv(const Bars& bars, const std::string& window_label,
                            const std::vector<std::size_t>& rows,
                            std::span<const std::uint8_t> labels,
                            std::span<const double> probabilities);

}  // namespace lockstep::gbdt
