import Downloads
import Formats
import Foundation
import HTTPSemantics

/// A job as aria2 shows a download. Every number is a string.
struct DownloadStatus {
    let job: Job
    let live: LiveProgress?
    let defaults: SessionConfiguration
    let root: DownloadsRoot
    let showsWholeURLs: Bool

    func document(_ keys: Set<String>?) -> JSON {
        let all: JSONObject = [
            "gid": .string(job.aria2GID.description), "status": .string(state), "totalLength": number(total),
            "completedLength": number(completed), "uploadLength": "0",
            "downloadSpeed": number(live?.bytesPerSecond ?? 0),
            "uploadSpeed": "0",
            "connections": number(live == nil ? 0 : Int64(job.spec.connections ?? defaults.connections ?? 1)),
            "numPieces": number(Int64(pieces.count)), "pieceLength": number(pieces.length),
            "dir": .string(root.absolute(directory, in: location)), "files": files,
        ]
        var document = JSONObject()
        for (name, value) in all.members where keys?.contains(name) ?? true { document[name] = value }
        if keys?.contains("bitfield") ?? true, job.startedAt != nil, pieces.count > 0 {
            document["bitfield"] = .string(pieces.bitfield(of: received))
        }
        guard let (code, message) = error else { return .object(document) }
        if keys?.contains("errorCode") ?? true { document["errorCode"] = .string("\(code)") }
        if keys?.contains("errorMessage") ?? true { document["errorMessage"] = .string(message) }
        return .object(document)
    }

    private var state: String {
        switch job.state.name {
        case .running: "active"
        case .queued, .waiting: "waiting"
        case .paused: "paused"
        case .succeeded: "complete"
        case .failed: "error"
        case .cancelled: "removed"
        }
    }

    private var total: Int64 { live?.bytesExpected ?? job.bytesExpected ?? 0 }
    private var completed: Int64 { max(0, live?.bytesReceived ?? job.bytesDurable) }

    private var pieces: Pieces { Pieces(of: total) }

    /// The received bytes, as far as their place is known.
    private var received: ByteRanges {
        if job.state.name == .succeeded { return ByteRanges(0..<total) }
        let durable = job.part?.ranges ?? ByteRanges()
        return durable.isPrefix && completed > durable.end ? ByteRanges(0..<completed) : durable
    }

    /// Why the download has stopped. As in aria2's manual, only stopped downloads have it: clients such as rdt-client give up
    /// a waiting one that has an error.
    private var error: (code: Int, message: String)? {
        switch job.state {
        case .succeeded: (0, "")
        case .cancelled: (31, "")
        case .failed(let failure): (failure.aria2Code, failure.message)
        case .queued, .waiting, .running, .paused: nil
        }
    }

    private func number(_ value: Int64) -> JSON { .string("\(value)") }

    var files: JSON {
        [
            [
                "index": "1", "path": .string(path), "length": number(total), "completedLength": number(completed),
                "selected": "true", "uris": uris,
            ]
        ]
    }

    private var location: Name? {
        if let finish = job.state.finish { return finish.file.location }
        return job.spec.destination.location ?? defaults.location
    }

    /// Relative to the folder of the location.
    private var directory: String? {
        if let file = job.state.finish?.file.path {
            return file.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(file[..<$0]) }
        }
        return job.spec.destination.directory ?? defaults.directory
    }

    /// The path of the finished file. Before, the path that it probably has; empty if nothing is known about the name.
    private var path: String {
        if let file = job.state.finish?.file.path { return root.absolute(file, in: location) }
        let hasBegun = job.startedAt != nil
        guard let name = fixedName ?? (hasBegun ? SuggestedFilename.from(url: job.url) : nil) else { return "" }
        let path = [directory ?? "", name].filter { !$0.isEmpty }.joined(separator: "/")
        return root.absolute(path, in: location)
    }

    private var fixedName: String? {
        job.spec.destination.filename.flatMap { $0.utf8.contains(UInt8(ascii: "{")) ? nil : $0 }
    }

    private var urls: [String] { [job.spec.url] + job.spec.mirrors }

    /// A URI is `used` from the first attempt on.
    var uris: JSON {
        .array(
            urls.map { url in
                let isUsed = job.startedAt != nil && url == job.url
                return ["uri": .string(shown(url)), "status": isUsed ? "used" : "waiting"]
            })
    }

    var servers: JSON {
        [
            [
                "index": "1",
                "servers": [
                    [
                        "uri": .string(shown(job.url)), "currentUri": .string(shown(job.url)),
                        "downloadSpeed": number(live?.bytesPerSecond ?? 0),
                    ]
                ],
            ]
        ]
    }

    private func shown(_ url: String) -> String {
        showsWholeURLs ? URLRule.withoutCredentials(url) : URLRule.redacted(url)
    }
}

/// The pieces of a file, as aria2's clients draw them. fetchd itself has none.
struct Pieces: Equatable {
    let size: Int64
    let length: Int64

    /// A large file has longer pieces than aria2's, so that their number stays small.
    init(of size: Int64) {
        self.size = max(0, size)
        var length = Self.shortest
        while self.size / length >= Self.most { length *= 2 }
        self.length = length
    }

    var count: Int { Int(size / length) + (size % length > 0 ? 1 : 0) }

    /// The complete pieces, in hexadecimal digits. The highest bit is the first piece, and bits behind the last one are 0.
    func bitfield(of received: ByteRanges) -> String {
        var bytes = [UInt8](repeating: 0, count: (count + 7) / 8)
        for range in received.ranges where range.lowerBound < size {
            let first = Int((range.lowerBound + length - 1) / length)
            let end = range.upperBound >= size ? count : Int(range.upperBound / length)
            for piece in first..<max(first, end) { bytes[piece / 8] |= 0x80 >> UInt8(piece % 8) }
        }
        return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// aria2's default.
    private static let shortest: Int64 = 1 << 20
    private static let most: Int64 = 1024
}

extension Failure {
    /// The exit status of aria2 for such a failure (aria2c(1), "EXIT STATUS").
    var aria2Code: Int {
        switch code {
        case .timedOut, .deadlineExceeded: 2
        case .badStatus: Self.aria2Code(ofStatus: status)
        case .tooSlow: 5
        case .connectionLost, .truncated: 6
        case .badRange: 8
        case .noSpace: 9
        case .destinationExists: 13
        case .destinationInvalid: 16
        case .storageError: 17
        case .nameResolutionFailed: 19
        case .linkExpired: 22
        case .tooManyRedirects: 23
        case .credentialsRequired, .proxyCredentialsRequired: 24
        case .checksumMismatch, .signatureInvalid: 32
        case .badURL, .blockedAddress, .connectFailed, .tlsFailed, .sizeMismatch, .tooLarge, .checksumUnavailable: 1
        }
    }

    private static func aria2Code(ofStatus status: Int?) -> Int {
        switch status {
        case 404, 410: 3
        case 502, 503, 504: 29
        default: 22
        }
    }
}
