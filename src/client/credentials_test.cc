#include "stator/client/credentials.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

namespace stator::client {
namespace {

namespace fs = std::filesystem;

class IdentityTest : public ::testing::Test {
 protected:
  IdentityTest() {
    std::string pattern = (fs::temp_directory_path() / "stator-identity-XXXXXX").string();
    home_ = mkdtemp(pattern.data());
    fs::create_directory(home_ / ".aws");
    variables_["HOME"] = home_.string();
  }
  ~IdentityTest() override { fs::remove_all(home_); }

  void write(const std::string& name, std::string_view text) const { std::ofstream(home_ / name) << text; }

  // "id secret token region", or the error, where the folder is called HOME.
  std::string found(std::string_view endpoint = "https://db.example.org") const {
    const auto identity =
        find_signing_scope(http::Origin::parse(endpoint).value(), [&](const char* name) -> std::optional<std::string> {
          const auto at = variables_.find(name);
          return at == variables_.end() ? std::nullopt : std::optional(at->second);
        });
    if (identity) {
      const auto& [credentials, region] = *identity;
      return fmt::format("{} {} {} {}", credentials.access_key_id, credentials.secret_access_key,
                         credentials.session_token.empty() ? "-" : credentials.session_token, region);
    }
    auto text = identity.error().message;
    for (auto at = text.find(home_.string()); at != std::string::npos; at = text.find(home_.string())) {
      text.replace(at, home_.string().size(), "HOME");
    }
    return text;
  }

  fs::path home_;
  std::map<std::string, std::string> variables_;
};

TEST_F(IdentityTest, ComesFromVariables) {
  variables_["AWS_ACCESS_KEY_ID"] = "id";
  variables_["AWS_SECRET_ACCESS_KEY"] = "secret";
  variables_["AWS_DEFAULT_REGION"] = "region-1";
  EXPECT_EQ(found(), "id secret - region-1");
  variables_["AWS_SESSION_TOKEN"] = "token";
  variables_["AWS_REGION"] = "region-2";
  EXPECT_EQ(found(), "id secret token region-2");
}

TEST_F(IdentityTest, ComesFromTheFilesOfAProfile) {
  write(".aws/credentials",
        "# comment\n"
        "[default]\n"
        "aws_access_key_id=id\n"
        "aws_secret_access_key = se=cret/+#x  \r\n"
        "\n"
        "[work]\n"
        "aws_access_key_id = work # mine\n"
        "aws_secret_access_key = secret\n"
        "aws_session_token = token\n");
  write(".aws/config",
        "[default]\n"
        "region = region-1\n"
        "s3 =\n"
        "  region = nested\n"
        "[profile work]\n"
        "region = region-2\n"
        "[profile config]\n"
        "aws_access_key_id = other\n"
        "aws_secret_access_key = thing\n"
        "region = region-3\n");
  EXPECT_EQ(found(), "id se=cret/+#x - region-1");
  variables_["AWS_PROFILE"] = "work";
  EXPECT_EQ(found(), "work secret token region-2");
  variables_["AWS_PROFILE"] = "config";
  EXPECT_EQ(found(), "other thing - region-3");
  variables_["AWS_ACCESS_KEY_ID"] = "v";
  variables_["AWS_SECRET_ACCESS_KEY"] = "w";
  EXPECT_EQ(found(), "v w - region-3") << "a variable comes before a file";
}

TEST_F(IdentityTest, ComesFromFilesElsewhere) {
  write("c", "[default]\naws_access_key_id=id\naws_secret_access_key=secret\n");
  write("d", "[default]\nregion=r\n");
  variables_["AWS_SHARED_CREDENTIALS_FILE"] = (home_ / "c").string();
  variables_["AWS_CONFIG_FILE"] = (home_ / "d").string();
  EXPECT_EQ(found(), "id secret - r");
  variables_.erase("HOME");
  EXPECT_EQ(found(), "id secret - r");
}

TEST_F(IdentityTest, TakesTheRegionFromTheHostAtLast) {
  variables_["AWS_ACCESS_KEY_ID"] = "id";
  variables_["AWS_SECRET_ACCESS_KEY"] = "secret";
  EXPECT_EQ(found("https://dynamodb.eu-central-1.amazonaws.com"), "id secret - eu-central-1");
  EXPECT_EQ(found("https://dynamodb.cn-north-1.amazonaws.com.cn"), "id secret - cn-north-1");
  EXPECT_EQ(found("https://dynamodb.eu-north-1.api.aws"), "id secret - eu-north-1");
  EXPECT_EQ(
      found(),
      "no region for https://db.example.org: set AWS_REGION, or write it into the profile default with `aws configure "
      "--profile default`");
}

TEST_F(IdentityTest, IsNotNeededOnThisMachine) {
  for (const auto* endpoint : {"http://localhost:8000", "http://127.0.0.1:8000", "https://[::1]:8000"}) {
    EXPECT_EQ(found(endpoint), "local local - us-east-1");
  }
  variables_["AWS_REGION"] = "r";
  variables_["AWS_PROFILE"] = "nobody";
  EXPECT_EQ(found("http://localhost"), "local local - r");
  variables_["AWS_ACCESS_KEY_ID"] = "id";
  variables_["AWS_SECRET_ACCESS_KEY"] = "secret";
  EXPECT_EQ(found("http://localhost"), "id secret - r") << "but it is used";
}

TEST_F(IdentityTest, SaysWhatToDoWhenThereIsNone) {
  EXPECT_EQ(
      found(),
      "no credentials for https://db.example.org: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write them into "
      "the profile default of HOME/.aws/credentials with `aws configure --profile default`");
  variables_["AWS_PROFILE"] = "work";
  write(".aws/config", "[profile work]\nsso_session = us\n");
  EXPECT_EQ(found(),
            "the profile work has sso_session, which is not followed here; `eval \"$(aws configure export-credentials "
            "--profile work --format env)\"` sets the variables to its credentials");
}

TEST_F(IdentityTest, SaysWhichHalfIsMissing) {
  variables_["AWS_ACCESS_KEY_ID"] = "id";
  EXPECT_EQ(found("http://localhost"),
            "AWS_ACCESS_KEY_ID is set and AWS_SECRET_ACCESS_KEY is not; set both or neither");
  variables_.erase("AWS_ACCESS_KEY_ID");
  write(".aws/credentials", "[default]\naws_secret_access_key=secret\n");
  EXPECT_EQ(found(),
            "aws_secret_access_key of the profile default in HOME/.aws/credentials is set and aws_access_key_id of the "
            "profile "
            "default in HOME/.aws/credentials is not; set both or neither");
}

TEST_F(IdentityTest, SaysThatAFileCannotBeRead) {
  fs::create_directory(home_ / ".aws/credentials");
  EXPECT_EQ(found(), "HOME/.aws/credentials: cannot be read");
}

TEST(ProcessEnvironment, HasWhatIsSetAndNotEmpty) {
  ::setenv("STATOR_TEST_SET", "x", 1);
  ::setenv("STATOR_TEST_EMPTY", "", 1);
  const auto environment = process_environment();
  EXPECT_EQ(environment("STATOR_TEST_SET"), "x");
  EXPECT_EQ(environment("STATOR_TEST_EMPTY"), std::nullopt);
  EXPECT_EQ(environment("STATOR_TEST_UNSET"), std::nullopt);
}

}  // namespace
}  // namespace stator::client
