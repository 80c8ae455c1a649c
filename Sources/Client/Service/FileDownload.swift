import CurlClient
import Foundation
import Hashing

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
            try await write { try local.stream.write($0) }
            try local.commit()
        } catch {
            local.discard()
            throw error
        }
        return local.isDescriptor ? nil : file
    }

    /// Passes all bytes of the file to `take`, in order.
    func write(_ take: (UnsafeRawBufferPointer) throws -> Void) async throws {
        var progress = Progress()
        var backoff = Backoff()
        var idleTries = 0
        while true {
            let before = progress.count
            do {
                return try await read(&progress, take)
            } catch let error as ClientError where error.status == .unavailable {
                idleTries = progress.count > before ? 0 : idleTries + 1
                // The service was available a moment ago, so the client waits some 20 seconds for it.
                guard idleTries < 8 else { throw error }
                try await Task.sleep(for: backoff.next())
            }
        }
    }

    /// The bytes received so far.
    private struct Progress {
        var count: Int64 = 0
        var size: Int64?
        /// The ETag of the file.
        var tag: String?
        var hash = RunningHash(.sha256)
    }

    private func read(_ progress: inout Progress, _ take: (UnsafeRawBufferPointer) throws -> Void) async throws {
        var refusal: (head: ResponseHead, body: [UInt8])?
        do {
            for try await piece in BodyStream.open(request(progress), with: service.curl) {
                switch piece {
                case .head(let head) where head.status == 200 || head.status == 206:
                    try begin(head, &progress)
                case .head(let head):
                    refusal = (head, [])
                case .chunk(let chunk) where refusal != nil:
                    refusal?.body += chunk.bytes
                case .chunk(let chunk):
                    try chunk.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) in
                        try take(bytes)
                        progress.hash.update(bytes)
                    }
                    progress.count += Int64(chunk.count)
                }
            }
        } catch let error as TransferError {
            try Task.checkCancellation()
            throw ClientError.unreachable(service.address, error)
        }
        try Task.checkCancellation()
        if let refusal { throw service.failure(refusal.head.status, refusal.head.headers, refusal.body) }
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
