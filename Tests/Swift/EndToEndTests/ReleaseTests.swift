import Foundation
import TestKit
import Testing

/// `scripts/release --check` compares the tag, the version and the changelog in a repository of its own.
@Suite struct ReleaseTests {
    private static let log = """
        # Changelog

        ## [Unreleased]

        ## [1.2.3] - 2030-01-31

        - Faster.

        ## [1.2.2] - 2029-01-31

        """

    private struct Case: CustomTestStringConvertible {
        var testDescription: String
        var tag: String? = "v1.2.3"
        var version = "1.2.3"
        var apiVersion = "1.2.3"
        var pythonVersion = "1.2.3"
        var javaScriptVersion = "1.2.3"
        var log = ReleaseTests.log
        var isChanged = false
        /// Part of the message; nil if everything agrees.
        var message: String?
    }

    private static let cases = [
        Case(testDescription: "everything agrees"),
        Case(testDescription: "no tag", tag: nil, message: "this commit has no tag. Create it: git tag v1.2.3"),
        Case(testDescription: "another tag", tag: "v1.2.4", message: "the tag is v1.2.4"),
        Case(testDescription: "no v in the tag", tag: "1.2.3", message: "the tag is 1.2.3"),
        Case(testDescription: "another version", version: "1.2.2", message: "Version.swift has 1.2.2"),
        Case(
            testDescription: "another version of the API", apiVersion: "1.2.2",
            message: "info.version of openapi.yaml is not 1.2.3"),
        Case(
            testDescription: "another version of the Python package", pythonVersion: "1.2.2",
            message: "the Python package is not 1.2.3"),
        Case(
            testDescription: "another version of the JavaScript package", javaScriptVersion: "1.2.2",
            message: "the JavaScript package is not 1.2.3"),
        Case(testDescription: "no version", version: "next", message: "no version of the form 1.2.3"),
        Case(
            testDescription: "no section", log: log.replacing("1.2.3", with: "1.2.1"),
            message: "the first version in CHANGELOG.md is not '## [1.2.3] - YYYY-MM-DD'"),
        Case(testDescription: "no date", log: log.replacing(" - 2030-01-31", with: ""), message: "the first version"),
        Case(testDescription: "an empty section", log: log.replacing("- Faster.", with: ""), message: "is empty"),
        Case(
            testDescription: "a change that no release has",
            log: log.replacing("## [Unreleased]", with: "## [Unreleased]\n\n- Slower."),
            message: "the section Unreleased of CHANGELOG.md has changes"),
        Case(testDescription: "a changed file", isChanged: true, message: "changes that are not committed"),
    ]

    @Test(arguments: cases.indices)
    func comparesTagVersionsAndChangelog(_ index: Int) async throws {
        let one = Self.cases[index]
        let folder = try TemporaryFolder()
        for script in ["scripts/release", "packaging/version", "scripts/terminal.sh"] {
            try folder.write(String(contentsOfFile: Project.path(script), encoding: .utf8), to: script)
        }
        try folder.write("    static let text = \"\(one.version)\"\n", to: "Sources/fetchd/Version.swift")
        try folder.write("info:\n  version: \(one.apiVersion)\n", to: "openapi.yaml")
        try folder.write("__version__ = \"\(one.pythonVersion)\"\n", to: "clients/python/fetchd/__init__.py")
        try folder.write("\"version\": \"\(one.javaScriptVersion)\"\n", to: "clients/javascript/package.json")
        try folder.write(one.log, to: "CHANGELOG.md")
        let script = """
            chmod +x scripts/release packaging/version
            git init --quiet && git add . && git -c user.name=t -c user.email=t@example.org commit --quiet -m release
            if [[ -n $1 ]]; then git tag "$1"; fi
            if [[ $2 == true ]]; then echo >> CHANGELOG.md; fi
            exec scripts/release --check
            """
        let outcome = try await ChildProcess.run(
            "/bin/bash", ["-euc", script, "bash", one.tag ?? "", "\(one.isChanged)"], workingFolder: folder.path)
        #expect(outcome.succeeded == (one.message == nil), "\(one): \(outcome)")
        if let message = one.message { #expect(outcome.errors.contains(message), "\(one): \(outcome)") }
    }
}
