import ArgumentParser
import Formats

struct ImportQueueCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue",
        abstract: "Adds the sessions, jobs and webhooks of a file of 'fetchd export'.",
        discussion: """
            Sessions and webhooks that exist already stay as they are. Jobs are added in the order of the file, and those \
            that were paused are paused again. Secrets that the file does not have are named.

            EXAMPLES:
              fetchd import queue queue.jsonl
            """)

    @Argument(
        help: ArgumentHelp("The file, with one JSON document on each line; - reads standard input.", valueName: "file"),
        completion: .file())
    var file: String

    @OptionGroup(title: "The service")
    var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        var summary = ImportSummary()
        let lines = Self.lines(try InputFile.bytes(of: file), into: &summary)
        try await QueueImport(service: service).run(lines, into: &summary)
        try console.print(summary, isRehearsed: false)
        if !summary.failures.isEmpty { throw ExitCode.downloadFailed }
    }

    static func lines(
        _ bytes: [UInt8], into summary: inout ImportSummary
    ) -> [(place: String, line: QueueLine)] {
        var lines: [(place: String, line: QueueLine)] = []
        let texts = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, text) in texts.enumerated() where text.contains(where: { $0 > 0x20 }) {
            let place = "line \(index + 1)"
            do throws(QueueLine.Fault) {
                lines.append((place, try QueueLine(text, place: place)))
            } catch {
                summary.fail(place, error.reason)
            }
        }
        return lines
    }
}
