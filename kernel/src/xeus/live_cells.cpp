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

}  // namespace

void tell_live_cells(Server& server, std::vector<std::string> comm_ids) {
  if (comm_ids.empty()) return monitor::Session::instance().follow(nullptr);
  monitor::Session::instance().follow(
      [&server, ids = std::move(comm_ids)](const monitor::LiveCell& cell) {
        try {
          for (const std::string& id : ids) {
            server.publish_beside("comm_msg", {{"comm_id", id}, {"data", message(cell)}});
          }
        } catch (const std::exception&) {
          return;  // The next one may be sent.
        }
      });
}

}  // namespace xleak::kernel
