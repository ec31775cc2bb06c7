#include "stator/cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace stator::cli {
namespace {

// The possible values of an option or an operand.
struct Values {
  bool files = false, folders = false;
  std::vector<std::string> words;
};

Values values_of(const std::string& placeholder) {
  Values values;
  if (placeholder.find("FOLDER") != std::string::npos) {
    values.folders = true;
  } else if (placeholder.find("FILE") != std::string::npos || placeholder == "OLD" || placeholder == "NEW") {
    values.files = true;
  } else if (placeholder.find('|') != std::string::npos) {
    for (std::size_t begin = 0; begin <= placeholder.size();) {
      const auto end = std::min(placeholder.find('|', begin), placeholder.size());
      values.words.push_back(placeholder.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return values;
}

Values operands_of(const CommandTree& command) {
  Values values;
  for (const auto& operand : command.operands) {
    const auto one = values_of(operand);
    values.files = values.files || one.files;
    values.folders = values.folders || one.folders;
  }
  values.words = command.words;
  return values;
}

// The first sentence, for a menu.
std::string sentence(const std::string& help) {
  auto end = help.find(".  ");
  if (end == std::string::npos) end = help.ends_with('.') ? help.size() - 1 : help.size();
  return help.substr(0, end);
}

std::string escaped(std::string_view text, std::string_view characters) {
  std::string result;
  for (const char c : text) {
    if (characters.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

// In single quotes, for sh and zsh.
std::string shell_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  return result + "'";
}

void collect_all(const CommandTree& tree, std::vector<const CommandTree*>& found) {
  found.push_back(&tree);
  for (const auto& command : tree.commands) collect_all(command, found);
}

std::vector<const CommandTree*> every_command(const CommandTree& program) {
  std::vector<const CommandTree*> found;
  collect_all(program, found);
  return found;
}

// "model" of "model check"; empty for a command of the program itself.
std::string parent_of(const CommandTree& command) {
  return command.path.size() == command.name.size()
             ? std::string()
             : command.path.substr(0, command.path.size() - command.name.size() - 1);
}

std::string bash(const CommandTree& program) {
  std::string steps, offers, values;
  for (const auto* command : every_command(program)) {
    if (!command->path.empty()) {
      steps += fmt::format("      {}) path={} ;;\n", shell_quoted(parent_of(*command) + "/" + command->name),
                           shell_quoted(command->path));
    }
    std::vector<std::string> words;
    for (const auto& sub : command->commands) words.push_back(sub.name);
    const auto operands = operands_of(*command);
    words.insert(words.end(), operands.words.begin(), operands.words.end());
    std::vector<std::string> flags;
    for (const auto& option : command->options) flags.push_back(option.flag);
    offers += fmt::format("    {})\n      words={} flags={}{}{} ;;\n", shell_quoted(command->path),
                          shell_quoted(fmt::format("{}", fmt::join(words, " "))),
                          shell_quoted(fmt::format("{}", fmt::join(flags, " "))), operands.files ? " files=1" : "",
                          operands.folders ? " folders=1" : "");
    for (const auto& option : command->options) {
      if (!option.takes_value) continue;
      const auto one = values_of(option.placeholder);
      values += fmt::format(
          "    {}) words={} flags='' files={} folders={} ;;\n", shell_quoted(command->path + " " + option.flag),
          shell_quoted(fmt::format("{}", fmt::join(one.words, " "))), one.files ? "1" : "''", one.folders ? "1" : "''");
    }
  }
  return fmt::format(
      R"(# Completion of stator for bash, made by `stator completion bash`.
_stator() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}
  local path='' words='' flags='' files='' folders='' i
  # --flag=value comes as three words.
  [[ $current == '=' ]] && current=''
  [[ $previous == '=' ]] && previous=${{COMP_WORDS[COMP_CWORD - 2]}}
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path/${{COMP_WORDS[i]}}" in
{}    esac
  done
  case "$path" in
{}  esac
  case "$path $previous" in
{}  esac
  COMPREPLY=()
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$current")
    return
  fi
  [[ $words || $flags ]] && mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  if [[ $files || $folders ]]; then
    local found
    if [[ $files ]]; then
      mapfile -t found < <(compgen -f -- "$current")
    else
      mapfile -t found < <(compgen -d -- "$current")
    fi
    COMPREPLY+=("${{found[@]}}")
    compopt -o filenames 2>/dev/null
  fi
}}
complete -F _stator stator
)",
      steps, offers, values);
}

std::string zsh_values(const Values& values) {
  if (!values.words.empty()) return fmt::format("({})", fmt::join(values.words, " "));
  if (values.folders) return "_files -/";
  if (values.files) return "_files";
  return " ";
}

std::string zsh_function(const CommandTree& command) {
  auto name = "_stator" + (command.path.empty() ? "" : "_" + command.path);
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

std::string zsh(const CommandTree& program) {
  std::string text = "#compdef stator\n# Completion of stator for zsh, made by `stator completion zsh`.\n\n";
  for (const auto* command : every_command(program)) {
    if (const auto operands = operands_of(*command); operands.files && !operands.words.empty()) {
      text += fmt::format("{}_operands() {{\n  _alternative {} 'files:file:_files'\n}}\n\n", zsh_function(*command),
                          shell_quoted(fmt::format("names:name:({})", fmt::join(operands.words, " "))));
    }
    text += fmt::format("{}() {{\n", zsh_function(*command));
    if (!command->commands.empty()) {
      text += "  local -a commands=(\n";
      for (const auto& sub : command->commands) {
        text += fmt::format("    {}\n", shell_quoted(sub.name + ":" + escaped(sub.summary, ":")));
      }
      text += "  )\n  local curcontext=$curcontext state line\n";
    }
    text += command->commands.empty() ? "  _arguments" : "  _arguments -C";
    for (const auto& option : command->options) {
      auto spec = fmt::format("{}[{}]", option.flag, escaped(sentence(option.help), "[]:\\"));
      if (option.takes_value) {
        spec += fmt::format(":{}:{}", escaped(option.placeholder.empty() ? "VALUE" : option.placeholder, ":\\"),
                            zsh_values(values_of(option.placeholder)));
      }
      // A value is the next word, or stands behind "=".
      if (option.takes_value) spec.insert(option.flag.size(), "=");
      text += fmt::format(" \\\n    {}", shell_quoted(spec));
    }
    if (!command->commands.empty()) {
      text += " \\\n    '1: :->command' '*:: :->rest'\n";
      text += "  case $state in\n    command) _describe command commands ;;\n    rest)\n      case $words[1] in\n";
      for (const auto& sub : command->commands) text += fmt::format("        {}) {} ;;\n", sub.name, zsh_function(sub));
      text += "      esac ;;\n  esac\n";
    } else {
      if (const auto operands = operands_of(*command); operands.files && !operands.words.empty()) {
        text += fmt::format(" \\\n    '*:NAME:{}_operands'", zsh_function(*command));
      } else if (operands.files || operands.folders || !operands.words.empty()) {
        text += fmt::format(" \\\n    {}",
                            shell_quoted(fmt::format("*:{}:{}", command->operands.front(), zsh_values(operands))));
      }
      text += "\n";
    }
    text += "}\n\n";
  }
  text += "if [[ $funcstack[1] == _stator ]]; then\n  _stator \"$@\"\nelse\n  compdef _stator stator\nfi\n";
  return text;
}

std::string fish_quoted(std::string_view text) { return fmt::format("'{}'", escaped(text, "'\\")); }

std::string fish(const CommandTree& program) {
  std::string steps, rules;
  for (const auto* command : every_command(program)) {
    if (!command->path.empty()) {
      steps += fmt::format("            case {}\n                set path {}\n",
                           fish_quoted(parent_of(*command) + "/" + command->name), fish_quoted(command->path));
    }
    const auto rule = fmt::format("complete -c stator -n \"__stator_at {}\"", fish_quoted(command->path));
    for (const auto& sub : command->commands) {
      rules += fmt::format("{} -a {} -d {}\n", rule, sub.name, fish_quoted(sub.summary));
    }
    const auto operands = operands_of(*command);
    if (!operands.words.empty()) {
      rules += fmt::format("{} -a {}\n", rule, fish_quoted(fmt::format("{}", fmt::join(operands.words, " "))));
    }
    if (operands.files || operands.folders) rules += fmt::format("{} -F\n", rule);
    for (const auto& option : command->options) {
      rules += fmt::format("{} -l {} -d {}", rule, option.flag.substr(2), fish_quoted(sentence(option.help)));
      if (option.takes_value) {
        const auto values = values_of(option.placeholder);
        if (values.files || values.folders) {
          rules += " -r -F";
        } else if (!values.words.empty()) {
          rules += fmt::format(" -x -a {}", fish_quoted(fmt::format("{}", fmt::join(values.words, " "))));
        } else {
          rules += " -x";
        }
      }
      rules += "\n";
    }
  }
  return fmt::format(
      R"(# Completion of stator for fish, made by `stator completion fish`.
function __stator_at
    set -l path ''
    for word in (commandline -opc)[2..-1]
        switch "$path/$word"
{}        end
    end
    test "$path" = "$argv[1]"
end
complete -c stator -f
{})",
      steps, rules);
}

}  // namespace

Result<std::string> completion(std::string_view shell, const CommandTree& program) {
  if (shell == "bash") return bash(program);
  if (shell == "zsh") return zsh(program);
  if (shell == "fish") return fish(program);
  return Error{ErrorCode::Usage, fmt::format("no completion for {}: bash, zsh or fish", shell)};
}

}  // namespace stator::cli
