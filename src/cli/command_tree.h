#pragma once

#include <string>
#include <string_view>
#include <vector>

// Every command with its options and its help, from which man pages and completions are made.
namespace stator::cli {

struct CommandOption {
  std::string flag;         // "--log-level"
  std::string placeholder;  // "LEVEL", or the choices "a|b"; empty for a switch
  std::string help;         // without line breaks; empty where the help text has none
  bool takes_value = false;
};

struct CommandTree {
  std::string name;                    // "check"
  std::string path;                    // "model check"; empty for the program itself
  std::string summary;                 // one line, without a full stop
  std::string help;                    // the output of --help
  std::vector<CommandOption> options;  // of the command, --help among them
  std::vector<std::string> operands;   // "FILE"
  std::vector<std::string> words;      // the possible operands, if they are known
  std::vector<CommandTree> commands;

  // The command of that path, or null.
  const CommandTree* find(std::string_view wanted) const;
};

// The parts of a help text.
std::vector<std::string_view> lines_of(std::string_view text);
// "--name NAME" of the line "  --name NAME, --email ADDRESS".
struct OptionUsage {
  std::string_view flag, placeholder;
};
std::vector<OptionUsage> option_usages(std::string_view line);
// "check" and its description, of the line "  check      Prove that the design is sound".
struct HelpEntry {
  std::string_view word, text;
};
HelpEntry help_entry(std::string_view line);

// Fills in summaries of commands, and placeholders and help of options, from the output of --help.
void read_help(CommandTree& tree);

// The commands that have a help text of their own, the program itself first; `key add` shares that of `key`.
std::vector<const CommandTree*> with_own_help(const CommandTree& tree);

}  // namespace stator::cli
