#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <functional>
#include <optional>
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

// A command with exactly this help text.  Words that it does not know are kept for objection_to_rest().
CLI::App* add_command(CLI::App& app, const std::string& name, std::string help);
// The same with a help that is made when it is asked for.
CLI::App* add_command(CLI::App& app, const std::string& name, std::function<std::string()> help);

// "model check"; empty for the program itself.
std::string path_of(const CLI::App& command);

// The value of an option ("--data") or an operand ("FILE") of a command, if it was given.
std::optional<std::string> option(const CLI::App& command, const std::string& name);

// A whole number from 1 on; nullopt when the text is none.
std::optional<std::size_t> positive_number(std::string_view text);

// The message about words that a command did not understand; empty if there are none.
std::string objection_to_rest(const CLI::App& command);

// The message about an unknown `word` in the place of a command's command: "key has no command ad; did you mean add?"
std::string no_such_command(const CLI::App& command, const std::string& word);

}  // namespace stator::cli
