// Reads and checks the variables of the environment and the file of hosts.
#include "mlx/distributed/ring/environment.h"

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "mlx/distributed/ring/failure.h"

namespace mlx::core::distributed::ring {

namespace {

using Json = nlohmann::json;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// Returns a number of the whole text, or -1.
int number(const std::string& text) {
  int value = -1;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stopped == end && value >= 0 ? value : -1;
}

// "host:port", where an address of IPv6 is in brackets.
Address address(const std::string& text, const std::string& path) {
  const size_t colon = text.rfind(':');
  if (colon != std::string::npos && colon > 0) {
    std::string host = text.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
      host = host.substr(1, host.size() - 2);
    }
    const int port = number(text.substr(colon + 1));
    if (port > 0 && port < 65536) return {host, std::to_string(port)};
  }
  fail("The file of hosts " + path + " has \"" + text +
       "\" where an address \"host:port\" is needed, with a port from 1 to 65535.");
}

std::vector<Address> addresses(const Json& process, const std::string& path) {
  std::vector<Address> all;
  for (const Json& text : process) {
    if (!text.is_string()) break;
    all.push_back(address(text.get<std::string>(), path));
  }
  if (!process.is_array() || all.empty() || all.size() != process.size()) {
    fail("The file of hosts " + path + " has " + process.dump() +
         " where a list of addresses such as [\"127.0.0.1:32323\"] is needed.");
  }
  return all;
}

std::chrono::seconds time_limit() {
  constexpr std::chrono::seconds kDefault{60};
  const std::string text = variable("MLX_RING_TIMEOUT");
  if (text.empty()) return kDefault;
  const int seconds = number(text);
  if (seconds < 0) {
    fail("MLX_RING_TIMEOUT must be a number of seconds, not \"" + text + "\".");
  }
  return std::chrono::seconds(seconds);
}

std::vector<std::vector<Address>> read_hosts(const std::string& path) {
  std::ifstream file(path);
  if (!file) fail("The file of hosts " + path + " (MLX_HOSTFILE) cannot be read.");
  const Json json = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!json.is_array() || json.empty()) {
    fail("The file of hosts " + path +
         " (MLX_HOSTFILE) must be JSON: a list with a list of addresses for each process.");
  }
  std::vector<std::vector<Address>> hosts;
  for (const Json& process : json) hosts.push_back(addresses(process, path));
  return hosts;
}

}  // namespace

std::optional<Environment> environment(bool required) {
  const std::string rank = variable("MLX_RANK"), file = variable("MLX_HOSTFILE");
  if (rank.empty() || file.empty()) {
    if (!required) return std::nullopt;
    fail(
        "A ring needs the variables MLX_RANK and MLX_HOSTFILE of the environment, which "
        "mlx.launch sets: there are MLX_RANK=\"" +
        rank + "\" and MLX_HOSTFILE=\"" + file + "\".");
  }
  auto hosts = read_hosts(file);
  const int value = number(rank);
  if (value < 0 || static_cast<size_t>(value) >= hosts.size()) {
    fail("MLX_RANK is \"" + rank + "\", but the file of hosts " + file + " has ranks from 0 to " +
         std::to_string(hosts.size() - 1) + ".");
  }
  const std::string verbose = variable("MLX_RING_VERBOSE");
  return Environment{value, std::move(hosts), !verbose.empty() && verbose != "0", time_limit()};
}

}  // namespace mlx::core::distributed::ring
