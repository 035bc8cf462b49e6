// The words that plans and their errors use for ranks, devices and counts.
#pragma once

#include "core/devices/device.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

std::string count_of(std::int64_t count, const std::string& noun);  // "1 GPU", "8 GPUs"
// Names what a micro-batch counts: "sample", or "row" if a sample has several.
std::string row_word(std::int64_t rows_per_sample);
std::string rank_word(const std::vector<Device>& devices);  // "GPU", "CPU rank", or "rank" if mixed
std::string device_label(const Device& device);             // "cuda:0", "cpu:1"
// For people: "0.001", "6e-05".
std::string rate_text(double rate);

}  // namespace lockstep
