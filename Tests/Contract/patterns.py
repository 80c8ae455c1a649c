#!/usr/bin/env python3
"""Tests/Contract/patterns.py

Generated clients and validators compile the patterns of openapi.yaml with the engine of their language. This test compiles
each pattern with every engine at hand, and compares what each of them says of the same texts. Python's re, Rust's regex and
PCRE2 are always there; node, ruby, go and java are used if they are installed. Exits with 1 if an engine refuses a pattern,
or judges a text differently.
"""

from __future__ import annotations

import base64
import ctypes
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable, Iterator

import yaml
from pydantic_core import SchemaError, SchemaValidator, ValidationError, core_schema

ROOT = Path(__file__).resolve().parent.parent.parent

# Without line ends: `$` means the end of the text or of a line, depending on the engine.
TEXTS = """
a . .. ... .a ..a a. a..b .* ..* ...* a* a** * a/b a\\b {date} .{date} {x} a{date}.txt résumé.pdf 写真.jpg 😀
http://a https://files.example/a.iso HTTP://A http:// ftp://a http://bücher.example/x http://例え.jp:80/ http://a:0 http://a:65535
http://a:65536 http://a..b http://[::1]/x http://[fe80::1%25eth0]/ http://u:p@h/ http://a,b http://a_b~c%41/ http://a/b?c#d
http://a/é rehearse:x rehearse:x?size=1 rehearse:%41 rehearse:%4 socks5://h:1 socks5://u:p@h:1080 http://proxy:3128/ http://proxy
job_01HZX3K9V7Q2N4R8T6W0YB5CDG tok_01HZX3K9V7Q2N4R8T6W0YB5CDH "7" "7.1" W/"7" * wait=30 wait=31 d41d8cd98f00b204e9800998ecf8427e
2026-11-23T08:00:00.000Z whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA text/plain X-Name x:y /a /tmp/b bytes=0-1
""".split() + ["", " ", "a b", "a\tb", "a\x00b", "a\x7fb"]

# Each program reads the number of patterns, then patterns and texts, each a line in base64. For each pattern, it prints a
# digit for each text, or its error.
NODE = """
const lines = require('fs').readFileSync(0, 'utf8').split('\\n').slice(0, -1);
const [count, ...all] = [Number(lines[0]), ...lines.slice(1).map((line) => Buffer.from(line, 'base64').toString())];
for (const pattern of all.slice(0, count)) {
    try {
        // JSON Schema, 6.4: Unicode. Some validators leave the flag out.
        const [one, two] = [new RegExp(pattern, 'u'), new RegExp(pattern)];
        console.log(all.slice(count).map((text) => (one.test(text) === two.test(text) ? +one.test(text) : '?')).join(''));
    } catch (error) { console.log('error: ' + error.message); }
}
"""
RUBY = """
require 'base64'
lines = STDIN.read.split("\\n", -1)[0..-2]
count = lines.shift.to_i
all = lines.map { |line| Base64.decode64(line).force_encoding('UTF-8') }
all[0, count].each do |pattern|
  begin
    made = Regexp.new(pattern)
    puts all[count..].map { |text| made.match?(text) ? 1 : 0 }.join
  rescue RegexpError => error
    puts "error: #{error.message}"
  end
end
"""
GO = """
package main

import ("bufio"; "encoding/base64"; "fmt"; "os"; "regexp"; "strconv")

func main() {
	input := bufio.NewScanner(os.Stdin)
	input.Scan()
	count, _ := strconv.Atoi(input.Text())
	all := []string{}
	for input.Scan() {
		text, _ := base64.StdEncoding.DecodeString(input.Text())
		all = append(all, string(text))
	}
	for _, pattern := range all[:count] {
		made, fault := regexp.Compile(pattern)
		if fault != nil { fmt.Println("error:", fault); continue }
		for _, text := range all[count:] {
			if made.MatchString(text) { fmt.Print(1) } else { fmt.Print(0) }
		}
		fmt.Println()
	}
}
"""
JAVA = """
import java.util.*;
import java.util.regex.*;

public class Patterns {
    public static void main(String[] none) throws Exception {
        String[] lines = new String(System.in.readAllBytes()).split("\\n", -1);
        int count = Integer.parseInt(lines[0]);
        List<String> all = new ArrayList<>();
        for (int at = 1; at < lines.length - 1; at++) all.add(new String(Base64.getDecoder().decode(lines[at]), "UTF-8"));
        for (String pattern : all.subList(0, count)) {
            try {
                Pattern made = Pattern.compile(pattern);
                StringBuilder line = new StringBuilder();
                for (String text : all.subList(count, all.size())) line.append(made.matcher(text).find() ? 1 : 0);
                System.out.println(line);
            } catch (PatternSyntaxException fault) { System.out.println("error: " + fault.getDescription()); }
        }
    }
}
"""


def main() -> int:
    patterns = sorted(set(found(yaml.safe_load((ROOT / "openapi.yaml").read_text(encoding="utf-8")))))
    if len(patterns) < 30:
        sys.exit(f"patterns.py: only {len(patterns)} patterns were found in openapi.yaml")
    verdicts = {name: engine(patterns) for name, engine in engines()}
    faults = [
        f"{name}: {pattern}\n    {fault}"
        for name, lines in verdicts.items()
        for pattern, line, expected in zip(patterns, lines, verdicts["Python"])
        if (fault := difference(line, expected))
    ]
    print("\n".join(faults) or f"{len(patterns)} patterns, the same for {', '.join(verdicts)}")
    return 1 if faults else 0


def found(value: Any) -> Iterator[str]:
    """The patterns of a description, wherever they are."""
    if isinstance(value, dict):
        if isinstance(pattern := value.get("pattern"), str):
            yield pattern
        value = list(value.values())
    if isinstance(value, list):
        for member in value:
            yield from found(member)


def difference(line: str, expected: str) -> str | None:
    if line == expected:
        return None
    if len(line) != len(TEXTS):
        return line
    return "judges differently: " + ", ".join(repr(text) for text, one, two in zip(TEXTS, line, expected) if one != two)


def engines() -> Iterator[tuple[str, Callable[[list[str]], list[str]]]]:
    yield "Python", lambda patterns: [digits(lambda text, made=re.compile(one): made.search(text)) for one in patterns]
    yield "Rust", lambda patterns: [with_rust(one) for one in patterns]
    yield "PCRE2", with_pcre2
    yield from (
        (name, lambda patterns, command=command: output(command, patterns))
        for name, program, command in [
            ("ECMAScript", "node", ["node", "-e", NODE]),
            ("Onigmo", "ruby", ["ruby", "-e", RUBY]),
            ("RE2", "go", ["go", "run", ("patterns.go", GO)]),
            ("Java", "javac", ["java", ("Patterns.java", JAVA)]),
        ]
        if shutil.which(program)
    )


def digits(matches: Callable[[str], Any]) -> str:
    return "".join("1" if matches(text) else "0" for text in TEXTS)


def with_rust(pattern: str) -> str:
    try:
        made = SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))
    except SchemaError as error:
        return f"error: {error}"

    def matches(text: str) -> bool:
        try:
            made.validate_python(text)
        except ValidationError:
            return False
        return True

    return digits(matches)


def with_pcre2(patterns: list[str]) -> list[str]:
    """PHP's engine; its library belongs to git, which every clone has."""
    library = ctypes.CDLL("libpcre2-8.so.0")
    library.pcre2_compile_8.restype = library.pcre2_match_data_create_8.restype = ctypes.c_void_p
    data = ctypes.c_void_p(library.pcre2_match_data_create_8(ctypes.c_uint32(16), None))
    utf = ctypes.c_uint32(0x00080000)

    def judged(pattern: str) -> str:
        code, offset, encoded = ctypes.c_int(), ctypes.c_size_t(), pattern.encode()
        length = ctypes.c_size_t(len(encoded))
        made = library.pcre2_compile_8(encoded, length, utf, ctypes.byref(code), ctypes.byref(offset), None)
        if not made:
            return f"error {code.value} at byte {offset.value}"

        def matches(text: str) -> bool:
            subject = text.encode()
            size = ctypes.c_size_t(len(subject))
            start, flags = ctypes.c_size_t(0), ctypes.c_uint32(0)
            return library.pcre2_match_8(ctypes.c_void_p(made), subject, size, start, flags, data, None) >= 0

        return digits(matches)

    return [judged(pattern) for pattern in patterns]


def output(command: list[str | tuple[str, str]], patterns: list[str]) -> list[str]:
    lines = [str(len(patterns)), *(base64.b64encode(text.encode()).decode() for text in [*patterns, *TEXTS])]
    with tempfile.TemporaryDirectory() as folder:
        arguments = [written(Path(folder), one) if isinstance(one, tuple) else one for one in command]
        made = subprocess.run(arguments, input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=120)
    said = made.stdout.splitlines()
    return said if made.returncode == 0 and len(said) == len(patterns) else [f"error: {made.stderr}"] * len(patterns)


def written(folder: Path, source: tuple[str, str]) -> str:
    path = folder / source[0]
    path.write_text(source[1], encoding="utf-8")
    return str(path)


if __name__ == "__main__":
    sys.exit(main())
