#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <string_view>

// Helpers of all commands.
namespace stator::cli {

// Exit statuses.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kWrongArguments = 2;

// Says why on standard error, in one line, and hands the status back.
int fail(int status, std::string_view message);

// A command whose help is `help`, word for word.  Words that it does not know are kept for objection_to_rest().
CLI::App* add_command(CLI::App& app, const std::string& name, std::string help);

// The message about words that a command did not understand; empty if there are none.
std::string objection_to_rest(const CLI::App& command, std::span<const std::string_view> flags);

}  // namespace stator::cli
