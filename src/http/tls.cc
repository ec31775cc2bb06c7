#include "stator/http/tls.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "stator/base/assert.h"

namespace stator::http {
namespace {

// The library's own socket BIO writes without MSG_NOSIGNAL, and a client that has gone would then be a reason to die.

int socket_of(BIO* bio) { return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio))); }

int send_bytes(BIO* bio, const char* data, int size) {
  BIO_clear_retry_flags(bio);
  const auto sent = ::send(socket_of(bio), data, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

int receive_bytes(BIO* bio, char* data, int size) {
  BIO_clear_retry_flags(bio);
  const auto received = ::recv(socket_of(bio), data, static_cast<std::size_t>(size), 0);
  if (received < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
  return static_cast<int>(received);
}

long control(BIO* /*bio*/, int command, long /*number*/, void* /*data*/) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

BIO* socket_bio(int socket) {
  static BIO_METHOD* const method = [] {
    auto* made = BIO_meth_new(BIO_TYPE_DESCRIPTOR | BIO_get_new_index(), "stator socket");
    STATOR_ASSERT(made != nullptr, "a program that starts has memory");
    BIO_meth_set_write(made, send_bytes);
    BIO_meth_set_read(made, receive_bytes);
    BIO_meth_set_ctrl(made, control);
    return made;
  }();
  auto* bio = BIO_new(method);
  STATOR_ASSERT(bio != nullptr, "memory that runs out ends the process");
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(socket)));
  BIO_set_init(bio, 1);
  return bio;
}

// Nobody is there to type one.
int no_passphrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*data*/) { return -1; }

// With the reason of the system call that just failed.
Error unreadable(const std::string& file) {
  return usage_error(fmt::format("{}: cannot be read: {}", file, std::generic_category().message(errno)));
}

// A key that other users can read is not private.  One of our own is for us alone; one that belongs to somebody else,
// such as root, may be given to us by its group.
Result<void> check_private(const std::string& key_file) {
  struct stat status{};
  if (::stat(key_file.c_str(), &status) != 0) return unreadable(key_file);
  const bool ours = status.st_uid == ::geteuid();
  if ((status.st_mode & (ours ? 077U : 037U)) != 0) {
    return usage_error(fmt::format("{}: can be read or written by other users of this machine: chmod {} {}", key_file,
                                   ours ? "600" : "640", key_file));
  }
  return {};
}

}  // namespace

TlsSession::TlsSession(ssl_ctx_st* context, int socket) : ssl_(SSL_new(context)) {
  STATOR_ASSERT(ssl_ != nullptr, "memory that runs out ends the process");
  auto* bio = socket_bio(socket);
  SSL_set_bio(ssl_, bio, bio);  // takes it over
  SSL_set_accept_state(ssl_);
}

TlsSession::~TlsSession() { SSL_free(ssl_); }

TlsSession::Transfer TlsSession::read(char* data, std::size_t size) {
  std::size_t bytes = 0;
  ERR_clear_error();
  const int result = SSL_read_ex(ssl_, data, size, &bytes);
  return transferred(result, bytes);
}

TlsSession::Transfer TlsSession::write(const char* data, std::size_t size) {
  std::size_t bytes = 0;
  ERR_clear_error();
  const int result = SSL_write_ex(ssl_, data, size, &bytes);
  return transferred(result, bytes);
}

TlsSession::Transfer TlsSession::transferred(int result, std::size_t bytes) {
  if (result == 1) return {.status = Status::Done, .bytes = bytes};
  switch (SSL_get_error(ssl_, result)) {
    case SSL_ERROR_WANT_READ: return {.status = Status::WantsRead};
    case SSL_ERROR_WANT_WRITE: return {.status = Status::WantsWrite};
    case SSL_ERROR_ZERO_RETURN: return {.status = Status::Ended};
    default: break;
  }
  broken_ = true;
  return {.status = Status::Ended};
}

bool TlsSession::established() const { return SSL_is_init_finished(ssl_) == 1; }

void TlsSession::finish() {
  if (broken_ || !established()) return;
  ERR_clear_error();
  SSL_shutdown(ssl_);
  ERR_clear_error();
}

void TlsContext::Free::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }

TlsContext::TlsContext(std::string certificate_file, std::string key_file, Context context)
    : certificate_file_(std::move(certificate_file)), key_file_(std::move(key_file)), context_(std::move(context)) {}

TlsContext::~TlsContext() = default;

Result<std::unique_ptr<TlsContext>> TlsContext::load(std::string certificate_file, std::string key_file) {
  auto context = TRY(read(certificate_file, key_file));
  return std::unique_ptr<TlsContext>(
      new TlsContext(std::move(certificate_file), std::move(key_file), std::move(context)));
}

Result<void> TlsContext::reload() {
  auto context = TRY(read(certificate_file_, key_file_));
  MutexLock lock(mutex_);
  context_ = std::move(context);
  return {};
}

std::unique_ptr<TlsSession> TlsContext::accept(int socket) const {
  MutexLock lock(mutex_);
  return std::make_unique<TlsSession>(context_.get(), socket);
}

Result<TlsContext::Context> TlsContext::read(const std::string& certificate_file, const std::string& key_file) {
  for (const auto& file : {certificate_file, key_file}) {
    if (::access(file.c_str(), R_OK) != 0) return unreadable(file);
  }
  TRY(check_private(key_file));
  Context context(SSL_CTX_new(TLS_server_method()));
  STATOR_ASSERT(context != nullptr, "the library has TLS");
  auto* const raw = context.get();
  SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
  // Of TLS 1.2, what 1.3 has as well: keys that are gone after the session, and ciphers that detect changes by
  // themselves.
  const bool has_ciphers = SSL_CTX_set_cipher_list(raw, "ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL") == 1;
  STATOR_ASSERT(has_ciphers, "the library has AES-GCM");
  SSL_CTX_set_options(raw, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                               SSL_OP_IGNORE_UNEXPECTED_EOF);
  // A record at a time, from wherever the bytes are by then; an idle connection keeps no buffers.
  SSL_CTX_set_mode(raw, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);  // clients resume with tickets, which cost us no memory
  SSL_CTX_set_default_passwd_cb(raw, no_passphrase);
  ERR_clear_error();
  if (SSL_CTX_use_certificate_chain_file(raw, certificate_file.c_str()) != 1) {
    return usage_error(fmt::format("{}: is not a certificate in PEM form", certificate_file));
  }
  if (SSL_CTX_use_PrivateKey_file(raw, key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    const bool other = ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_VALUES_MISMATCH;
    return usage_error(other ? fmt::format("{}: is not the key of the certificate in {}", key_file, certificate_file)
                             : fmt::format("{}: is not a private key in PEM form without a passphrase", key_file));
  }
  if (SSL_CTX_check_private_key(raw) != 1) {
    return usage_error(fmt::format("{}: is not the key of the certificate in {}", key_file, certificate_file));
  }
  return context;
}

}  // namespace stator::http
