// TensorBoard's event files: records in TensorFlow's framing. Each record is a protocol buffer.
//
// Framing: tensorflow/core/lib/io/record_writer.h (length, masked CRC32C of the length, bytes,
// masked CRC32C of the bytes). Messages: Event, Summary and SessionLog of
// tensorflow/core/util/event.proto and framework/summary.proto.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace lockstep {

// The value may be NaN.
using TensorboardScalar = std::pair<std::string, double>;  // tag, value

// Each of these functions returns one framed record. time: unix seconds. step: the position on
// TensorBoard's axis.
std::string tensorboard_version(double time);  // the first record of every file
// Invalidates the values of this step and later steps in earlier files.
std::string tensorboard_restart(double time, std::int64_t step);
// Marks that the run trained until this time and step. Readers of scalars skip this record.
std::string tensorboard_stop(double time, std::int64_t step);
std::string tensorboard_scalars(double time, std::int64_t step,
                                std::span<const TensorboardScalar> scalars);

}  // namespace lockstep
