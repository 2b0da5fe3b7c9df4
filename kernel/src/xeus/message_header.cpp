#include "message_header.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <ctime>

#include "xeus/xmessage.hpp"

namespace xleak::kernel {

nlohmann::json message_header(const std::string& type, const std::string& session) {
  static std::atomic<unsigned long> sent{0};
  return {{"msg_id", session + "_" + std::to_string(++sent)},
          {"username", "kernel"},
          {"session", session},
          {"date", iso8601_now()},
          {"msg_type", type},
          {"version", xeus::get_protocol_version()}};
}

std::string iso8601_now() {
  timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  std::tm parts;
  ::gmtime_r(&now.tv_sec, &parts);
  std::array<char, 40> text;
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%06ldZ",
                parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min,
                parts.tm_sec, now.tv_nsec / 1000);
  return text.data();
}

}  // namespace xleak::kernel
