import ArgumentParser
import Base
import Formats
import Foundation
import Glibc
import Lists

struct ImportListCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        "list", "Adds a job for each line of a list, of any length.",
        discussion: """
            The formats are ndjson (a job as JSON on each line), tsv (columns with names, such as url and sha256), urls \
            (a URL on each line), sha256sum (digests and names; --base is the URL of their folder), ena (a file report of the \
            European Nucleotide Archive), aria2 (an input file) and metalink. Without --format, the name of the file \
            decides: .ndjson, .jsonl, .tsv, .urls, .txt, .sha256, SHA256SUMS, .aria2, .metalink or .meta4.

            The service reads the whole list before it adds the first job. A line with a fault is named, and then nothing is \
            added, unless --keep-going is given. All jobs of a list are in one batch, so one session.finished covers them. To \
            import the same list again within a day adds nothing twice, also after an interruption.
            """,
        examples: "import list samples.tsv", "import list --format ena report.tsv",
        "import list --base https://files.example.com/data SHA256SUMS")

    @Argument(help: ArgumentHelp("The list; - reads standard input.", valueName: "file"), completion: .file())
    var file: String

    @Option("The format of the list. (default: by the name of the file)", "format")
    var format: String?

    @Option(
        "What stands before values without a scheme. For aria2: its folder that stands for the downloads folder.", "url"
    )
    var base: String?

    @Option(
        "The session of the jobs whose lines name none. (default: the session default)", "session", name: .shortAndLong)
    var session: String?

    @Flag(help: "Add the jobs of the good lines if other lines have faults.") var keepGoing = false
    @OptionGroup(title: "The service") var service: ServiceOptions

    func validate() throws {
        guard format == nil || ListFormat(rawValue: format ?? "") != nil else {
            throw ValidationError("'\(Printable(format ?? ""))' is not a format: \(ListFormat.names).")
        }
        guard format != nil || ListFormat(fileName: file) != nil else {
            throw ValidationError(
                "The name of the list does not tell its format. Use --format with \(ListFormat.names).")
        }
    }

    func perform(with service: RemoteService, _ console: Console) async throws {
        let list = try InputFile.descriptor(of: file)
        let path = RequestPath("jobs", "import").query("session", session)
            .query("format", format ?? ListFormat(fileName: file)?.rawValue).query("base", base)
            .query("keep_going", keepGoing ? "true" : nil)
        do {
            let response = try await send(list, to: path, service)
            let result = try response.document(ImportResult.self)
            guard !console.isJSON else { return try console.print(response.text) }
            result.report(to: console)
            try console.print(result.sentence)
            if result.refused ?? 0 > 0 { throw ExitCode.downloadFailed }
        } catch let error as ClientError {
            if !console.isJSON, let refusal = try? JSON(document: error.document).decoded(ImportResult.Faults.self) {
                ImportResult.report(refusal.problems, to: console)
            }
            throw error
        }
    }

    /// The digest of the list is the key of the import, so a file is sent again if the service restarts meanwhile. Standard input
    /// cannot be read again.
    private func send(_ list: Descriptor, to path: RequestPath, _ service: RemoteService) async throws -> Response {
        var backoff = Backoff()
        var triesLeft = 8
        while true {
            do throws(ClientError) {
                return try await service.send(list, to: path)
            } catch {
                guard error.status == .unavailable, triesLeft > 0, lseek(list.number, 0, SEEK_SET) == 0,
                    await service.isRestarting()
                else { throw error }
                triesLeft -= 1
                try await Task.sleep(for: backoff.next())
            }
        }
    }
}

/// The answer to an import.
private struct ImportResult: Decodable {
    struct Line: Decodable {
        var line: Int
        var detail: String
    }

    /// Of a refused import.
    struct Faults: Decodable { var problems: [Line] }

    var created: Int
    var existing: Int
    var batch: Int?
    var refused: Int?
    var problems: [Line]?
    var remarks: [Line]?

    var sentence: String {
        var parts = ["\(DisplayFormat.count(created, "job")) added"]
        if existing > 0 { parts.append("\(existing) already there") }
        if let refused, refused > 0 { parts.append("\(DisplayFormat.count(refused, "line")) not imported") }
        return parts.joined(separator: ", ") + "."
    }

    func report(to console: Console) {
        Self.report(problems ?? [], to: console)
        for remark in remarks ?? [] { console.say("line \(remark.line): \(Printable(remark.detail))") }
    }

    static func report(_ problems: [Line], to console: Console) {
        for problem in problems { console.say("Not imported: line \(problem.line): \(Printable(problem.detail))") }
    }
}

extension ListFormat {
    static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

    /// nil if the name has no known ending.
    init?(fileName: String) {
        let name = fileName.split(separator: "/").last.map { $0.lowercased() } ?? ""
        switch name.split(separator: ".").last.map(String.init) ?? "" {
        case "ndjson", "jsonl": self = .ndjson
        case "tsv": self = .tsv
        case "urls", "txt": self = .urls
        case "sha256", "sha256sum", "sha256sums", "md5", "md5sums", "sha512sums": self = .sha256sum
        case "aria2", "session": self = .aria2
        case "metalink", "meta4": self = .metalink
        default: return nil
        }
    }
}
