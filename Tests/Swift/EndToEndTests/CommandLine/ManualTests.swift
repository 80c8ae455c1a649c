import Formats
import Foundation
import TestKit
import Testing

/// The manual pages that packaging/manual makes from the help.
@Suite struct ManualTests {
    private let folder: TemporaryFolder
    private let pages: [String]

    init() async throws {
        folder = try TemporaryFolder()
        let made = try await ChildProcess.run(
            "python3", [Project.path("packaging/manual"), "--program", FetchdProcess.program, "--output", folder.path])
        #expect(made.succeeded, "\(made)")
        pages = folder.files
    }

    @Test func coversEveryCommandAndOption() async throws {
        let help = try await FetchdProcess.run(["--experimental-dump-help"]).json["command"]
        let commands = Self.commands(help, ["fetchd"])
        #expect(Set(pages) == Set(commands.map { $0.path.joined(separator: "-") + ".1" }))
        for (path, command) in commands {
            let page = try text(path.joined(separator: "-") + ".1").replacing("\n", with: " ")
            #expect(page.contains(command["abstract"].string ?? "no abstract"), "\(path)")
            for argument in command["arguments"].arrayValue ?? [] where argument["shouldDisplay"] == true {
                for name in Self.names(argument) { #expect(page.contains(name), "\(path): \(name)") }
            }
        }
    }

    @Test func listsEachCommandOnThePageAboveIt() throws {
        let page = try text("fetchd-webhook.1")
        for name in ["recover", "rotate-secret", "redeliver"] {
            #expect(page.contains("\n\(name)\n"), "\(page)")
            #expect(page.contains("fetchd-webhook-\(name)(1)"), "\(page)")
        }
    }

    @Test func keepsExamplesAndExitStatusesAsLines() throws {
        let page = try text("fetchd-serve.1")
        #expect(page.contains("\nEXIT STATUS\n0\nstopped by SIGTERM"), "\(page)")
        #expect(try text("fetchd-add.1").contains("\nfetchd add --wait --quiet --input urls.txt\n"))
    }

    @Test func hasNoMistakeThatManOrMandocReports() async throws {
        for page in pages {
            let man = try await ChildProcess.run(
                "man", ["--warnings", "--local-file", folder.path(page)], environment: ["LC_ALL": "C.UTF-8"])
            #expect(man.succeeded && man.errors.isEmpty && !man.output.isEmpty, "\(page): \(man.errors)")
            let lint = try await ChildProcess.run("mandoc", ["-T", "lint", folder.path(page)])
            #expect(lint.succeeded && lint.output.isEmpty && lint.errors.isEmpty, "\(page): \(lint)")
        }
    }

    private static func commands(_ command: JSON, _ path: [String]) -> [(path: [String], command: JSON)] {
        let below = (command["subcommands"].arrayValue ?? []).filter { $0["commandName"] != "help" }
        return [(path, command)] + below.flatMap { commands($0, path + [$0["commandName"].string ?? ""]) }
    }

    private static func names(_ argument: JSON) -> [String] {
        guard let names = argument["names"].arrayValue else { return [argument["valueName"].string ?? ""] }
        return names.map { ($0["kind"] == "short" ? "-" : "--") + ($0["name"].string ?? "") }
    }

    /// The page without the requests and fonts of roff(7), with its filled lines joined.
    private func text(_ page: String) throws -> String {
        let source = String(decoding: try #require(folder.bytes(of: page)), as: UTF8.self)
        let plain = source.replacing(/\\f[BRI]/, with: "").replacing("\\-", with: "-").replacing("\\e", with: "\\")
        let lines = plain.replacing("\n.SH ", with: "\n").split(separator: "\n").filter { !$0.hasPrefix(".") }
        return lines.joined(separator: "\n") + "\n"
    }
}
