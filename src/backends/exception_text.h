// The error message of an exception, for people: ATen's carry twenty C++ frames that hide it.
#pragma once

#include <exception>
#include <string>

namespace lockstep {

std::string message_of(const std::exception& error);  // without frames
std::string first_line_of(const std::exception& error);
// Advice on a message of torch's that people meet with models of their own; "" for others.
std::string advice_on(const std::string& message);
// Where in C++ it was thrown; "" if it does not know.
std::string frames_of(const std::exception& error);

}  // namespace lockstep
