import CurlClient
import Foundation
import Hashing

/// A finished file on its way here: gone on with by ranges where the connection breaks, and compared with what the
/// service says of it, size and sha-256, before it is called done.
struct FileDownload: Sendable {
    private let service: RemoteService
    private let job: JobDocument

    init(_ service: RemoteService, _ job: JobDocument) {
        self.service = service
        self.job = job
    }

    /// Puts it there under its name or, where the path is no folder, under that; what is there is replaced, once all is
    /// here.
    ///
    /// - Returns: where it then is; nil where it went into a descriptor of this process.
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

    /// Hands over all of its bytes, in order.
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
                // The service was there a moment ago: it is given some 20 seconds to come back.
                guard idleTries < 8 else { throw error }
                try await Task.sleep(for: backoff.next())
            }
        }
    }

    /// What has come so far.
    private struct Progress {
        var count: Int64 = 0
        var size: Int64?
        /// Of the version whose bytes these are.
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
        // A disk may take its time.
        var request = service.request("GET", RequestPath("jobs", job.id, "file"), idle: .seconds(60))
        if progress.count > 0, let tag = progress.tag {
            request.rangeStart = progress.count
            request.headers.append(("If-Range", tag))
        }
        return request
    }

    /// The rest of the same version, or nothing: what has been handed over cannot be taken back.
    private func begin(_ head: ResponseHead, _ progress: inout Progress) throws(ClientError) {
        guard progress.count == 0 || head.status == 206 else {
            throw ClientError(
                .broken, "The file has changed",
                "The file was changed in the service's downloads folder while it was read. Ask for it again.")
        }
        if progress.count == 0 { progress.size = head.contentLength }
        progress.tag = head.value(of: "ETag")
    }

    private func verify(_ progress: Progress) throws(ClientError) {
        let size = progress.size ?? progress.count
        guard progress.count == size else {
            throw ClientError(
                .broken, "The file is incomplete", "\(progress.count) of \(size) bytes have come. Ask for it again.")
        }
        let sum = progress.hash.digest.hexadecimal
        guard job.file?.sha256 == nil || job.file?.sha256 == sum else {
            throw ClientError(
                .broken, "The file has changed",
                "What came is not what was downloaded: its sha-256 is \(sum). Somebody has changed it in the downloads folder; fetchd can fetch it anew with: fetchd add \(Printable(job.url))"
            )
        }
    }
}
