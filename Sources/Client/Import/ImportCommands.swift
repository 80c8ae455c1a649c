import ArgumentParser
import Base
import Formats
import Lists

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "import", "Adds the downloads of a file: of 'fetchd export', a list, or a session of aria2.",
        discussion: """
            'fetchd import FILE' reads a file of 'fetchd export', 'fetchd import list FILE' a list such as a TSV file, and \
            'fetchd import aria2 FILE' a session file of aria2.

            Repeating an import adds nothing twice. In an import of an export or of a session of aria2, each job keeps its \
            origin in metadata.imported_from; every line that cannot be imported is named, and the others are imported.
            """,
        examples: "import queue.jsonl", "import list samples.tsv", "import aria2 --dry-run aria2.session",
        subcommands: [ImportQueueCommand.self, ImportListCommand.self, ImportAria2Command.self],
        defaultSubcommand: ImportQueueCommand.self)
}

struct ImportQueueCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        "queue", "Adds the sessions, jobs and webhooks of a file of 'fetchd export'.",
        discussion: """
            Sessions and webhooks that exist already stay as they are. Jobs are added in the order of the file, and those \
            that were paused are paused again. Secrets that the file does not have are named.
            """,
        examples: "import queue queue.jsonl")

    @Argument(
        help: ArgumentHelp("The file, with one JSON document on each line; - reads standard input.", valueName: "file"),
        completion: .file())
    var file: String

    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        var summary = ImportSummary()
        let lines = Self.lines(try InputFile.bytes(of: file), into: &summary)
        try await QueueImport(service: service).run(lines, into: &summary)
        try console.print(summary, isDryRun: false)
        if !summary.failures.isEmpty { throw ExitCode.downloadFailed }
    }

    static func lines(_ bytes: [UInt8], into summary: inout ImportSummary) -> [(place: String, line: QueueLine)] {
        var lines: [(place: String, line: QueueLine)] = []
        let texts = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, text) in texts.enumerated() where text.contains(where: { $0 > 0x20 }) {
            let place = "line \(index + 1)"
            do throws(ImportFault) {
                lines.append((place, try QueueLine(text, place: place)))
            } catch {
                summary.fail(place, error.reason)
            }
        }
        return lines
    }
}

struct ImportAria2Command: ClientCommand {
    static let configuration = CommandConfiguration(
        "aria2", "Adds the downloads of a session file of aria2 (--save-session).",
        discussion: """
            Each entry becomes a job: its addresses (mirrors), and of its options dir, out, header, referer, user-agent, \
            http-user, http-passwd, checksum, split, max-download-limit, max-tries, timeout, connect-timeout, \
            allow-overwrite and pause. Other options are named at the end. A file whose name ends in .gz is decompressed. \
            Bytes that aria2 has received are not taken over.

            fetchd writes below its downloads folder only. --base names the folder of aria2 that corresponds to it: dir \
            below it becomes the directory of the job. Without --base, dir is left out.
            """,
        examples: "import aria2 --dry-run aria2.session", "import aria2 --base /srv/aria2 aria2.session")

    @Argument(help: ArgumentHelp("The session file; - reads standard input.", valueName: "file"), completion: .file())
    var file: String

    @Option("The folder of aria2 that corresponds to fetchd's downloads folder.", "dir") var base: String?

    @Option("The session of the jobs. (default: the session default)", "session", name: .shortAndLong)
    var session: String?

    @Flag(help: "Only show what would be added.") var dryRun = false
    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let (entries, stray) = Aria2Entry.read(try Aria2SessionFile.text(of: file))
        var summary = ImportSummary()
        for line in stray { summary.fail("line \(line)", "It is neither an address nor an option.") }
        let jobs = converted(entries, into: &summary)
        if dryRun {
            summary.added = jobs.map { Self.shown($0) }
            if !console.isJSON { for job in summary.added { try console.print(job) } }
        } else {
            try await service.requireSession(session)
            try await JobImport(service: service).run(jobs, into: &summary)
        }
        try console.print(summary, isDryRun: dryRun)
        if !summary.failures.isEmpty { throw ExitCode.downloadFailed }
    }

    private func converted(_ entries: [Aria2Entry], into summary: inout ImportSummary) -> [ImportedJob] {
        let conversion = Aria2Conversion(base: base)
        var unknown: [String: Int] = [:]
        var jobs: [ImportedJob] = []
        for entry in entries {
            do throws(ListFault) {
                let result = try conversion.job(entry)
                var body = result.body
                if let session { body["session"] = .string(session) }
                jobs.append(
                    ImportedJob(
                        place: "line \(entry.line)", origin: result.origin, body: body, isPaused: result.isPaused))
                for text in result.remarks { summary.remark("line \(entry.line)", text) }
                for name in result.unknown { unknown[name, default: 0] += 1 }
            } catch {
                summary.fail("line \(entry.line)", error.reason)
            }
        }
        for (name, count) in unknown.sorted(by: { $0.key < $1.key }) {
            summary.remark(
                "option \(Printable(name))", "It has no counterpart in fetchd, and is left out (\(count) downloads).")
        }
        return jobs
    }

    /// The first address of a job and its destination, without secrets.
    private static func shown(_ job: ImportedJob) -> String {
        let url = job.body["url"]?.stringValue ?? job.body["urls"]?.arrayValue?.first?.stringValue ?? ""
        let destination = job.body["destination"]
        let place = [destination?.objectValue?["directory"], destination?.objectValue?["filename"]]
            .compactMap { $0?.stringValue }.joined(separator: "/")
        let shown = url.prefix { $0 != "?" } + (url.contains("?") ? "?..." : "")
        return place.isEmpty ? String(shown) : "\(shown) -> \(place)"
    }
}

/// The bytes of a session file, decompressed if its name ends in `.gz`, as aria2 does it.
enum Aria2SessionFile {
    /// Bytes of text. A session of a million downloads has less.
    static let limit = 256 << 20

    static func text(of file: String) throws(ClientError) -> String {
        let bytes = try InputFile.bytes(of: file)
        let text = file.hasSuffix(".gz") ? try inflated(bytes, of: file) : bytes
        guard text.count <= limit else {
            throw .unreadable(Printable(file).description, "it has more than \(limit >> 20) MiB of text")
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func inflated(_ bytes: [UInt8], of file: String) throws(ClientError) -> [UInt8] {
        let decoder = InflatingDecoder(.gzip)
        var text: [UInt8] = []
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(InflationError) in
                try decoder.decode(bytes) { piece in
                    text += piece
                    return text.count <= limit
                }
                if text.count <= limit { try decoder.finish() }
            }
        }
        if case .failure = result {
            throw .unreadable(Printable(file).description, "it is not in gzip format, or its end is missing")
        }
        return text
    }
}
