#include "stator/http/connection_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace stator::http {
namespace {

namespace ip = boost::asio::ip;

constexpr unsigned kBitsOfIpv6Client = 64;

// An IPv4 client of a socket that takes both kinds comes as ::ffff:10.0.0.7.
ip::address plain(const ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
  return ip::make_address_v4(ip::v4_mapped, address.to_v6());
}

template <std::size_t size>
bool same_bits(const std::array<unsigned char, size>& a, const std::array<unsigned char, size>& b, unsigned bits) {
  const std::size_t whole = bits / 8;
  if (!std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(whole), b.begin())) return false;
  const unsigned rest = bits % 8;
  return rest == 0 || ((a[whole] ^ b[whole]) >> (8 - rest)) == 0;
}

}  // namespace

Result<Network> Network::parse(std::string_view text) {
  const auto wrong = [&] {
    return Error{ErrorCode::Usage, fmt::format("{} is no address and no network such as 10.0.0.0/8", text)};
  };
  const auto slash = text.find('/');
  boost::system::error_code error;
  const auto address = plain(ip::make_address(std::string(text.substr(0, slash)), error));
  if (error) return wrong();
  const unsigned all = address.is_v4() ? 32 : 128;
  unsigned bits = all;
  if (slash != std::string_view::npos) {
    const auto number = text.substr(slash + 1);
    const auto [end, bad] = std::from_chars(number.data(), number.data() + number.size(), bits);
    if (bad != std::errc() || end != number.data() + number.size() || bits > all) return wrong();
  }
  return Network(address, bits);
}

bool Network::contains(const ip::address& address) const {
  const auto other = plain(address);
  if (address_.is_v4() != other.is_v4()) return false;
  return address_.is_v4() ? same_bits(address_.to_v4().to_bytes(), other.to_v4().to_bytes(), bits_)
                          : same_bits(address_.to_v6().to_bytes(), other.to_v6().to_bytes(), bits_);
}

ip::address ConnectionLimits::counted(const ip::address& address) const {
  const auto is_proxy = [&](const Network& proxy) { return proxy.contains(address); };
  if (options_.per_address == SIZE_MAX || plain(address).is_loopback() ||
      std::ranges::any_of(options_.proxies, is_proxy)) {
    return {};
  }
  const auto client = plain(address);
  if (client.is_v4()) return client;
  auto bytes = client.to_v6().to_bytes();
  std::fill(bytes.begin() + kBitsOfIpv6Client / 8, bytes.end(), std::uint8_t{0});
  return ip::address_v6(bytes);
}

std::string_view ConnectionLimits::enter(const ip::address& address) {
  const bool full = open_.fetch_add(1, std::memory_order_relaxed) >= options_.total;
  const auto client = counted(address);
  if (!client.is_unspecified()) {
    MutexLock lock(mutex_);
    if (++by_address_[client] > options_.per_address) return "too many connections from this address";
  }
  return full ? "too many connections" : std::string_view();
}

bool ConnectionLimits::may_refuse() {
  if (refused_.fetch_add(1, std::memory_order_relaxed) < kRefusedAtATime) return true;
  done_refusing();
  return false;
}

void ConnectionLimits::leave(const ip::address& address) {
  open_.fetch_sub(1, std::memory_order_relaxed);
  const auto client = counted(address);
  if (client.is_unspecified()) return;
  MutexLock lock(mutex_);
  const auto found = by_address_.find(client);
  if (found != by_address_.end() && --found->second == 0) by_address_.erase(found);
}

}  // namespace stator::http
