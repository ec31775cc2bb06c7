#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace stator {

// The kind of an Error.  A code exists only if some caller acts on it; everything that only differs
// in its text shares a code.  The api layer maps codes to DynamoDB's exception names.
enum class ErrorCode : std::uint8_t {
  // The client's mistakes, in DynamoDB's words.
  Validation,               // ValidationException
  Serialization,            // SerializationException: the body is not what the operation's shape says
  UnknownOperation,         // UnknownOperationException
  ResourceNotFound,         // ResourceNotFoundException
  ResourceInUse,            // ResourceInUseException
  TableNotFound,            // TableNotFoundException
  LimitExceeded,            // LimitExceededException
  ConditionalCheckFailed,   // ConditionalCheckFailedException
  ItemCollectionSizeLimit,  // ItemCollectionSizeLimitExceededException
  IdempotentMismatch,       // IdempotentParameterMismatchException
  ExpiredIterator,          // ExpiredIteratorException
  TrimmedData,              // TrimmedDataAccessException
  Unsupported,              // a real parameter that Stator refuses rather than ignores

  // Ours.
  Conflict,    // something a commit depends on has changed; the engine retries
  Outdated,    // another process has changed what this one keeps in memory; it is read again, and the engine retries
  Storage,     // the disk or the store failed
  ReadOnly,    // refused because the store failed and has not recovered yet
  Corruption,  // bytes read back are not what was written
  Busy,        // a bound was reached; trying again later can succeed
  Usage,       // a wrong flag, file or environment, told to the person at the terminal
  Internal,    // a bug of ours
};

struct Error {
  ErrorCode code = ErrorCode::Internal;
  std::string message;

  friend bool operator==(const Error&, const Error&) = default;
};

inline Error validation_error(std::string message) { return {ErrorCode::Validation, std::move(message)}; }
inline Error usage_error(std::string message) { return {ErrorCode::Usage, std::move(message)}; }

}  // namespace stator
