#include "stator/storage/postgres/server_address.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <future>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>

#include "stator/storage/postgres/postgres_store.h"

namespace stator::storage::postgres {
namespace {

constexpr std::size_t kMostServers = 16;
constexpr std::chrono::seconds kLongestConnect{60};

using Values = std::vector<std::pair<std::string, std::string>>;

// libpq repeats the parts of an address that it does not understand, and those can be a password.
std::string without_quotations(std::string_view text) {
  std::string kept;
  bool quoted = false;
  for (const char each : text) {
    if (each == '"') quoted = !quoted;
    if (!quoted && each != '"') kept += each;
    if (quoted && each == '"') kept += "...";
  }
  return kept;
}

Values values_of(const Libpq& libpq, PQconninfoOption* options) {
  Values values;
  for (const auto* option = options; option != nullptr && option->keyword != nullptr; ++option) {
    if (option->val != nullptr) values.emplace_back(option->keyword, option->val);
  }
  libpq.PQconninfoFree(options);
  return values;
}

Result<Values> parsed_url(const Libpq& libpq, const std::string& url) {
  char* error = nullptr;
  PQconninfoOption* parsed = libpq.PQconninfoParse(url.c_str(), &error);
  if (parsed != nullptr) return values_of(libpq, parsed);
  auto why = without_quotations(error == nullptr ? "no memory" : error);
  if (error != nullptr) libpq.PQfreemem(error);
  while (!why.empty() && (why.back() == '\n' || why.back() == ' ')) why.pop_back();
  std::ranges::replace(why, '\n', ' ');
  return usage_error(fmt::format("the address of the store cannot be read: {}", why));
}

std::optional<std::string> value_of(const Values& values, std::string_view keyword) {
  const auto found = std::ranges::find(values, keyword, &Values::value_type::first);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

void add_default(Values& values, std::string keyword, std::string value) {
  if (!value_of(values, keyword)) values.emplace_back(std::move(keyword), std::move(value));
}

std::vector<std::string> list_of(const std::string& text) {
  std::vector<std::string> list(1);
  for (const char each : text) {
    if (each == ',') {
      list.emplace_back();
    } else {
      list.back() += each;
    }
  }
  return list;
}

// As libpq finds them.  Empty: none.
std::vector<std::string> addresses_of(const std::string& name, int flags = 0) {
  const addrinfo wanted{.ai_flags = flags,
                        .ai_family = AF_UNSPEC,
                        .ai_socktype = SOCK_STREAM,
                        .ai_protocol = 0,
                        .ai_addrlen = 0,
                        .ai_addr = nullptr,
                        .ai_canonname = nullptr,
                        .ai_next = nullptr};
  addrinfo* first = nullptr;
  if (::getaddrinfo(name.c_str(), nullptr, &wanted, &first) != 0) return {};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> found(first, &::freeaddrinfo);
  std::vector<std::string> addresses;
  for (const auto* each = first; each != nullptr; each = each->ai_next) {
    char text[NI_MAXHOST] = {};
    if (::getnameinfo(each->ai_addr, each->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) continue;
    if (std::ranges::find(addresses, text) == addresses.end()) addresses.emplace_back(text);
  }
  return addresses;
}

using FutureAddresses = std::future<std::vector<std::string>>;

// The system can wait for name servers for minutes, and does not let go before that.  So this is done by a thread that
// nobody waits for in the end.
FutureAddresses look_up(const std::string& name) {
  if (auto numeric = addresses_of(name, AI_NUMERICHOST); !numeric.empty()) {
    std::promise<std::vector<std::string>> known;
    known.set_value(std::move(numeric));
    return known.get_future();
  }
  std::packaged_task<std::vector<std::string>()> task([name] { return addresses_of(name); });
  auto found = task.get_future();
  try {
    std::thread(std::move(task)).detach();
  } catch (const std::system_error&) {
    return std::async(std::launch::deferred, [] { return std::vector<std::string>(); });  // no thread, no address
  }
  return found;
}

// The parameters of a service that a URL names.  libpq reads them only when it connects. Here it refuses to connect
// because of the mode of TLS, before it looks at anything else.
Values values_of_service(const Libpq& libpq, const std::string& service) {
  const char* const keywords[] = {"service", "sslmode", nullptr};
  const char* const values[] = {service.c_str(), "none of them", nullptr};
  auto* const connection = libpq.PQconnectStartParams(keywords, values, 0);
  if (connection == nullptr) return {};
  auto found = values_of(libpq, libpq.PQconninfo(connection));
  libpq.PQfinish(connection);
  return found;
}

bool is_port(std::string_view text) {
  return std::ranges::all_of(text, [](char each) { return each >= '0' && each <= '9'; });
}

// Something that cannot be a part of a password that libpq took for something else.
bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char each) {
    return std::isalnum(each) != 0 || std::string_view("._-:").find(static_cast<char>(each)) != std::string_view::npos;
  });
}

// A folder of sockets, or an abstract socket, or libpq's default.
bool is_socket(const std::string& host) { return host.empty() || host.front() == '/' || host.front() == '@'; }

}  // namespace

Result<ServerAddress> read_address(const Libpq& libpq, const std::string& url) {
  auto values = TRY(parsed_url(libpq, url));
  const auto service = value_of(values, "service");
  const auto given = service ? values_of_service(libpq, *service) : values_of(libpq, libpq.PQconndefaults());
  for (const char* keyword : {"host", "hostaddr", "port"}) {
    if (const auto value = value_of(given, keyword)) add_default(values, keyword, *value);
  }
  add_default(values, "connect_timeout", "5");
  add_default(values, "fallback_application_name", "stator");
  add_default(values, "target_session_attrs", "read-write");  // of several hosts, the one that is the primary now
  // The other machine can vanish without a word.  An idle connection to it ends within ten seconds, and one that has
  // sent something, too: so its next user has a new one.
  add_default(values, "keepalives_idle", "4");
  add_default(values, "keepalives_interval", "2");
  add_default(values, "keepalives_count", "3");
  add_default(values, "tcp_user_timeout", "10000");

  ServerAddress address;
  const auto limit = *value_of(values, "connect_timeout");
  int seconds = 0;
  std::from_chars(limit.data(), limit.data() + limit.size(), seconds);
  address.connect_within = seconds > 0 ? std::max(std::chrono::seconds(seconds), std::chrono::seconds(2))  // as libpq
                                       : kLongestConnect;

  const auto hosts = list_of(value_of(values, "host").value_or(""));
  const auto host_addresses = list_of(value_of(values, "hostaddr").value_or(""));
  const auto ports = list_of(value_of(values, "port").value_or(""));
  const bool has_addresses = host_addresses.size() > 1 || !host_addresses.front().empty();
  const auto count = has_addresses ? host_addresses.size() : hosts.size();
  const bool has_hosts = hosts.size() > 1 || !hosts.front().empty();
  if ((has_addresses && has_hosts && hosts.size() != count) || (ports.size() != 1 && ports.size() != count)) {
    return usage_error("the address of the store cannot be read: it has not as many ports or addresses as hosts");
  }
  // libpq divides an address at characters that were meant as a part of the password, and repeats what it then takes
  // for a host or a port.
  const auto has_part_of_password = [](const std::string& host) {
    return !is_socket(host) && host.find('@') != std::string::npos;
  };
  if (!std::ranges::all_of(ports, is_port) || std::ranges::any_of(hosts, has_part_of_password)) {
    return usage_error(
        "the address of the store cannot be read: its host or port is not valid; in a password, characters such as "
        "/ ? @ : are written as %2F %3F %40 %3A");
  }
  std::erase_if(values, [](const auto& each) {
    return each.first == "host" || each.first == "hostaddr" || each.first == "port";
  });
  const auto looks_up = [&](std::size_t i) {
    const bool has_address = has_addresses && !host_addresses[i].empty();
    return !has_address && !is_socket(has_hosts ? hosts[i] : hosts.front());
  };
  std::vector<FutureAddresses> names(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (looks_up(i)) names[i] = look_up(hosts[i]);
  }
  const auto deadline = std::chrono::steady_clock::now() + address.connect_within;
  std::vector<std::string> unknown;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& host = has_hosts ? hosts[i] : hosts.front();
    const auto& port = ports.size() == 1 ? ports.front() : ports[i];
    std::vector<std::string> addresses;
    if (looks_up(i)) {
      if (names[i].wait_until(deadline) != std::future_status::timeout) addresses = names[i].get();
      if (addresses.empty()) unknown.push_back(host);
    } else {
      addresses = {has_addresses ? host_addresses[i] : ""};
    }
    for (const auto& each : addresses) {
      if (address.servers.size() == kMostServers) break;
      auto& server = address.servers.emplace_back();
      server.values = values;
      if (!host.empty()) server.values.emplace_back("host", host);
      if (!each.empty()) server.values.emplace_back("hostaddr", each);
      if (!port.empty()) server.values.emplace_back("port", port);
      server.place = fmt::format("{} {} {}", host, each, port);
    }
  }
  if (address.servers.empty()) {
    return Error{ErrorCode::Storage, fmt::format("cannot connect to PostgreSQL: there is no address for the name {}",
                                                 fmt::join(unknown, ", "))};
  }
  return address;
}

std::string described_url(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == std::string_view::npos)
    return std::string(url.find_first_of("=@") == std::string_view::npos ? url : "...");
  const auto hidden = std::string(url.substr(0, scheme)) + "://...";
  if (!is_postgres_url(url)) return hidden;
  const auto libpq = Libpq::load();
  if (!libpq) return hidden;
  const auto values = parsed_url(**libpq, std::string(url));
  if (!values) return hidden;
  auto host = value_of(*values, "host").value_or(value_of(*values, "hostaddr").value_or(""));
  // A password with an @ in it ends at the first one for libpq.
  if (const auto at = host.rfind('@'); at != std::string::npos) host.erase(0, at + 1);
  const auto database = value_of(*values, "dbname").value_or("");
  std::string text(url.substr(0, scheme + 3));
  const auto hosts = list_of(host);
  const auto ports = list_of(value_of(*values, "port").value_or(""));
  if (!std::ranges::all_of(ports, is_port) || !is_plain(database)) return hidden;
  for (std::size_t i = 0; i < hosts.size() && !std::ranges::any_of(hosts, is_socket); ++i) {
    if (!is_plain(hosts[i])) return hidden;
    const bool is_ipv6 = hosts[i].find(':') != std::string::npos;
    text += fmt::format("{}{}", i == 0 ? "" : ",", is_ipv6 ? fmt::format("[{}]", hosts[i]) : hosts[i]);
    const auto& port = ports.size() == 1 ? ports.front() : i < ports.size() ? ports[i] : "";
    if (!port.empty()) text += ":" + port;
  }
  return database.empty() ? text : text + "/" + database;
}

std::string url_without_passwords(std::string_view url) {
  if (auto described = described_url(url); described.ends_with("...")) return described;
  static constexpr std::string_view kHidden = "***";
  std::string text(url);
  const auto begin = text.find("://") + 3;
  // A password with an @ in it ends at the last one.
  const auto at = text.substr(0, text.find('/', begin)).rfind('@');
  const auto colon = text.find(':', begin);
  if (at != std::string::npos && colon < at) text.replace(colon + 1, at - colon - 1, kHidden);
  const auto query = text.find('?', begin);
  if (query == std::string::npos) return text;
  auto shown = text.substr(0, query);
  for (auto from = query; from < text.size();) {
    const auto to = std::min(text.find('&', from + 1), text.size());
    const auto part = text.substr(from, to - from);
    const auto name = part.substr(0, part.find('='));
    // Any letter of the name can be written as %XX.
    const bool is_secret = std::ranges::any_of(std::array{"password", "secret", "scram", "%"},
                                               [&](const char* word) { return name.find(word) != std::string::npos; });
    shown += is_secret && name.size() < part.size() ? fmt::format("{}={}", name, kHidden) : part;
    from = to;
  }
  return shown;
}

}  // namespace stator::storage::postgres
