import ArgumentParser
import Formats

struct ImportAria2Command: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "aria2",
        abstract: "Adds the downloads of a session file of aria2 (--save-session).",
        discussion: """
            Each entry becomes a job: its addresses (mirrors), and of its options dir, out, header, referer, user-agent, \
            http-user, http-passwd, checksum, split, max-download-limit, max-tries, timeout, connect-timeout, \
            allow-overwrite and pause. Other options are named at the end. A file whose name ends in .gz is decompressed. \
            Bytes that aria2 has received are not taken over.

            fetchd writes below its downloads folder only. --base names the folder of aria2 that corresponds to it: dir \
            below it becomes the directory of the job. Without --base, dir is left out.

            EXAMPLES:
              fetchd import aria2 --dry-run aria2.session
              fetchd import aria2 --base /srv/aria2 aria2.session
            """)

    @Argument(help: ArgumentHelp("The session file; - reads standard input.", valueName: "file"), completion: .file())
    var file: String

    @Option(help: ArgumentHelp("The folder of aria2 that corresponds to fetchd's downloads folder.", valueName: "dir"))
    var base: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The session of the jobs. (default: the session default)", valueName: "session"))
    var session: String?

    @Flag(help: "Only show what would be added.")
    var dryRun = false

    @OptionGroup(title: "The service")
    var service: ServiceOptions

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
        try console.print(summary, isRehearsed: dryRun)
        if !summary.failures.isEmpty { throw ExitCode.downloadFailed }
    }

    private func converted(_ entries: [Aria2Entry], into summary: inout ImportSummary) -> [ImportedJob] {
        let conversion = Aria2Conversion(base: base, session: session)
        var unknown: [String: Int] = [:]
        var jobs: [ImportedJob] = []
        for entry in entries {
            do throws(Aria2Conversion.Refusal) {
                let result = try conversion.job(entry)
                jobs.append(result.job)
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
