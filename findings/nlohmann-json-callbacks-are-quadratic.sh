#!/usr/bin/env bash
# nlohmann/json: parsing with a callback takes time that is quadratic in the number of objects within an object.
#
# Guess: a callback that keeps everything costs a call a value, so that parse() takes time in proportion to the text, with a
# callback and without.
# Seen with nlohmann-json3-dev 3.11.2-2 of Debian 12, g++ -O2: an object with members that are objects themselves, such as the
# header of a safetensors file. Four times the members (4,000, then 16,000) take about 4 times as long without a callback, and
# 16 times or more (seen: 14 to 29) with one that returns true. At the end of each inner object the parser looks through the whole
# outer one for a value that the callback may have discarded. The SAX interface has no such cost.
# Fails if that changes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -o APT::Sandbox::User=root download -qq nlohmann-json3-dev=3.11.2-2
dpkg -x nlohmann-json3-dev_*.deb .
cat >look.cpp <<'CPP'
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

using nlohmann::json;

std::string header(int members) {
  std::string text = "{";
  for (int i = 0; i < members; ++i) text += (i ? "," : "") + ("\"" + std::to_string(i)) + "\":{\"a\":1}";
  return text + "}";
}

double seconds(const std::string& text, const json::parser_callback_t& callback) {
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    const std::clock_t begin = std::clock();
    const json value = json::parse(text, callback);
    best = std::min(best, double(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return best;
}

int main() {
  const auto keep = [](int, json::parse_event_t, json&) { return true; };
  const std::string small = header(4'000), large = header(16'000);
  const double plain = seconds(large, nullptr) / seconds(small, nullptr);
  const double called = seconds(large, keep) / seconds(small, keep);
  std::cout << "four times the members: " << plain << " times as long, with a callback " << called << " times\n";
  return plain < 8 && called > 11 ? 0 : 1;
}
CPP
g++ -O2 -std=c++17 -Iusr/include look.cpp -o look
./look
