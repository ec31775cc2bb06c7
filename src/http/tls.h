#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "stator/base/mutex.h"
#include "stator/base/result.h"

struct ssl_st;  // OpenSSL's SSL and SSL_CTX, without its headers
struct ssl_ctx_st;

namespace stator::http {

// One client's encryption, on a non-blocking socket.  The handshake is part of the first read or write.  Confined to
// its connection's thread.
class TlsSession {
 public:
  enum class Status : std::uint8_t {
    Done,        // `bytes` of them were transferred
    WantsRead,   // try again when the socket can be read
    WantsWrite,  // try again, with the same bytes, when the socket can be written to
    Ended,       // by the client, in order or not; nothing more is possible
  };
  struct Transfer {
    Status status = Status::Ended;
    std::size_t bytes = 0;
  };

  TlsSession(ssl_ctx_st* context, int socket);  // borrows the socket
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  Transfer read(char* data, std::size_t size);
  Transfer write(const char* data, std::size_t size);
  bool established() const;  // the handshake is over
  // Sends close_notify, so that the client can tell the end from a broken connection.  Best effort.
  void finish();

 private:
  Transfer transferred(int result, std::size_t bytes);

  ssl_st* ssl_;
  bool broken_ = false;
};

// A certificate with its key, from two files in PEM form: TLS 1.3, and 1.2 with ECDHE and AES-GCM or ChaCha20 only.
// The key must not be readable by other users.  Thread-safe.
class TlsContext {
 public:
  // Errors: Usage.
  static Result<std::unique_ptr<TlsContext>> load(std::string certificate_file, std::string key_file);
  ~TlsContext();

  // Reads the files again, for the connections that come from now on.  After an error all stays as it was.  Errors:
  // Usage.
  Result<void> reload();

  std::unique_ptr<TlsSession> accept(int socket) const;

 private:
  struct Free {
    void operator()(ssl_ctx_st* context) const;
  };
  using Context = std::unique_ptr<ssl_ctx_st, Free>;

  TlsContext(std::string certificate_file, std::string key_file, Context context);
  static Result<Context> read(const std::string& certificate_file, const std::string& key_file);

  const std::string certificate_file_, key_file_;

  mutable Mutex mutex_;
  Context context_ GUARDED_BY(mutex_);  // sessions share its ownership
};

}  // namespace stator::http
