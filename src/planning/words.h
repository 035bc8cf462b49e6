// The words for ranks, devices and counts in plans and their errors.
#pragma once

#include "core/devices/device.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

std::string count_of(std::int64_t count, const std::string& noun);  // "1 GPU", "8 GPUs"
// The unit of a micro-batch: "sample", or "row" if a sample has several rows.
std::string row_word(std::int64_t rows_per_sample);
std::string rank_word(const std::vector<Device>& devices);  // "GPU", "CPU rank", or "rank" if mixed
std::string device_label(const Device& device);             // "cuda:0", "cpu:1"
// The rate as a text for messages: "0.001", "6e-05".
std::string rate_text(double rate);

}  // namespace lockstep
