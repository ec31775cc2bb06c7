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
  Serialization,            // SerializationException: the body does not have the operation's shape
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
  Outdated,    // another process changed data that this one keeps in memory; the engine reads it again and retries
  Storage,     // the disk or the store failed
  ReadOnly,    // refused because the store failed and has not recovered yet
  Corruption,  // bytes read back differ from the bytes written
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
