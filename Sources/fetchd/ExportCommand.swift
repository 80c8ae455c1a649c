import API
import ArgumentParser
import Configuration
import Downloads
import Formats
import Foundation
import Glibc
import Storage

/// `fetchd export`: writes what a service still has to do.
struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes sessions, jobs and webhooks as JSON lines, also while the service runs.",
        discussion: """
            Each line has the request that creates one session, job or webhook. 'fetchd import FILE' creates them in another \
            service. The jobs are those that have not ended; with --ended, also those that have failed or were cancelled. \
            Received bytes, events and finished jobs are not exported: use 'fetchd backup' to move a whole service.

            Without --with-secrets, the member missing of a line names the secrets that it lacks: credentials, secret headers, \
            request bodies, users of URLs, and of webhooks the secret, the headers and the query. Queries of jobs' URLs are \
            written.

            EXAMPLES:
              fetchd export --output queue.jsonl --data-dir /var/lib/fetchd/data
              fetchd export --with-secrets --output queue.jsonl
            """)

    @OptionGroup var data: DataFolderOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("A new file, of mode 0600. (default: standard output)", valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(help: "Write secrets, too.")
    var withSecrets = false

    @Flag(help: "Also write jobs that have failed or were cancelled. An import begins them again.")
    var ended = false

    @OptionGroup var key: SettingOptions<KeyRows>

    func run() throws {
        CoreDumps.disable()
        do {
            let sources = try data.sources(key.flags)
            let file = try output.map(Self.create) ?? FileHandle.standardOutput
            let lines = ExportLine(withSecrets: withSecrets)
            try Self.write(lines.header(at: Date()).bytes, to: file)
            try StoredQueue.read(inDataFolder: try data.folder(in: sources), key: try sources.key, states: states) {
                item in
                try Self.write(lines.line(item).bytes, to: file)
            }
            try? file.synchronize()
        } catch {
            throw Self.ending(with: error)
        }
    }

    private var states: Set<JobState.Name> {
        let outstanding: Set<JobState.Name> = [.queued, .running, .waiting, .paused]
        return ended ? outstanding.union([.failed, .cancelled]) : outstanding
    }

    private static func create(_ path: String) throws -> FileHandle {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            let reason = String(cString: strerror(errno))
            throw ValidationError("\(path) cannot be created: \(reason).")
        }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    private static func write(_ line: [UInt8], to file: FileHandle) throws {
        try file.write(contentsOf: Data(line + [UInt8(ascii: "\n")]))
    }
}
