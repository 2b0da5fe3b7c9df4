#include "live_cells.hpp"

#include <exception>
#include <utility>

#include "xleak/monitor/session.hpp"

namespace xleak::kernel {
namespace {

namespace nl = nlohmann;

nl::json bytes(const std::optional<std::int64_t>& known) {
  return known ? nl::json(*known) : nl::json(nullptr);
}

nl::json shape(const std::vector<monitor::DeviceReading>& devices) {
  nl::json rows = nl::json::array();
  for (const monitor::DeviceReading& it : devices) {
    rows.push_back({{"device", it.device},
                    {"allocated_bytes", bytes(it.allocated_bytes)},
                    {"reserved_bytes", bytes(it.reserved_bytes)}});
  }
  return rows;
}

nl::json message(const monitor::LiveCell& cell) {
  return {{"kind", "live"},
          {"index", cell.index},
          {"cell_id", cell.cell_id ? nl::json(*cell.cell_id) : nl::json(nullptr)},
          {"seconds", cell.seconds},
          {"resident_before_bytes", cell.resident_before_bytes},
          {"resident_bytes", cell.resident_bytes},
          {"devices", shape(cell.devices)}};
}

nl::json message(const monitor::GuardNote& note) {
  return {{"kind", "guard"},
          {"device", note.reading.device},
          {"level", monitor::name_of(note.level)},
          {"used_bytes", note.reading.used_bytes},
          {"limit_bytes", note.reading.limit_bytes},
          {"limit", monitor::name_of(note.reading.limit)},
          {"index", note.index != 0 ? nl::json(note.index) : nl::json(nullptr)},
          {"grown_bytes", bytes(note.grown_bytes)},
          {"sentence", note.sentence}};
}

}  // namespace

void tell_live_cells(Server& server, std::vector<std::string> comm_ids) {
  auto& session = monitor::Session::instance();
  if (comm_ids.empty()) {
    session.follow(nullptr);
    session.guard().tell_by(nullptr);
    return;
  }
  const auto send = [&server, ids = std::move(comm_ids)](const auto& told) {
    try {
      for (const std::string& id : ids) {
        server.publish_beside("comm_msg", {{"comm_id", id}, {"data", message(told)}});
      }
    } catch (const std::exception&) {
      return;  // The next one may be sent.
    }
  };
  session.follow(send);
  session.guard().tell_by(send);
}

}  // namespace xleak::kernel
