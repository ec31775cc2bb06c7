"""The lines that the build cannot keep clean.  Each check takes a Tree and yields "path:line: what is wrong"."""

import ast
import builtins
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import symtable
import tempfile

NOT_OURS = {".git", "build", "node_modules", "stator-data", "__pycache__"}
CODE = {".h", ".cc"}
WRITTEN = CODE | {"", ".py", ".sh", ".js", ".mjs", ".ts", ".md", ".cmake", ".txt", ".yaml", ".yml", ".ddb", ".css", ".html"}
PUBLIC_HOSTS = {"registry.npmjs.org", "deb.debian.org", "security.debian.org", "ftp.debian.org"}


class Tree:
    """The files of a checkout, without what builds and package managers put beside them."""

    def __init__(self, top):
        self.top = pathlib.Path(top)
        self.paths = []
        for folder, folders, names in os.walk(self.top):
            folders[:] = sorted(name for name in folders if name not in NOT_OURS)
            for name in sorted(names):
                path = pathlib.Path(folder) / name
                if path.is_file() and not path.is_symlink() and name != ".git":  # .git is a file in a second work tree
                    self.paths.append(path.relative_to(self.top))
        self._texts = {}

    def text(self, path):
        """The text of a file; empty for one that is not text."""
        if path not in self._texts:
            data = (self.top / path).read_bytes()
            try:
                self._texts[path] = "" if b"\0" in data else data.decode()
            except UnicodeDecodeError:
                self._texts[path] = ""
        return self._texts[path]

    def code(self):
        return [path for path in self.paths if path.suffix in CODE]

    def headers(self):
        return [path for path in self.paths if path.suffix == ".h" and path.parts[0] in ("src", "include")]

    def grep(self, paths, pattern, message):
        compiled = re.compile(pattern)
        for path in paths:
            for number, line in enumerate(self.text(path).splitlines(), 1):
                if found := compiled.search(line):
                    yield f"{path}:{number}: {message.format(found[0].strip())}"


def within(path, *folders):
    return any(str(path).startswith(folder + "/") for folder in folders)


def is_test(path):
    # ... or a header that tests share.
    return path.stem.endswith(("_test", "_bench")) or path.stem.startswith("test_")


# --- who may include what


def rocksdb_stays_in_its_backend(tree):
    paths = [path for path in tree.code() if not within(path, "src/storage/rocksdb")]
    return tree.grep(paths, r'#\s*include\s*[<"]rocksdb/', "{} outside src/storage/rocksdb")


def libpq_stays_in_its_backend(tree):
    paths = [path for path in tree.code() if not within(path, "src/storage/postgres")]
    return tree.grep(paths, r'#\s*include\s*[<"](libpq|postgresql/|pg_config)', "{} outside src/storage/postgres")


def simdjson_stays_in_value(tree):
    paths = [path for path in tree.code() if not within(path, "src/value")]
    return tree.grep(paths, r'#\s*include\s*[<"]simdjson', "{} outside src/value, which has the one codec")


# Where JSON comes in, or is read back from a disk.  Between layers, values are types.
JSON_EDGES = (
    "src/value/",
    "src/api/json/", "src/api/operations.cc", "src/api/testing/",  # the bodies of the DynamoDB endpoint
    "src/client/operation_json.", "src/client/remote.",  # other endpoints
    "src/app/auth/", "src/app/rest/",  # tokens and REST bodies
    "src/console/", "src/server/tool_client.",  # bodies of the console and of the tools
    "src/model/import/", "systems/stories/twee.",  # files of other tools
    "src/engine/table_record.", "src/backup/manifest.",  # records on disk
)  # fmt: skip


def json_trees_stay_at_the_edges(tree):
    paths = [path for path in tree.code() if not str(path).startswith(JSON_EDGES) and not is_test(path)
             and within(path, "src", "include", "systems")]  # fmt: skip
    message = "{} where no JSON comes in; pass a type"
    yield from tree.grep(paths, r"\b(simdjson|Json(Object|Element|Array|Parser))\b", message)
    # Each operation decodes its request beside its type.
    yield from tree.grep([path for path in paths if not within(path, "src/api")], r"\bJsonMembers\b", message)


REASON = r"(?:\w+::)*\w*(?:Error|Fault|Problem|Failure|Refusal|Miss)"  # why there is no value
MEMBERS = r"(?:[^<>;()]|<[^<>]*>)*"  # of a template, one of which may be a template itself
SECOND_RESULTS = "|".join([
    r"\bATTEMPT\(", r"std::expected\b", r"class \[\[nodiscard\]\]", r"\b(?:StatusOr|ErrorOr|Expected|Either)<",
    rf"std::variant<{MEMBERS}\b{REASON}>", rf"std::variant<{REASON}, ", rf"std::variant<{MEMBERS}, {REASON},",
    rf"std::(?:pair|tuple)<{MEMBERS}\b{REASON}>", rf"std::(?:pair|tuple)<{REASON}, ",
    r"std::(?:pair|tuple)<bool,[^;=]*>&? (?:\w+::)*\w+\(",  # as what a function returns
    rf"std::optional<{REASON}>&? (?:\w+::)*\w+\(",
    r"\bbool (?:\w+::)*\w+\([^;{]*(?<!const )\b(?:\w+::)*(?:Error|Problem|Fault)& \w+\)",  # false, and the reason in a parameter
])  # fmt: skip
# They answer what is wrong with bytes or with a key that has been read, and the caller goes on with the answer.
ASKED_FOR_A_FAULT = ("src/http/signature/sigv4.", "src/client/remote.cc", "src/api/partiql/partiql_plan.cc", "src/storage/postgres/store_condition.")


def results_are_of_one_type(tree):
    """A value or the reason why there is none is a Result<T, E>."""
    paths = [path for path in tree.code() if within(path, "src", "include", "systems") and str(path) != "src/base/result.h"
             and not str(path).startswith(ASKED_FOR_A_FAULT)]  # fmt: skip
    message = "{}: take a Result of stator/base/result.h"
    yield from tree.grep(paths, SECOND_RESULTS, message)
    for path in paths:  # a type that can be asked whether it is one of the two
        text = tree.text(path)
        for body in re.finditer(r"^(?:class|struct) (?:\[\[\w+\]\] )?(\w+)[^;{]*\{$.*?^\};", text, re.MULTILINE | re.DOTALL):
            if re.search(r"\b(?:bool (?:ok|has_value)|operator bool)\(\) const", body[0]) and re.search(r"(?<!return)[\w&>*] error\(\)", body[0]):
                yield f"{path}:{text.count(chr(10), 0, body.start()) + 1}: {message.format(body[1])}"


def backends_are_chosen_above_the_engine(tree):
    # Tests bring a backend along; the layers themselves know only the contract.
    allowed = ("src/storage", "src/library", "src/server")
    paths = [path for path in tree.code() if not within(path, *allowed) and not is_test(path)]
    return tree.grep(paths, r'#\s*include\s*"stator/storage/(memory|rocksdb|postgres)/', "{} names a backend")


def time_comes_from_a_clock(tree):
    paths = [path for path in tree.code() if not within(path, "src/base")]
    yield from tree.grep(paths, r"system_clock::now", "{} outside src/base; take a Clock")
    upper = [path for path in paths if within(path, "src/client", "src/runtime", "src/app", "src/console", "src/server", "systems") and not is_test(path)]
    yield from tree.grep(upper, r"steady_clock::now", "{}: take a Clock, so that a test can choose the time")


def waiting_is_a_clocks(tree):
    """Nobody sleeps; what waits for a time waits by its Clock.  The engine and the stores also wait between rounds of background work."""
    # The proxy of test_proxy.h holds bytes back, as a slow network does.
    paths = [path for path in tree.code() if not within(path, "src/base") and str(path) != "src/storage/postgres/test_proxy.h"]
    sleeps = r"(?<![\w.>])(?:sleep|usleep|nanosleep|clock_nanosleep)\s*\(|\b(?:sleep_for|sleep_until|pthread_cond_timedwait)\s*\("
    sleeps += r"|\bp?poll\s*\((?:nullptr|NULL|0)\s*,|\bp?select\s*\(\s*0\s*,|\bepoll_p?wait2?\s*\([^;]*, 0, "
    yield from tree.grep(paths, sleeps, "{} outside src/base; take a Clock, or wait for the event")
    upper = [path for path in paths if within(path, "src", "systems") and not within(path, "src/engine", "src/storage") and not is_test(path)]
    # A StopSignal waits for a signal of the process.
    waits = r"\b(?!(?:clock|clock_|present_|stop)\b)\w+(?:\(\))?(?:\.|->)(?:wait_for|wait_until|try_lock_for|try_lock_until|try_acquire_for|try_acquire_until)\s*\("
    yield from tree.grep(upper, waits, "{}) takes real time; let a Clock wait")


SLEEPS = (
    "tests/tools/waiting.py",  # what the others wait with
    "tests/tools/run_suites.py",  # runs the suites, and is none
    "tests/browser/pictures.mjs",  # makes pictures, and tests nothing
)


def tests_wait_for_events(tree):
    """A test waits until something has happened, for a bounded time: in Python with tests/tools/waiting.py, in a browser for a selector."""
    paths = [path for path in tree.paths if (within(path, "tests") or "tests" in path.parts) and str(path) not in SLEEPS
             and not within(path, "tests/tidy")]  # fmt: skip
    python = [path for path in paths if path.suffix == ".py" or re.match(r"#!.*\bpython3\b", tree.text(path))]
    yield from tree.grep(python, r"\b(?:time|asyncio|gevent)\.sleep\(|\bfrom time import .*\bsleep\b|threading\.Event\(\)\.wait\(",
                         "{}: wait for an event with tests/tools/waiting.py")  # fmt: skip
    scripts = [path for path in paths if path.suffix in {".js", ".mjs", ".ts"}]
    yield from tree.grep(scripts, r"\bwaitForTimeout\(|\bsetTimeout\((?:done|resolve|\w+), ?[\d_]+\)|timers/promises", "{}: wait for an event")
    shell = [path for path in paths if path.suffix == ".sh" or re.match(r"#!.*\b(?:ba)?sh\b", tree.text(path))]
    yield from tree.grep(shell, r"^\s*sleep [\d.]+", "{}: wait for an event")


def includes_start_at_a_root(tree):
    paths = [path for path in tree.code() if within(path, "src", "include", "bench")]
    return tree.grep(paths, r'#\s*include\s*"(?!stator/)', "{} is not of the form \"stator/<layer>/<file>\"")


def includes_lead_somewhere(tree):
    """Also in programs that `./test` does not build, such as fuzzers."""
    paths = set(map(str, tree.paths))
    for path in tree.code():
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            if included := re.match(r'#\s*include\s*"stator/([^"]+)"', line):
                name = included[1]
                if not paths & {f"src/{name}", f"include/stator/{name}", name, f"bench/loadgen/{name.removeprefix('bench/')}"}:
                    yield f"{path}:{number}: {name} is not there"


def _published(tree):
    """The headers that are installed: those in include/, and those that cmake/install.cmake lists."""
    install = pathlib.Path("cmake/install.cmake")
    listed = re.search(r"set\(published_headers([^)]*)\)", tree.text(install)) if install in tree.paths else None
    public = {path for path in tree.headers() if within(path, "include")}
    return public, {pathlib.Path("src") / name for name in (listed[1].split() if listed else ())}


def public_headers_include_those_that_are_installed(tree):
    public, listed = _published(tree)
    reached = set().union(*(_included(tree, header) for header in public))
    for path in sorted(reached):
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            found = re.match(r'\s*#\s*include\s*"stator/([^"]+)"', line)
            if found and not {pathlib.Path("include/stator") / found[1], pathlib.Path("src") / found[1]} & (public | listed):
                yield f"{path}:{number}: stator/{found[1]} is not among the published_headers of cmake/install.cmake"
    for path in sorted(listed - reached):
        yield f"cmake/install.cmake:1: no header in include/ includes {path}; it need not be installed"


def installed_headers_bring_nothing_along(tree):
    """Neither headers of other libraries, nor macros that a program could have, too."""
    own = re.compile(r"^#ifdef STATOR_SOURCES\n.*?^#endif$", re.MULTILINE | re.DOTALL)
    for path in sorted(set().union(*_published(tree))):
        if path not in tree.paths:
            continue
        text = own.sub(lambda found: re.sub(r"[^\n]", "", found[0]), tree.text(path))
        for number, line in enumerate(text.splitlines(), 1):
            if found := re.match(r"\s*#\s*include\s*<([^>]*[^a-z0-9_>][^>]*)>", line):
                yield f"{path}:{number}: {found[1]} is not a header of the standard library"
            if found := re.match(r"\s*#\s*define\s+(?!STATOR_)(\w+)", line):
                yield f"{path}:{number}: the macro {found[1]} does not begin with STATOR_"


# --- headers


def headers_have_pragma_once(tree):
    for path in tree.headers():
        first = re.search(r"^\s*#.*$", tree.text(path), re.MULTILINE)
        if not first or first[0].strip() != "#pragma once":
            yield f"{path}:1: the first directive is not #pragma once"


def headers_compile_alone(tree, cache=None):
    """Includes each header in an otherwise empty file.  `cache` is a folder that remembers the ones that did.

    Headers share a file where that makes no difference: the ones before a header are among those that it includes anyway.
    """
    with tempfile.TemporaryDirectory() as root:
        os.symlink(tree.top.resolve() / "src", pathlib.Path(root) / "stator")
        command = ["g++", "-std=c++20", "-fsyntax-only", "-x", "c++", "-DSTATOR_SOURCES", "-I", root, "-I", str(tree.top.resolve() / "include"),
                   "--param", "ggc-min-expand=10000", "--param", "ggc-min-heapsize=4000000", "-"]  # fmt: skip  # collects no garbage
        version = subprocess.run(["g++", "--version"], capture_output=True, check=True).stdout
        included = {header: _included(tree, header) for header in tree.headers()}

        def mark(header):
            return pathlib.Path(cache) / _fingerprint(tree, included[header], version)

        def errors_of(headers):
            names = (str(header).replace("src/", "stator/", 1).replace("include/", "", 1) for header in headers)
            text = "".join(f'#include "{name}"\n' for name in names)
            ran = subprocess.run(command, input=text, text=True, capture_output=True, check=False)
            return None if ran.returncode == 0 else (re.findall(r"error: .*", ran.stderr) or [ran.stderr[:200]])[0]

        def compile_chain(headers):
            found = []
            if errors_of(headers):  # which of them is it?
                found = [(header, error) for header in headers if (error := errors_of([header]))]
            for header in set(headers) - {header for header, _ in found} if cache else ():
                mark(header).parent.mkdir(parents=True, exist_ok=True)
                mark(header).touch()
            return [f"{header}:1: does not compile alone: {error}" for header, error in found]

        waiting = [header for header in tree.headers() if not cache or not mark(header).exists()]
        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
            for found in pool.map(compile_chain, _chains(waiting, included)):
                yield from found


def _included(tree, header):
    """The header and all of ours that it includes, directly or not."""
    seen, waiting = set(), [header]
    while waiting:
        path = waiting.pop()
        if path in seen or not (tree.top / path).is_file():
            continue
        seen.add(path)
        for name in re.findall(r'#\s*include\s*"stator/([^"]+)"', tree.text(path)):
            waiting += [pathlib.Path("src") / name, pathlib.Path("include/stator") / name]
    return seen


def _chains(headers, included):
    """The headers in as few lists as possible, such that each header of a list includes the one before it."""
    before = {}  # the header that comes before this one

    def place(header, tried):
        for above in headers:
            if above != header and header in included[above] and above not in included[header] and above not in tried:
                tried.add(above)
                if above not in before or place(before[above], tried):
                    before[above] = header
                    return True
        return False

    for header in headers:
        place(header, set())
    lasts = set(headers) - set(before.values())
    for last in sorted(lasts):
        chain = [last]
        while chain[-1] in before:
            chain.append(before[chain[-1]])
        yield chain[::-1]


def _fingerprint(tree, paths, version):
    parts = [version.decode(), *(f"{path}\n{tree.text(path)}" for path in sorted(paths))]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


# --- text


def nothing_is_left_to_do(tree):
    paths = [path for path in tree.paths if path.suffix in WRITTEN and not within(path, "tests/tidy")]
    return tree.grep(paths, r"\b(TODO|FIXME|XXX|HACK)\b", "{}: finish it, or open an issue")


def comments_begin_with_their_subject(tree):
    """A comment says "The errors of a body" and not "What is wrong with a body"."""
    paths = [path for path in tree.code() if within(path, "src", "systems", "include")]
    pattern = r"(?:^|\s)//\s+(?:What|Who|Whose|Whoever|Whichever)\b"
    return tree.grep(paths, pattern, "{}: begin with the name of the thing")


def files_end_with_a_newline(tree):
    for path in tree.paths:
        text = tree.text(path)
        if text and not text.endswith("\n"):
            yield f"{path}:{len(text.splitlines())}: no newline at the end"
        if text.endswith("\n\n"):
            yield f"{path}:{len(text.splitlines())}: blank lines at the end"


def lines_end_with_a_newline_only(tree):
    paths = [path for path in tree.paths if path.suffix in WRITTEN]
    for path in paths:
        for number, line in enumerate(tree.text(path).split("\n"), 1):
            if line.endswith("\r"):
                yield f"{path}:{number}: carriage return"
            elif line.endswith((" ", "\t")) and path.suffix != ".ddb":
                yield f"{path}:{number}: space at the end of the line"


def code_is_formatted(tree):
    paths = [str(path) for path in tree.code()]
    if not paths:
        return
    ran = subprocess.run(["clang-format-19", "--dry-run", "-Werror", *paths], cwd=tree.top, capture_output=True, text=True,
                         check=False)  # fmt: skip
    crooked = dict.fromkeys(re.findall(r"^(\S+?):\d+:\d+: error:", ran.stderr, re.MULTILINE))
    for path in crooked:
        yield f"{path}:1: not as clang-format-19 has it; tests/tidy/suite --fix"
    if ran.returncode != 0 and not crooked:
        yield f".clang-format:1: {ran.stderr.strip()[:200]}"


def lines_fit_into_120_columns(tree):
    """Comments included.  A raw string is left alone, since a line break would change it; so is an address that fills a comment."""
    raw = re.compile(r'//[^\n]*|R"([^(\s]*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
    for path in tree.code():
        text = tree.text(path)
        if not any(len(line) > 120 for line in text.splitlines()):
            continue
        text = raw.sub(lambda found: re.sub(r"[^\n]", "", found[0]) if found[0].startswith("R") else found[0], text)
        for number, line in enumerate(text.splitlines(), 1):
            if len(line) > 120 and not re.fullmatch(r"\s*// \S+", line):
                yield f"{path}:{number}: {len(line)} columns; tests/tidy/suite --fix breaks comments, not strings"


def try_stands_before_braces(tree):
    """g++ does not destroy the members of an aggregate that were made before a TRY among them returns, so that they leak."""
    words = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)\'', re.DOTALL)
    for path in tree.code():
        text = tree.text(path)
        if "TRY(" not in text:
            continue
        text = words.sub(lambda found: re.sub(r"[^\n]", "_", found[0]), text)
        for found in re.finditer(r"\bTRY\(", text):
            if _follows_in_braces(text, found.start()):
                yield f"{path}:{text.count(chr(10), 0, found.start()) + 1}: TRY behind another member in braces; take its value before them"


def _follows_in_braces(text, place):
    """Whether what stands at `place` is a later member of a braced initialiser, at any depth within its statement."""
    depth = members = 0
    for i in range(place - 1, -1, -1):
        if text[i] in ")]}":
            depth += 1
        elif text[i] in "([{" and depth:
            depth -= 1
        elif text[i] in "([{":
            if text[i] == "{":
                if not _begins_an_initialiser(text[max(0, i - 300):i].rstrip()):
                    return False
                if members:
                    return True
            members = 0
        elif text[i] == "," and not depth:
            members += 1
        elif text[i] == ";" and not depth:
            return False
    return False


def _begins_an_initialiser(before):
    """Whether a brace after this text begins an initialiser, and not a block."""
    if not before or before[-1] in ");{}:]":
        return False
    if before[-1] in "(,=":
        return True
    statement = re.split(r"[;{}]", before)[-1]
    if re.search(r"->\s*[\w:<>,&*\s]+$|\b(struct|class|enum|namespace|union)\b[^(){}]*$", statement):
        return False
    return not re.search(r"\b(else|do|try|const|noexcept|override|mutable|final)$", statement)


def log_events_have_snake_case_names(tree):
    """So that a program can search for them.  What a person should know stands in the field `message`."""
    called = re.compile(r"log::(?:debug|info|warning|error)\(([^{;]*?)[,)]\s*[{;)]")
    for path in tree.code():
        if is_test(path) or not within(path, "src", "systems"):
            continue
        for call in called.finditer(tree.text(path)):
            for event in re.findall(r'"([^"]*)"', call[1]):
                if not re.fullmatch(r"[a-z][a-z0-9_]*", event):
                    number = tree.text(path).count("\n", 0, call.start()) + 1
                    yield f"{path}:{number}: the event \"{event}\" is not snake_case"


# The codes of the diagnostics that the first two stages of the model's compiler report.  The last stage has all others.
STAGES = {
    "src/model/syntax": "bad-(?:default|duration|encoding|expression|name|pattern|route|template|word|yaml)|missing-(?:value|word)|"
                        "out-of-range|repeated-word|several-documents|too-(?:deep|long)|unknown-(?:value|word)|wrong-type",
    "src/model/resolve": "unknown-(?:attribute|entity|grant|index|input|key|parameter|pattern|record|relation|step)",
}  # fmt: skip


def stages_leave_judgements_to_the_last(tree):
    """syntax/ reports what is no text of the language, resolve/ names that nothing has; check/ judges the rest."""
    for folder, codes in STAGES.items():
        paths = [path for path in tree.code() if within(path, folder)]
        # `signed-in` is a word of the language.
        code = rf'"(?!(?:{codes}|signed-in)")(?:contradiction|[a-z]+(?:-[a-z]+)+)"'
        yield from tree.grep(paths, code, "{} is no code of this stage; names are looked up in resolve/, judgements made in check/well_formed/")


# --- Python


MODULE_NAMES = set(dir(builtins)) | {"__file__", "__name__", "__doc__", "__builtins__", "__path__", "__spec__"}


def python_names_are_defined(tree):
    """A name that no program defines is found when it is used, and not before."""
    for path in tree.paths:
        text = tree.text(path)
        if path.suffix != ".py" and not (path.suffix == "" and re.match(r"#!.*\bpython3\b", text)):
            continue
        try:
            syntax = ast.parse(text)
        except SyntaxError as error:
            yield f"{path}:{error.lineno}: {error.msg}"
            continue
        scopes = [symtable.symtable(text, str(path), "exec")]
        for scope in scopes:
            scopes += scope.get_children()
        defined = MODULE_NAMES | {
            symbol.get_name() for scope in scopes for symbol in scope.get_symbols()
            if (symbol.is_assigned() or symbol.is_imported()) and (scope is scopes[0] or symbol.is_declared_global())}  # fmt: skip
        if any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in ast.walk(syntax)):
            continue
        used = sorted((node.lineno, node.id) for node in ast.walk(syntax) if isinstance(node, ast.Name))
        for name, begin in {symbol.get_name(): scope.get_lineno() for scope in reversed(scopes) for symbol in scope.get_symbols()
                            if symbol.is_referenced() and symbol.is_global() and symbol.get_name() not in defined}.items():  # fmt: skip
            line = next((line for line, used_name in used if used_name == name and line >= begin), begin)
            yield f"{path}:{line}: nothing defines {name}"


# --- documents


def links_lead_somewhere(tree):
    for path in tree.paths:
        if path.suffix != ".md":
            continue
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", line):
                if "://" not in target and not (tree.top / path.parent / target).exists():
                    yield f"{path}:{number}: {target} is not there"


def documents_name_files_that_exist(tree):
    """Paths in backticks: from the top (`src/base/log.h`, `tests/*/suite`), or those of sources from `src` (`base/log.h`)."""
    folders = {path.parts[0] for path in tree.paths if len(path.parts) > 1}
    layers = {path.parts[1] for path in tree.paths if len(path.parts) > 2 and path.parts[0] == "src"}
    for path in tree.paths:
        if path.suffix != ".md" or path.name == "CHANGELOG.md" or within(path, "changes"):
            continue
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            for name in re.findall(r"`([\w.-]+/[\w./*-]*)`", line):
                first = name.split("/")[0]
                if first in layers and re.search(r"\.(h|cc)$|/$", name):
                    there = any(tree.top.glob(f"src/{name}"))
                elif first in folders - {"build"}:
                    there = any(tree.top.glob(name))
                else:
                    continue
                if not there:
                    yield f"{path}:{number}: {name} is not there"


def comments_name_pages_that_exist(tree):
    paths = [path for path in tree.paths if path.suffix in CODE | {".cmake", ".py", ".txt"} and not within(path, "tests/tidy")]
    for path in paths:
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            for page in re.findall(r"\bdocs/[\w./-]+\.md\b", line):
                if not (tree.top / page).exists():
                    yield f"{path}:{number}: {page} is not there"


def the_glossary_names_what_exists(tree):
    """Each name in backticks is a path of the tree, or a word of the code outside of comments."""
    page = pathlib.Path("docs/glossary.md")
    if page not in tree.paths:
        return
    sources = [path for path in tree.paths if path.suffix in CODE | {".cmake"} and within(path, "src", "include", "systems", "cmake")]
    words = {word for path in sources for line in tree.text(path).splitlines()
             for word in re.findall(r"\w+", re.sub(r"(^|\s)(//|#\s).*", "", line))}  # fmt: skip
    for number, line in enumerate(tree.text(page).splitlines(), 1):
        for name in re.findall(r"`([^`]+)`", line):
            there = (tree.top / name).exists() if "/" in name else words.issuperset(re.findall(r"\w+", name))
            if not there:
                yield f"{page}:{number}: {name} is not in the code"


# A type that is defined in a namespace, and not in another type.
TYPE = re.compile(r"(?:struct|class|enum class|union) (?:\[\[\w+\]\] )?(?:alignas\(\w+\) )?(\w+)\b(?!::)(?: final)?\s*(?::.*)?\{")


def a_type_has_one_definition(tree):
    """Two types of one name in one namespace: the linker takes either, and a program that has both breaks in strange places."""
    seen = {}
    for path in tree.code():
        if is_test(path) or not within(path, "src", "systems", "include"):
            continue
        spaces = []  # names; None for one without
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            if opened := re.match(r"namespace\s*([\w:]*)\s*\{$", line):
                spaces.append(opened[1] or None)
            elif re.match(r"\}\s*// namespace", line) and spaces:
                spaces.pop()
            elif (defined := TYPE.match(line)) and None not in spaces:
                name = "::".join([*spaces, defined[1]])
                if name in seen:
                    yield f"{path}:{number}: {name} is also defined in {seen[name]}"
                seen.setdefault(name, path)


# Names that types of several layers have, and why.
SHARED_NAMES = {
    **dict.fromkeys(
        ("BillingMode", "ChangeKind", "IndexProjection", "OnDemandThroughput", "ProjectionKind", "StreamRecord", "StreamView", "Throughput"),
        "DynamoDB's own words: in the API's requests, in the engine, and in models"),
    **dict.fromkeys(
        ("Action", "Assignment", "Kind", "Node", "Order", "Statement", "Step", "Token", "TokenKind", "Type", "Update"),
        "words of grammars: expressions, PartiQL, SQL and the model language have theirs; a tree in memory has nodes, too"),
    **dict.fromkeys(("Client", "Connection"), "of HTTP, of the DynamoDB API, and of a database server"),
    "Lease": "the right to do something alone for a while: a process, or a worker of the shops system",
}  # fmt: skip


def _layer_of(path, layers):
    """The folder of the layer that has this file."""
    return next((folder for folder in path.parents if folder in layers), pathlib.Path(*path.parts[:2]))


def a_type_has_a_name_of_its_own(tree):
    """A header of another layer that has a type of this name makes a reader look twice.  SHARED_NAMES has the exceptions."""
    layers = {path.parent for path in tree.paths if path.name == "CMakeLists.txt" and "stator_layer(" in tree.text(path)}
    seen = {}
    for path in tree.code():
        if path.suffix != ".h" or is_test(path) or not within(path, "src", "systems", "include"):
            continue
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            defined = TYPE.match(line)
            if not defined or defined[1] in SHARED_NAMES:
                continue
            first = seen.setdefault(defined[1], path)
            if _layer_of(first, layers) != _layer_of(path, layers):
                yield f"{path}:{number}: {first} has another {defined[1]}; take a name of its own"


MOST_FILES = 40


def large_folders_have_rooms(tree):
    counts = {}
    for path in tree.code():
        if within(path, "src", "systems") and not is_test(path):
            counts[path.parent] = counts.get(path.parent, 0) + 1
    for folder, count in counts.items():
        if count > MOST_FILES:
            yield f"{folder}:1: {count} files of code; give them rooms (ROOMS of the layer)"


def the_map_shows_every_layer(tree):
    """docs/architecture.md has a line for each layer, with the layers that it declares in the build behind an arrow."""
    page = pathlib.Path("docs/architecture.md")
    drawn = _drawn_layers(tree.text(page)) if page in tree.paths else {}
    declared, folders = {}, {}  # by folder; by name
    for path in tree.paths:
        if path.name == "CMakeLists.txt" and (layer := re.search(r"stator_layer\(([^)]*)\)", tree.text(path))):
            name, *words = layer[1].split()
            folders[name] = str(path.parent).removeprefix("src/")
            linked = re.findall(rf"target_link_libraries\(stator_{name} (?:PUBLIC|PRIVATE) stator_(\w+)\)", tree.text(path))
            declared[path.parent] = [*words, *(word for other in linked for word in ("PRIVATE", other))]
    for folder in drawn:
        if pathlib.Path(folder) not in declared:
            yield f"{page}:1: the map has {folder}, which is no layer"
    for folder, words in declared.items():
        if folder.parts[0] == "systems" and folder.name != "catalog":
            continue  # the map has one line for all of them
        if f"{folder}/" not in drawn:
            yield f"{page}:1: the map lacks {folder}/"
            continue
        kind, uses = None, set()
        for word in words:
            kind = word if word.isupper() else kind
            if kind in ("PUBLIC", "PRIVATE") and word != kind:
                uses.add(folders.get(word, word))
        systems = {use for use in uses if use.startswith("systems/") and use != "systems/catalog"}
        uses = uses - systems | ({"systems/*"} if systems else set())
        if uses != drawn[f"{folder}/"]:
            yield f"{page}:1: {folder}/ uses {', '.join(sorted(uses)) or 'no layer'}; the map shows another list"


def _drawn_layers(text):
    """{"src/api/": {"value", "expr"}} from lines such as "src/api/  the operations  -> value, expr"; a comma at the end goes on."""
    found, folder = {}, None
    for line in text.splitlines():
        if opened := re.match(r"((?:src|systems)/[\w/-]+/)\s.*?(?:-> (.*))?$", line):
            folder, more = opened[1], opened[2] or ""
            found[folder] = set()
        elif folder and line.startswith(" "):
            more = line.strip()
        else:
            folder = None
            continue
        found[folder] |= {use.strip() for use in more.split(",")} - {"", "(standard library)"}
        if not more.endswith(","):
            folder = None
    return found


# --- what belongs to one machine


def the_page_makes_no_markup_of_text(tree):
    """Everything from the database is text: the console has no way to make markup of it."""
    paths = [path for path in tree.paths if within(path, "console") and path.suffix in {".ts", ".tsx", ".html", ".mjs"}]
    pattern = r"innerHTML|outerHTML|insertAdjacentHTML|dangerouslySet\w*|document\.write|srcdoc|\beval\(|new Function\b|https?://(?!localhost|127\.|www\.w3\.org/2000/svg)[a-z]"
    yield from tree.grep(paths, pattern, "{}: text stays text, and nothing comes from elsewhere")


def lock_files_name_the_public_registry(tree):
    for path in tree.paths:
        if path.name not in ("package-lock.json", "npm-shrinkwrap.json"):
            continue
        for name, package in json.loads(tree.text(path)).get("packages", {}).items():
            resolved = package.get("resolved", "")
            host = re.match(r"https?://([^/]+)/", resolved)
            if resolved and not package.get("link") and (not host or host[1] != "registry.npmjs.org"):
                yield f"{path}:1: {name} is resolved to a place of its own; drop the line, npm does without"
            if host and not package.get("integrity"):
                yield f"{path}:1: {name} has no integrity hash"


def no_machine_is_named(tree, words=None):
    """Paths and package hosts of the machine at hand, asked of the machine so that none has to be listed here."""
    words = machine_words(tree.top) if words is None else words
    pattern = "|".join([r"(?<![\w.$})\"'-])/(?:home/[a-z]\w*|root)/", *(rf"(?<![\w.$}})-]){re.escape(word)}" for word in words)])
    paths = [path for path in tree.paths if not within(path, "tests/tidy")]
    return tree.grep(paths, pattern, "{} belongs to one machine")


def machine_words(top):
    words = {f"{top.resolve()}/"}
    parent = top.resolve().parent
    if str(parent) not in ("/", "/src", "/tmp", "/usr", "/opt", "/home", "/mnt", "/var"):
        words.add(f"{parent}/")
    home = os.environ.get("HOME", "")
    if home.count("/") > 0 and len(home) > 1:
        words.add(f"{home.rstrip('/')}/")
    sources = [pathlib.Path("/etc/apt/sources.list"), *pathlib.Path("/etc/apt/sources.list.d").glob("*")]
    texts = [path.read_text(errors="replace") for path in sources if path.is_file()]
    try:
        texts.append(subprocess.run(["npm", "config", "get", "registry"], capture_output=True, text=True, check=False).stdout)
    except OSError:
        pass  # without npm there is no registry to leak
    for text in texts:
        words |= set(re.findall(r"^(?!\s*#).*?https?://(?:[^/@\s]*@)?([\w.-]+)", text, re.MULTILINE)) - PUBLIC_HOSTS
    return sorted(words)


ALL = [
    rocksdb_stays_in_its_backend,
    libpq_stays_in_its_backend,
    simdjson_stays_in_value,
    json_trees_stay_at_the_edges,
    results_are_of_one_type,
    backends_are_chosen_above_the_engine,
    time_comes_from_a_clock,
    waiting_is_a_clocks,
    tests_wait_for_events,
    includes_start_at_a_root,
    includes_lead_somewhere,
    public_headers_include_those_that_are_installed,
    installed_headers_bring_nothing_along,
    headers_have_pragma_once,
    headers_compile_alone,
    nothing_is_left_to_do,
    comments_begin_with_their_subject,
    files_end_with_a_newline,
    lines_end_with_a_newline_only,
    code_is_formatted,
    lines_fit_into_120_columns,
    try_stands_before_braces,
    log_events_have_snake_case_names,
    stages_leave_judgements_to_the_last,
    python_names_are_defined,
    links_lead_somewhere,
    documents_name_files_that_exist,
    comments_name_pages_that_exist,
    the_glossary_names_what_exists,
    a_type_has_one_definition,
    a_type_has_a_name_of_its_own,
    large_folders_have_rooms,
    the_map_shows_every_layer,
    lock_files_name_the_public_registry,
    the_page_makes_no_markup_of_text,
    no_machine_is_named,
]
