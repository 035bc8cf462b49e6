// The error message of an exception, for people. ATen's messages contain twenty C++ frames, in
// which the message is hard to find.
#pragma once

#include <exception>
#include <string>

namespace lockstep {

std::string message_of(const std::exception& error);  // the message without frames
std::string first_line_of(const std::exception& error);
// Advice on a message of torch that users' own models often cause; "" for other messages.
std::string advice_on(const std::string& message);
// The C++ frames in which the exception was thrown; "" if it does not contain them.
std::string frames_of(const std::exception& error);

}  // namespace lockstep
