import ArgumentParser
import Base
import CurlClient
import Foundation

struct GetCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        "get", "Copies the finished file of a job to this machine.",
        discussion: """
            Writes the file to standard output, unless that is a terminal. With -o, writes to a folder, a file, a device or a \
            pipe. If the connection breaks, the command continues from the last byte. It compares size and sha-256 with \
            those that the service has stored, and fails if they differ.
            """,
        examples: "get job_01HZX3K9V7Q2N4R8T6W0YB5CDE > image.iso",
        "get -o image.iso job_01HZX3K9V7Q2N4R8T6W0YB5CDE", "get -o . job_01HZX3K9V7Q2N4R8T6W0YB5CDE")

    @Argument(help: "The identifier of the job.", completion: .jobIDs) var id: String

    @Option(
        "A folder, a file, or - for standard output. An existing file is replaced once the copy is complete.", "path",
        name: .shortAndLong, completion: .file())
    var output: String?

    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        if output == nil, console.outTerminal.isInteractive {
            throw ClientError(
                .misused, "The file is not for a terminal",
                "The file is not written to a terminal. Choose a destination: fetchd get -o PATH \(id), or fetchd get \(id) > FILE."
            )
        }
        let response = try await service.job(id)
        let job = try response.document(JobDocument.self)
        try await InterruptSignals.cancelling {
            let download = FileDownload(service, job)
            guard let output, output != "-" else { return try await download.read { try console.out.write($0) } }
            guard let file = try await download.save(to: output) else { return }
            try console.isJSON ? console.print(response.text) : console.print(file)
        }
    }
}

/// Copies a finished file from the service. If the connection breaks, it continues with a Range request. At the end it compares
/// size and sha-256 with those that the service reports.
struct FileDownload: Sendable {
    private let service: RemoteService
    private let job: JobDocument

    init(_ service: RemoteService, _ job: JobDocument) {
        self.service = service
        self.job = job
    }

    /// Saves the file. An existing file is replaced when the copy is complete.
    ///
    /// - Parameter path: a folder, in which the file gets the job's name, or the path of the file.
    /// - Returns: the path of the file; nil if it was written to a descriptor of this process.
    func save(to path: String) async throws -> String? {
        let file = LocalFile.destination(path, name: job.name)
        let local = try LocalFile(replacing: file)
        do {
            try await read { try local.stream.write($0) }
            try local.commit()
        } catch {
            local.discard()
            throw error
        }
        return local.isDescriptor ? nil : file
    }

    func read(_ write: (UnsafeRawBufferPointer) throws -> Void) async throws {
        var progress = Progress()
        var backoff = Backoff()
        var idleTries = 0
        while true {
            let before = progress.count
            do {
                return try await read(&progress, write)
            } catch let error as ClientError where error.status == .unavailable {
                idleTries = progress.count > before ? 0 : idleTries + 1
                // The service was available a moment ago, so the client waits some 20 seconds for it.
                guard idleTries < 8 else { throw error }
                try await Task.sleep(for: backoff.next())
            }
        }
    }

    private struct Progress {
        var count: Int64 = 0
        var size: Int64?
        var tag: String?
        var hash = RunningHash(.sha256)
    }

    private func read(_ progress: inout Progress, _ write: (UnsafeRawBufferPointer) throws -> Void) async throws {
        _ = try await service.stream(request(progress)) { head in
            try begin(head, &progress)
            return true
        } chunk: { chunk in
            try chunk.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) in
                try write(bytes)
                progress.hash.update(bytes)
            }
            progress.count += Int64(chunk.count)
            return true
        }
        try verify(progress)
    }

    private func request(_ progress: Progress) -> TransferRequest {
        // The service's disk may be slow.
        var request = service.request("GET", RequestPath("jobs", job.id, "file"), idle: .seconds(60))
        if progress.count > 0, let tag = progress.tag {
            request.rangeStart = progress.count
            request.headers.append(("If-Range", tag))
        }
        return request
    }

    /// - Throws: if a later response does not continue the same file: the bytes already passed on cannot be taken back.
    private func begin(_ head: ResponseHead, _ progress: inout Progress) throws(ClientError) {
        guard progress.count == 0 || head.status == 206 else {
            throw ClientError(
                .broken, "The file has changed",
                "The file in the service's downloads folder was changed during the copy. Run the command again.")
        }
        if progress.count == 0 { progress.size = head.contentLength }
        progress.tag = head.value(of: "ETag")
    }

    private func verify(_ progress: Progress) throws(ClientError) {
        let size = progress.size ?? progress.count
        guard progress.count == size else {
            throw ClientError(
                .broken, "The file is incomplete",
                "Only \(progress.count) of \(size) bytes were received. Run the command again.")
        }
        let sum = progress.hash.digest.hexadecimal
        guard job.file?.sha256 == nil || job.file?.sha256 == sum else {
            throw ClientError(
                .broken, "The file has changed",
                "The file has changed since the download: its sha-256 is \(sum). It was modified in the downloads folder. To download it again: fetchd add \(Printable(job.url))"
            )
        }
    }
}
