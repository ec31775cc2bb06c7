#include "stator/server/config.h"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "stator/server/secrets/access_keys.h"

namespace stator::server {
namespace {

// A file of settings that is called stator.yaml in messages: the test sits in its folder.
class ConfigTest : public ::testing::Test {
 protected:
  ConfigTest() : home_(std::filesystem::current_path()) {
    std::string pattern = (std::filesystem::temp_directory_path() / "stator-config-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    std::filesystem::current_path(folder_);
  }
  ~ConfigTest() override {
    std::filesystem::current_path(home_);
    std::filesystem::remove_all(folder_);
  }

  static void write(const std::string& name, std::string_view text) { std::ofstream(name, std::ios::binary) << text; }

  // The error that a stator.yaml of this text makes.
  static std::string error_of(std::string_view yaml) {
    write("stator.yaml", yaml);
    const auto loaded = load_config({});
    return loaded ? "no error" : loaded.error().message;
  }

 private:
  std::filesystem::path home_;
  std::filesystem::path folder_;
};

TEST_F(ConfigTest, WithoutSourcesHasTheDefaults) {
  const auto loaded = load_config({});
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->config, Config{});
  EXPECT_TRUE(loaded->origins.empty());
  EXPECT_EQ(loaded->file, "");
}

TEST_F(ConfigTest, FlagsWinOverVariablesAndThoseOverTheFile) {
  write("stator.yaml", "port: 1\nconsole_port: 2\nthreads: 3\n");
  const auto loaded =
      load_config({.flags = {{"port", "10"}}, .environment = {{"STATOR_PORT", "20"}, {"STATOR_CONSOLE_PORT", "30"}}});
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->config.port, 10);
  EXPECT_EQ(loaded->config.console_port, 30);
  EXPECT_EQ(loaded->config.threads, 3U);
  EXPECT_EQ(loaded->origins.at("port"), SettingSource::Flag);
  EXPECT_EQ(loaded->origins.at("console_port"), SettingSource::Environment);
  EXPECT_EQ(loaded->origins.at("threads"), SettingSource::File);
  EXPECT_EQ(loaded->file, "stator.yaml");
}

TEST_F(ConfigTest, AFlagNamesTheFileBeforeAVariableBeforeTheFolder) {
  write("stator.yaml", "port: 1");
  write("other.yaml", "port: 2");
  write("third.yaml", "port: 3");
  EXPECT_EQ(load_config({.environment = {{"STATOR_CONFIG", "other.yaml"}}}).value().config.port, 2);
  EXPECT_EQ(load_config({.file = "third.yaml", .environment = {{"STATOR_CONFIG", "other.yaml"}}}).value().config.port,
            3);
}

TEST_F(ConfigTest, AFileThatWasNamedMustBeThere) {
  const auto loaded = load_config({.file = "none.yaml"});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error(), (Error{ErrorCode::Usage, "none.yaml: cannot be read"}));
  std::filesystem::create_directory("folder");
  EXPECT_EQ(load_config({.file = "folder"}).error().message, "folder: is a folder, not a file of settings");
}

TEST_F(ConfigTest, ReadsEveryKindOfValue) {
  write("stator.yaml", R"(
host: "127.0.0.2"
data: /srv/stator
in_memory: true
durability: relaxed
cors_origins: [https://example.org, "http://localhost:3000"]
log_level: warning
log_format: "json"
)");
  const auto loaded = load_config({});
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->config.host, "127.0.0.2");
  EXPECT_EQ(loaded->config.data, "/srv/stator");
  EXPECT_TRUE(loaded->config.in_memory);
  EXPECT_EQ(loaded->config.durability, Durability::Relaxed);
  EXPECT_EQ(loaded->config.cors_origins, (std::vector<std::string>{"https://example.org", "http://localhost:3000"}));
  EXPECT_EQ(loaded->config.log_level, log::Level::Warning);
  EXPECT_EQ(loaded->config.log_format, LogFormat::Json);
}

TEST_F(ConfigTest, AListIsSeparatedByCommasOutsideAFile) {
  const auto loaded = load_config({.flags = {{"cors_origins", "https://a.example, https://b.example,"}}});
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->config.cors_origins, (std::vector<std::string>{"https://a.example", "https://b.example"}));
}

TEST_F(ConfigTest, NamesThePlaceOfWhatIsWrongInAFile) {
  struct Case {
    std::string_view yaml, message;
  };
  for (const auto& [yaml, message] : {
           Case{"port: 1\nprot: 9", "stator.yaml:2:1: no setting is called prot; did you mean port?"},
           Case{"replicas: 3", "stator.yaml:1:1: no setting is called replicas"},
           Case{"port: 1\nthreads: 2\nport: 3", "stator.yaml:3:1: port is set a second time"},
           Case{"port: many", "stator.yaml:1:7: port expects a whole number from 0 to 65535, not \"many\""},
           Case{"port: 65536", "stator.yaml:1:7: port expects a whole number from 0 to 65535, not \"65536\""},
           Case{"port: -1", "stator.yaml:1:7: port expects a whole number from 0 to 65535, not \"-1\""},
           Case{"port: 1.5", "stator.yaml:1:7: port expects a whole number from 0 to 65535, not \"1.5\""},
           Case{"port: \"8000\"",
                "stator.yaml:1:7: port expects a number, not the text \"8000\"; write it without quotes"},
           Case{"port: [1]", "stator.yaml:1:7: port expects a single value, not a list"},
           Case{"threads: 1\nport:\n", "stator.yaml:2:1: port expects a single value, not nothing"},
           Case{"in_memory: yes", "stator.yaml:1:12: in_memory expects true or false, not \"yes\""},
           Case{"durability: snyc",
                "stator.yaml:1:13: durability expects one of sync, relaxed, not \"snyc\"; did you mean sync?"},
           Case{"cors_origins: https://a.example", "stator.yaml:1:15: cors_origins expects a list, not a text"},
           Case{"cors_origins: [[a]]", "stator.yaml:1:15: cors_origins expects a list of texts, not of list"},
           Case{"cors_origins: [example.org]",
                "stator.yaml:1:15: cors_origins expects origins such as https://example.org or http://localhost:3000, "
                "or "
                "*, not \"example.org\""},
           Case{"allowed_hosts: ['db.example:8000']",
                "stator.yaml:1:16: allowed_hosts expects names such as db.example.org, without a port, not "
                "\"db.example:8000\""},
           Case{"allow_unsigned: true",
                "stator.yaml:1:1: allow_unsigned is for one start and would stay on in a file: take it out, and start "
                "once with --allow-unsigned"},
           Case{"data: ''", "stator.yaml:1:7: data expects a folder, not an empty name"},
           Case{"max_body_bytes: 3",
                "stator.yaml:1:17: max_body_bytes expects a whole number from 1024 to 1073741824, "
                "not \"3\""},
           Case{"[1, 2]", "stator.yaml:1:1: expects settings such as `port: 8000`, not a list"},
           Case{"? [a]\n: 1", "stator.yaml:1:3: a setting's name is a word, not a list"},
           Case{"threads: 1\nport: [1\nhost: ::1", "stator.yaml:3:5: is not YAML: end of sequence flow not found"},
       }) {
    SCOPED_TRACE(yaml);
    EXPECT_EQ(error_of(yaml), message);
  }
}

TEST_F(ConfigTest, RefusesAFileWithoutEnd) {
  EXPECT_EQ(error_of(std::string(2 << 20U, '#')), "stator.yaml: is longer than 1048576 bytes");
}

TEST_F(ConfigTest, NamesTheFlagOrVariableThatIsWrong) {
  EXPECT_EQ(load_config({.flags = {{"log_level", "loud"}}}).error().message,
            "--log-level expects one of debug, info, warning, error, not \"loud\"");
  EXPECT_EQ(load_config({.environment = {{"STATOR_IN_MEMORY", "1"}}}).error().message,
            "STATOR_IN_MEMORY expects true or false, not \"1\"");
  EXPECT_EQ(load_config({.flags = {{"port", "1"}, {"port", "2"}}}).error().message, "--port is given twice");
}

TEST_F(ConfigTest, AnEmptyVariableIsNone) {
  EXPECT_EQ(load_config({.environment = {{"STATOR_PORT", ""}, {"STATOR_CONFIG", ""}}}).value().config, Config{});
}

TEST_F(ConfigTest, WarnsOfAVariableThatLooksLikeASlipAndLeavesOthersAlone) {
  const auto loaded = load_config({.environment = {{"STATOR_PROT", "1"}, {"STATOR_HOME_PAGE", "x"}, {"PORT", "1"}}});
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->config, Config{});
  EXPECT_EQ(loaded->warnings, std::vector<std::string>{"STATOR_PROT is not a setting; did you mean STATOR_PORT?"});
}

TEST_F(ConfigTest, WarnsOfADataFolderThatAWeakerSettingLeavesUnused) {
  struct Case {
    std::vector<std::pair<std::string, std::string>> flags;
    std::map<std::string, std::string> environment;
    std::string warning;
  };
  write("stator.yaml", "in_memory: true\ndata: ./here\n");
  for (const auto& [flags, environment, warning] :
       {Case{{}, {}, ""},
        Case{{{"data", "./x"}},
             {},
             "data is ./x (from a flag), but in_memory (from the file) keeps all items in memory; --in-memory=false "
             "stores them in the folder"},
        Case{{},
             {{"STATOR_DATA", "./x"}},
             "data is ./x (from the environment), but in_memory (from the file) keeps all items in memory; "
             "--in-memory=false stores them in the folder"},
        Case{{{"data", "./x"}, {"in_memory", "true"}}, {}, ""},
        Case{{{"data", "./x"}, {"in_memory", "false"}}, {}, ""}}) {
    const auto loaded = load_config({.flags = flags, .environment = environment}).value();
    EXPECT_EQ(loaded.warnings, warning.empty() ? std::vector<std::string>() : std::vector{warning});
  }
}

TEST_F(ConfigTest, ListensToOtherMachinesOnlyWhenThereAreKeys) {
  for (const auto* host : {"127.0.0.1", "127.1.2.3", "::1", "localhost"}) {
    EXPECT_TRUE(check_config(load_config({.flags = {{"host", host}}}).value().config, Mode::Serve)) << host;
  }
  const auto other_hosts = {"0.0.0.0", "::", "192.168.1.5", "::ffff:10.0.0.1"};
  for (const auto* host : other_hosts) {
    const auto config = load_config({.flags = {{"host", host}, {"data", "d"}}}).value().config;
    const auto checked = check_config(config, Mode::Serve);
    ASSERT_FALSE(checked) << host;
    EXPECT_EQ(
        checked.error().message,
        std::string("with host ") + host +
            ", other machines can connect, and d/keys.yaml has no access keys, so anyone there could read and change "
            "everything: make a key with `stator key add --data d`, and set tls_cert and tls_key, too; or listen on "
            "127.0.0.1");
  }
  ASSERT_TRUE(AccessKeyFile("d").add("", ManualClock()));
  for (const auto* host : other_hosts) {
    EXPECT_TRUE(check_config(load_config({.flags = {{"host", host}, {"data", "d"}}}).value().config, Mode::Serve));
  }
  for (const auto* host : {"", "example.org", "127.0.0.1.evil.example", "127.1"}) {
    EXPECT_FALSE(load_config({.flags = {{"host", host}}})) << host;
  }
}

TEST_F(ConfigTest, TwoServersDoNotShareAPort) {
  Config config;
  config.console_port = config.port;
  EXPECT_TRUE(check_config(config, Mode::Serve));
  EXPECT_FALSE(check_config(config, Mode::Up));
  config.port = config.console_port = 0;  // each takes a free one
  EXPECT_TRUE(check_config(config, Mode::Up));
}

TEST_F(ConfigTest, DataIsInOnePlace) {
  Config config;
  config.models = {"shops"};
  config.store = "postgres://db/stator";
  EXPECT_TRUE(check_config(config, Mode::Serve));
  EXPECT_TRUE(check_config(config, Mode::App));
  config.endpoint = "http://localhost:8000";
  EXPECT_EQ(check_config(config, Mode::App).error().message, "endpoint and store cannot be set together");
  config.in_memory = true;
  EXPECT_EQ(check_config(config, Mode::Serve).error().message, "store and in_memory cannot be set together");
}

TEST_F(ConfigTest, AStoreIsAPostgresDatabase) {
  EXPECT_TRUE(load_config({.flags = {{"store", "postgresql://db1,db2:5433/stator?sslmode=verify-full"}}}));
  EXPECT_EQ(load_config({.flags = {{"store", ""}}}).error().message, "--store expects an address, not an empty one");
  EXPECT_TRUE(load_config({.environment = {{"STATOR_STORE", ""}}})) << "an empty variable is none";
  const auto wrong = load_config({.flags = {{"store", "mysql://me:secret@db/stator"}}});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message,
            "--store expects the address of a PostgreSQL database such as postgres://host/database, not "
            "\"mysql://...\"");
}

TEST_F(ConfigTest, ACertificateNeedsItsKey) {
  Config config;
  config.tls_cert = "c";
  EXPECT_EQ(check_config(config, Mode::Serve).error().message,
            "tls_cert and tls_key belong together, and tls_key is not set");
  config.tls_key = "k";
  EXPECT_TRUE(check_config(config, Mode::Serve));
}

TEST_F(ConfigTest, TheConsoleGoesBeyondThisMachineOverTlsOnly) {
  Config config;
  EXPECT_EQ(console_host(config), "127.0.0.1");
  config.host = "0.0.0.0";
  EXPECT_EQ(console_host(config), "127.0.0.1");
  config.tls_cert = "c";
  EXPECT_EQ(console_host(config), "0.0.0.0");
  config.host = "::1";
  EXPECT_EQ(console_host(config), "::1");
}

TEST_F(ConfigTest, PrintsAFileThatReadsBackAsTheSameConfig) {
  const ConfigSources sources = {.flags = {{"port", "9"},
                                           {"data", "a folder: with # signs"},
                                           {"in_memory", "true"},
                                           {"durability", "relaxed"},
                                           {"cors_origins", "*,https://a.example"},
                                           {"log_format", "json"}}};
  const auto loaded = load_config(sources);
  ASSERT_TRUE(loaded) << loaded.error().message;
  write("stator.yaml", config_as_yaml(*loaded));
  const auto again = load_config({});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->config, loaded->config);
}

TEST_F(ConfigTest, PrintsNoPassword) {
  const auto printed = [](std::string_view url) {
    return config_as_yaml(load_config({.environment = {{"STATOR_STORE", std::string(url)}}}).value());
  };
  const auto text = printed("postgres://u:s3cretpw@h/x?password=s3cretpw");
  EXPECT_EQ(text.find("s3cretpw"), std::string::npos);
  EXPECT_NE(text.find("its password is not shown\n"), std::string::npos);
  EXPECT_NE(printed("postgres://u@h/x").find("\nstore: postgres://u@h/x  # from the environment\n"), std::string::npos);
}

TEST_F(ConfigTest, EveryDefaultIsAValueThatMayBeSet) {
  auto text = config_as_yaml({});
  for (std::size_t at = 0; (at = text.find("\n#", at)) != std::string::npos; ++at) {
    if (text[at + 2] != ' ') text.erase(at + 1, 1);  // "#port: 8000" and not "# Port of"
  }
  write("stator.yaml", text);
  const auto loaded = load_config({});
  ASSERT_TRUE(loaded) << loaded.error().message << "\n" << text;
  EXPECT_EQ(loaded->config, Config{});
  EXPECT_EQ(loaded->origins.size(), settings().size());
}

TEST(Settings, HaveHelpAndNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const auto& setting : settings()) {
    EXPECT_TRUE(names.insert(setting.name).second) << setting.name;
    EXPECT_FALSE(setting.help.empty() || setting.placeholder.empty()) << setting.name;
    EXPECT_NE(settings_help(std::nullopt).find(setting.flag()), std::string::npos) << setting.name;
  }
  EXPECT_EQ(settings_help(Mode::Serve).find("--console-port"), std::string::npos);
}

}  // namespace
}  // namespace stator::server
