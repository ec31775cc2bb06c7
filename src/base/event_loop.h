#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "stator/base/unique_function.h"

namespace stator {

// The part of an event loop that others may use, to wait for something without a thread.  Confined to the loop's
// thread.
class EventLoop {
 public:
  enum class Ready : std::uint8_t { ToRead, ToWrite };
  // Waits for an open descriptor.  Destroy it before the descriptor is closed.
  class Watch {
   public:
    virtual ~Watch() = default;
    // The function of the watch is called once for each, when bytes can be read, or written, or the descriptor has an
    // error.
    virtual void wait_to_read() = 0;
    virtual void wait_to_write() = 0;
  };

  // Something that belongs to the loop, and ends with it.
  class Attachment {
   public:
    virtual ~Attachment() = default;
    virtual void on_tick() {}  // about once a second
  };

  virtual ~EventLoop() = default;

  virtual std::unique_ptr<Watch> watch(int descriptor, std::function<void(Ready)> ready) = 0;
  // Calls the function later, when the events that are there have been handled.  Not if the loop ends before.
  virtual void defer(UniqueFunction<void()> function) = 0;

  // At most one, for the owner of the loop.
  Attachment* attachment() const { return attachment_.get(); }
  void attach(std::unique_ptr<Attachment> attachment) { attachment_ = std::move(attachment); }

 private:
  std::unique_ptr<Attachment> attachment_;
};

}  // namespace stator
